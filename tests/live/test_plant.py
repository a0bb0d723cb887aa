"""Rows planted behind the server, as the conformance kits plant them, are refused and never skipped."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.live.server import ROOT, Server, environment, rows


def plant(database_url: str | None, row: dict[str, Any] | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tests/plant.py"],
        cwd=ROOT,
        env=environment(database_url),
        input=row if isinstance(row, str) else json.dumps(row),
        text=True,
        capture_output=True,
        timeout=60,
    )


def planted(server: Server, row: dict[str, Any]) -> None:
    done = plant(server.database_url, row)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def document(scope: str, row_format: int, **extra: Any) -> dict[str, Any]:
    return {
        "kind": "document",
        "scope": scope,
        "path": "doc",
        "content": "planted",
        "format_version": row_format,
        "extra": extra,
    }


def test_a_document_of_a_newer_format_is_refused_on_every_route_that_reads_it(live: Server, scope: str) -> None:
    planted(live, document(scope, 999))
    where = {"scope": scope, "path": "doc"}
    with live.client() as client:
        for route, body in (
            ("memory/read", where),
            ("memory/write", {**where, "content": "over it"}),
            ("memory/write", {**where, "content": "over it", "expected_version": 1}),
            ("memory/delete", where),
            ("memory/rename", {"scope": scope, "src": "doc", "dst": "free"}),
            ("memory/list_documents", {"scope": scope}),
        ):
            answer = client.post(route, body)
            assert (answer.status, answer.code) == (400, "memory_format_unsupported"), route
            assert (answer.details["scope"], answer.details["path"]) == (scope, "doc")
    kept = rows(live.database_url, "SELECT content, format, version FROM memory_document WHERE scope = %s", [scope])
    assert kept == [("planted", 999, 1)]


def test_a_planted_document_of_this_format_keeps_its_extra_keys(live: Server, scope: str) -> None:
    planted(live, document(scope, 1, custom="kept", count=3, flag=True))
    with live.client() as client:
        assert client.ok("memory/read", scope=scope, path="doc")["document"]["content"] == "planted"
        written = client.ok("memory/write", scope=scope, path="doc", content="updated")["document"]
        assert (written["version"], written["extra"]) == (2, {"custom": "kept", "count": 3, "flag": True})
        assert [row["version"] for row in client.ok("memory/versions", scope=scope, path="doc")["versions"]] == [2, 1]


NEWER_TURN = (
    '{"neosian_format":99,"turn":1,"created_at":"2026-01-01T00:00:00Z","messages":[{"role":"user","content":"x"}]}'
)
NEWER_PROJECTION = '{"neosian_format":99,"turn":1,"span":1,"kind":"log","text":"x"}'


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("turn", NEWER_TURN),
        ("turn", "not json"),
        ("turn", "[]"),
        ("projection", NEWER_PROJECTION),
        ("projection", "not json"),
    ],
)
def test_a_row_of_a_newer_format_or_a_damaged_one_is_refused(
    live: Server, conversation: str, kind: str, line: str
) -> None:
    planted(live, {"kind": kind, "conversation_id": conversation, "line": line})
    reads, appends = ("read_turns", "append_turn") if kind == "turn" else ("read_projections", "append_projections")
    more = {
        "append_turn": {"messages": [{"role": "user", "content": "more"}]},
        "append_projections": {"entries": [{"turn": 1, "kind": "log", "text": "more"}]},
    }[appends]
    with live.client() as client:
        for _ in range(2):
            answer = client.post(f"conversation/{reads}", conversation_id=conversation)
            assert (answer.status, answer.code) == (400, "agent_conversation_format_unsupported")
            assert answer.details["conversation_id"] == conversation
            # A row after it does not hide it.
            client.ok(f"conversation/{appends}", more, conversation_id=conversation)


def test_what_cannot_be_planted_says_so(live: Server, scope: str) -> None:
    for row in ({"kind": "document", "scope": scope}, {"kind": "dream"}, "no json"):
        done = plant(live.database_url, row)
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr
    assert plant(None, document(scope, 1)).returncode == 3
    assert rows(live.database_url, "SELECT count(*) FROM memory_scope WHERE name = %s", [scope]) == [(0,)]
