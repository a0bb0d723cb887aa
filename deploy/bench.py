#!/usr/bin/env python3
"""Load one wire-6 server, or two in turn, with ``wrk`` and print rates and their ratio.

    bench.py --a http://127.0.0.1:8000 --a-token T [--b http://127.0.0.1:6367 --b-token U]

Both servers get the same requests, A B A B ..., so that a machine whose speed drifts hurts both alike: the ratio of
neighbouring runs is the figure, the rates are only its ground. Every operation works in a scope or conversation of
its own with a random name, filled before the clock starts; nothing is cleaned up. Needs wrk (Debian package: wrk).
"""

from __future__ import annotations

import argparse
import json
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

FILLED = 500
SENTENCE = "the deployment window is friday"
KIBIBYTE = (SENTENCE + " and the review checklist stands beside it; ") * 20

# Each request takes the next number; @N@ is that number, @M@ its remainder, so that a run spreads over what is there.
SCRIPT = """
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer @TOKEN@"
wrk.headers["Content-Type"] = "application/json"
local n = 0
function request()
  n = n + 1
  local body = [==[@BODY@]==]
  body = body:gsub("@N@", tostring(n)):gsub("@M@", tostring(n % @SPREAD@))
  return wrk.format(nil, "@PATH@", nil, body)
end
"""
GET_SCRIPT = 'wrk.headers["Authorization"] = "Bearer @TOKEN@"\n'

Body = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    name: str
    path: str
    body: Body | None = None
    spread: int = 1
    fill: Callable[[], Iterator[tuple[str, Body]]] = field(default=lambda: iter(()))


@dataclass(frozen=True)
class Server:
    label: str
    url: str
    token: str

    def call(self, path: str, body: Body) -> None:
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()

    def load(self, operation: Operation, connections: int, seconds: int) -> Run:
        script = (GET_SCRIPT if operation.body is None else SCRIPT).replace("@TOKEN@", self.token)
        script = script.replace("@BODY@", json.dumps(operation.body)).replace("@PATH@", operation.path)
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
            file.write(script.replace("@SPREAD@", str(operation.spread)))
            file.flush()
            command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--latency", "-s", file.name]
            done = subprocess.run([*command, self.url + operation.path], capture_output=True, text=True, check=True)
        return Run.read(done.stdout)


@dataclass(frozen=True)
class Run:
    rate: float
    p50: float
    p99: float
    bad: int

    @classmethod
    def read(cls, printed: str) -> Run:
        milliseconds = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
        found = re.findall(r"^\s+(50|99)%\s+([\d.]+)(us|ms|s|m)$", printed, re.MULTILINE)
        latency = {quantile: float(value) * milliseconds[unit] for quantile, value, unit in found}
        rate = re.search(r"Requests/sec:\s+([\d.]+)", printed)
        bad = re.search(r"Non-2xx or 3xx responses: (\d+)", printed)
        return cls(
            float(rate.group(1)) if rate else 0.0,
            latency.get("50", 0.0),
            latency.get("99", 0.0),
            int(bad.group(1)) if bad else 0,
        )


