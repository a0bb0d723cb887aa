"""How fast the searches are: a large scope and a large project, beside scanning and beside another server of the wire.

    make bench-search ARGS="--url U --token T --database-url D [--peer-url P --peer-token Q] [--filled]"

Fills the servers over the wire (documents into ours, the same turns into both), asks each question many times on one
connection and prints a table. Everything is made from a fixed seed, so that a second run can leave the filling out.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import psycopg

CONVERSATION_TURNS = 1000
COMMON = "harbour"
RARE_WORDS = 200
RARE_EVERY = 25  # documents that hold one rare word, of RARE_WORDS * RARE_EVERY


class Server:
    """One kept-alive connection."""

    def __init__(self, url: str, token: str) -> None:
        self.url, self.token = url, token
        host = urlsplit(url)
        self.connection = http.client.HTTPConnection(host.hostname or "", host.port or 80, timeout=120)

    def post(self, route: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request("POST", f"/v1/{route}", json.dumps(body), headers)
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{self.url} {route}: {answer.status} {content[:300]!r}")
        return json.loads(content)


def words(seed: int) -> Iterator[str]:
    source = random.Random(seed)  # noqa: S311 - text to search, no secret
    vocabulary = ["".join(source.choices("abcdefghijklmnoprstuvw", k=source.randint(4, 9))) for _ in range(4000)]
    while True:
        yield source.choice(vocabulary)


def rare(number: int, every: int) -> str:
    """The rare word of a text, or none: each of the rare words stands in ``every`` of them."""
    return f"zq{number % RARE_WORDS:03d}xy" if number < RARE_WORDS * every else ""


def texts(count: int, size: int, seed: int) -> Iterator[str]:
    stream = words(seed)
    for number in range(count):
        # Spread over the order of the names, so that no search is done after the first page of a walk.
        special = rare((number * 7919) % count, RARE_EVERY)
        lead = f"{COMMON} {special} " if special else f"{COMMON} "
        yield (lead + " ".join(islice(stream, size // 6)))[:size]


def in_parallel(jobs: Iterator[Callable[[Server], None]], url: str, token: str, total: int, what: str) -> None:
    started = time.monotonic()
    servers = [Server(url, token) for _ in range(8)]

    def work(server: Server, own: list[Callable[[Server], None]]) -> None:
        for job in own:
            job(server)

    done = 0
    with ThreadPoolExecutor(len(servers)) as pool:
        while batch := list(islice(jobs, 800)):
            list(pool.map(work, servers, [batch[place :: len(servers)] for place in range(len(servers))]))
            done += len(batch)
            print(f"\r{what}: {done} of {total}, {time.monotonic() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)


def fill_documents(url: str, token: str, scope: str, count: int) -> None:
    def write(number: int, text: str) -> Callable[[Server], None]:
        body = {"scope": scope, "path": f"notes/{number:06d}", "content": text}
        return lambda server: server.post("memory/write", body)

    jobs = (write(number, text) for number, text in enumerate(texts(count, 1024, 1)))
    in_parallel(jobs, url, token, count, "documents")


def fill_turns(url: str, token: str, count: int) -> None:
    def restore(place: int, chunk: list[str]) -> Callable[[Server], None]:
        name = f"bench-{place:04d}"
        turns = [
            {
                "conversation_id": name,
                "turn": number,
                "messages": [{"role": "user", "content": text}],
                "created_at": f"2026-01-01T{place // 60 % 24:02d}:{place % 60:02d}:{number % 60:02d}.{number:06d}Z",
                "actor": "client:bench",
                "redacted": False,
            }
            for number, text in enumerate(chunk, start=1)
        ]
        body = {"conversation_id": name, "turns": turns, "projections": [], "redactions": []}
        return lambda server: server.post("store/restore_conversation", body)

    stream = texts(count, 400, 2)
    chunks = iter(lambda: list(islice(stream, CONVERSATION_TURNS)), [])
    jobs = (restore(place, chunk) for place, chunk in enumerate(chunks))
    in_parallel(jobs, url, token, count // CONVERSATION_TURNS, "conversations")


@dataclass(frozen=True)
class Measured:
    name: str
    rate: float
    p50: float
    p95: float

    @property
    def row(self) -> str:
        return f"| {self.name} | {self.rate:,.1f} | {self.p50:.2f} | {self.p95:.2f} |"


def measure(name: str, ask: Callable[[int], int], seconds: float, most: int) -> Measured:
    """``ask`` again and again; it answers how many hits it saw, which must not be none where there are some."""
    for warm in range(5):
        ask(warm)
    times: list[float] = []
    started = time.perf_counter()
    while len(times) < most and time.perf_counter() - started < seconds:
        before = time.perf_counter()
        ask(len(times))
        times.append(time.perf_counter() - before)
    times.sort()
    cut = times[min(len(times) - 1, round(len(times) * 0.95))]
    return Measured(name, len(times) / sum(times), statistics.median(times) * 1000, cut * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--database-url", required=True, help="the server's database, to scan it")
    parser.add_argument("--peer-url")
    parser.add_argument("--peer-token", default="")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=200_000)
    parser.add_argument("--scope", default="bench:search", help="where the documents are")
    parser.add_argument("--filled", action="store_true", help="the servers hold everything from an earlier run")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each question")
    args = parser.parse_args()
    if not args.filled:
        fill_documents(args.url, args.token, args.scope, args.documents)
        fill_turns(args.url, args.token, args.turns)
        if args.peer_url:
            fill_turns(args.peer_url, args.peer_token, args.turns)
    ours = Server(args.url, args.token)
    rows = [
        *document_rows(ours, args.scope, args.database_url, args.seconds),
        *turn_rows(ours, Server(args.peer_url, args.peer_token) if args.peer_url else None, args.seconds),
    ]
    print("| question | per second | p50 ms | p95 ms |\n| --- | ---: | ---: | ---: |")
    for measured in rows:
        print(measured.row)


def document_rows(ours: Server, scope: str, database_url: str, seconds: float) -> Iterator[Measured]:
    def search(query: Callable[[int], str], least: int) -> Callable[[int], int]:
        def ask(number: int) -> int:
            hits = len(ours.post("memory/search", {"scope": scope, "query": query(number)})["hits"])
            assert hits >= least, (query(number), hits)
            return hits

        return ask

    def selective(number: int) -> str:
        return rare(number % RARE_WORDS, RARE_EVERY)

    yield measure("memory/search, a term of 25 documents", search(selective, 20), seconds, 2000)
    with psycopg.connect(database_url, autocommit=True) as database:
        scan = (
            "SELECT path FROM memory_document WHERE scope = %s AND live AND position(%s in content) > 0"
            " ORDER BY path LIMIT 21"
        )

        def ask(number: int) -> int:
            return len(database.execute(scan, (scope, selective(number))).fetchall())

        yield measure("the same by scanning, in the database alone", ask, seconds, 2000)
    yield measure("memory/search, a term of every document, first page", search(lambda _: COMMON, 20), seconds, 2000)
    yield measure("memory/search, one letter that no document holds", search(lambda _: "\u00e9", 0), seconds, 2000)


def turn_rows(ours: Server, peer: Server | None, seconds: float) -> Iterator[Measured]:
    def asker(server: Server) -> Callable[[int], int]:
        def ask(number: int) -> int:
            turns = len(server.post("conversation/search_turns", {"query": rare(number % RARE_WORDS, 25)})["turns"])
            assert turns == RARE_EVERY, turns
            return turns

        return ask

    yield measure("search_turns, a term of 25 turns, ours", asker(ours), seconds, 2000)
    if peer is not None:
        yield measure("search_turns, the same, the peer", asker(peer), seconds, 2000)


if __name__ == "__main__":
    main()
