"""Writers, readers, a pruner and erasures at once: the feed stays dense, and erased text stays gone."""

from __future__ import annotations

import threading
from typing import Any

from tests.clients import LiveClient
from tests.live.server import Server, together

WRITES = 100


def follow(client: LiveClient, scope: str, done: threading.Event) -> list[dict[str, Any]]:
    """Every event of a scope from its beginning, until the writers are done and the end is reached."""
    events: list[dict[str, Any]] = []
    more: dict[str, Any] = {}
    while True:
        last = done.is_set()
        page = client.ok("memory/changes", scope=scope, limit=7, **more)
        assert page["gap"] is None
        events += page["events"]
        more = {"cursor": page["checkpoint_cursor"]}
        if last and page["checkpoint_cursor"] == page["head_cursor"]:
            return events


def test_two_writers_and_a_reader_see_one_dense_feed(live: Server, scope: str) -> None:
    done = threading.Event()
    followed: list[list[dict[str, Any]]] = []
    with live.clients(4) as clients:
        readers = [
            threading.Thread(target=lambda client=client: followed.append(follow(client, scope, done)))
            for client in clients[2:]
        ]
        for reader in readers:
            reader.start()

        def write(place: int) -> None:
            for number in range(WRITES):
                # Half of them race for one path.
                path = "shared" if number % 2 else f"own/{place}"
                clients[place].ok("memory/write", scope=scope, path=path, content=f"{place} {number}")

        together(2, write)
        done.set()
        for reader in readers:
            reader.join(60)
        versions = {(row["path"], row["version"]) for row in clients[0].ok("memory/history", scope=scope)["versions"]}
    first, second = followed
    assert first == second  # A number once seen never changes.
    assert [event["sequence"] for event in first] == list(range(1, 2 * WRITES + 1))
    assert {(event["path"], event["version"]) for event in first} == versions
    for path in ("shared", "own/0", "own/1"):
        own = [event["version"] for event in first if event["path"] == path]
        assert own == sorted(own)


def test_a_pruner_beside_readers_loses_nothing_silently(live: Server, scope: str) -> None:
    done = threading.Event()
    seen: list[int] = []
    lost: list[tuple[int, int]] = []

    with live.clients(3) as clients:

        def read() -> None:
            more: dict[str, Any] = {}
            while True:
                last = done.is_set()
                page = clients[1].ok("memory/changes", scope=scope, limit=3, **more)
                if page["gap"] is not None:
                    assert page["gap"]["kind"] == "retention"
                    lost.append((page["gap"]["lost_from"], page["gap"]["lost_through"]))
                    # Go on at the earliest position instead of the head, to see that nothing else is missing.
                    more = {"cursor": page["floor_cursor"]}
                    continue
                seen.extend(event["sequence"] for event in page["events"])
                more = {"cursor": page["checkpoint_cursor"]}
                if last and page["checkpoint_cursor"] == page["head_cursor"]:
                    return

        def prune() -> None:
            while not done.is_set():
                head = clients[2].ok("memory/changes", scope=scope)["head_cursor"]
                clients[2].post("memory/prune_changes", scope=scope, through=head, write=True)

        clients[0].ok("memory/write", scope=scope, path="first", content="x")
        threads = [threading.Thread(target=read), threading.Thread(target=prune)]
        for thread in threads:
            thread.start()
        for number in range(WRITES):
            clients[0].ok("memory/write", scope=scope, path=f"n{number % 5}", content="x")
        done.set()
        for thread in threads:
            thread.join(60)
    told = {number for start, end in lost for number in range(start, end + 1)}
    assert seen == sorted(set(seen))
    assert set(seen) | told == set(range(1, WRITES + 2))


def test_an_erased_text_is_in_no_later_search(live: Server, scope: str) -> None:
    with live.clients(4) as clients:
        for number in range(20):
            clients[0].ok("memory/write", scope=scope, path=f"n{number:02}", content=f"needle{number:02}")

        def erase(place: int) -> None:
            for number in range(place, 20, 4):
                clients[place].ok("memory/redact", scope=scope, path=f"n{number:02}")
                assert clients[place].ok("memory/search", scope=scope, query=f"needle{number:02}")["hits"] == []

        together(4, erase)
        assert clients[0].ok("memory/search", scope=scope, query="needle")["hits"] == []