def operations(name: str) -> list[Operation]:
    scope, conversation = f"user:{name}", f"c-{name}"

    def messages(text: str, reply: str) -> list[Body]:
        return [{"role": "user", "content": text}, {"role": "assistant", "content": reply}]

    def documents() -> Iterator[tuple[str, Body]]:
        for number in range(FILLED):
            content = f"{KIBIBYTE[:1024]} {number}"
            yield "/v1/memory/write", {"scope": scope, "path": f"notes/{number}", "content": content}

    def turns() -> Iterator[tuple[str, Body]]:
        for number in range(FILLED):
            said = messages(f"{SENTENCE} {number}", f"noted, item {number}")
            yield "/v1/conversation/append_turn", {"conversation_id": conversation, "messages": said}

    text = KIBIBYTE[:1024]
    appended = {"conversation_id": f"{conversation}-@M@", "messages": messages(f"{SENTENCE} @N@", "noted")}
    searched = {"query": f"window {FILLED - 1}", "conversations": [conversation], "limit": 10}
    return [
        Operation("capabilities", "/v1/capabilities"),
        Operation("memory/read, 1 KiB", "/v1/memory/read", {"scope": scope, "path": "notes/@M@"}, FILLED, documents),
        Operation("memory/write, new", "/v1/memory/write", {"scope": f"{scope}w", "path": "w/@N@", "content": text}),
        Operation(
            "memory/write, again",
            "/v1/memory/write",
            {"scope": scope, "path": "notes/@M@", "content": text + " @N@"},
            FILLED,
        ),
        Operation("memory/list_documents, 100", "/v1/memory/list_documents", {"scope": scope, "limit": 100}),
        Operation("conversation/append_turn", "/v1/conversation/append_turn", appended, 64),
        Operation(
            "conversation/read_turns, 50",
            "/v1/conversation/read_turns",
            {"conversation_id": conversation, "limit": 50},
            fill=turns,
        ),
        Operation("conversation/search_turns, one", "/v1/conversation/search_turns", searched),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="base URL of server A")
    parser.add_argument("--a-token", required=True)
    parser.add_argument("--b", help="base URL of server B")
    parser.add_argument("--b-token", default="")
    parser.add_argument("--connections", default="1,8,32")
    parser.add_argument("--seconds", type=int, default=3, help="of one run")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each server for one figure (their median)")
    parser.add_argument("--only", default="", help="operations whose name holds this")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    args = parser.parse_args()
    if shutil.which("wrk") is None:
        sys.exit("error: wrk is not installed (Debian package: wrk)")
    servers = [Server("A", args.a.rstrip("/"), args.a_token)]
    if args.b:
        servers.append(Server("B", args.b.rstrip("/"), args.b_token))
    rows = []
    for operation in operations("b" + secrets.token_hex(5)):
        for server in servers:
            for path, body in operation.fill():
                server.call(path, body)
        if args.only not in operation.name:
            continue
        for connections in map(int, args.connections.split(",")):
            rows.append(compare(servers, operation, connections, args.seconds, args.rounds))
            if not args.json:
                print(line(rows[-1]), flush=True)
    ratios = [row["ratio"] for row in rows if row["ratio"] is not None]
    total = {"lowest": min(ratios), "geometric_mean": statistics.geometric_mean(ratios)} if ratios else None
    if args.json:
        print(json.dumps({"rows": rows, "total": total}))
    elif total:
        print(f"A/B: lowest {total['lowest']:.2f}, geometric mean {total['geometric_mean']:.2f} of {len(ratios)} rows")
    return 1 if any(row["servers"][label]["bad"] for row in rows for label in row["servers"]) else 0


def compare(servers: list[Server], operation: Operation, connections: int, seconds: int, rounds: int) -> Body:
    runs: dict[str, list[Run]] = {server.label: [] for server in servers}
    for _ in range(rounds):
        for server in servers:
            runs[server.label].append(server.load(operation, connections, seconds))
    ratio = None
    if len(servers) == 2:
        ratio = statistics.median(a.rate / b.rate for a, b in zip(runs["A"], runs["B"], strict=True) if b.rate)
    return {
        "operation": operation.name,
        "connections": connections,
        "servers": {
            label: {
                "rate": statistics.median(run.rate for run in found),
                "p50_ms": statistics.median(run.p50 for run in found),
                "p99_ms": statistics.median(run.p99 for run in found),
                "bad": sum(run.bad for run in found),
            }
            for label, found in runs.items()
        },
        "ratio": ratio,
    }


def line(row: Body) -> str:
    figures = "".join(
        f"  {label} {found['rate']:7.0f}/s p50 {found['p50_ms']:6.2f} p99 {found['p99_ms']:7.2f} ms"
        + (f" BAD {found['bad']}" if found["bad"] else "")
        for label, found in row["servers"].items()
    )
    ratio = "" if row["ratio"] is None else f"  A/B {row['ratio']:.2f}"
    return f"{row['operation']:32s} {row['connections']:3d}{figures}{ratio}"


if __name__ == "__main__":
    sys.exit(main())
