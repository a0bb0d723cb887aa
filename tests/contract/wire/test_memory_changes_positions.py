"""``memory/changes``: each row of the table of where a reader stands, and longer stories (CE-04 to CE-21)."""

from __future__ import annotations

import pytest
from django.db import connection

from memory.models import Document, PendingChange, Scope
from neosian_site.core import clock
from tests.contract.wire.feed_ground import C0, C3, OTHER, SCOPE, N, at, outcome, position

UNTRACKED, RESET = ("untracked", None, None), ("stream_reset", None, None)
ALL = [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("origin", "floor", "cursor", "expected"),
    [
        # No stream: storage from before the feed.
        (None, 0, None, UNTRACKED), (None, 0, N, UNTRACKED), (None, 0, C3, RESET), (None, 0, C0, RESET),
        # From the beginning, without a cursor or with that of a scope that was not there yet.
        ("empty", 0, None, ALL), ("empty", 0, N, ALL), ("empty", 2, None, ("retention", 1, 2)),
        ("empty", 2, N, ("retention", 1, 2)), ("empty", 5, None, ("retention", 1, 5)),
        ("untracked", 0, None, UNTRACKED), ("untracked", 2, None, UNTRACKED), ("untracked", 0, N, ALL),
        ("untracked", 2, N, ("retention", 1, 2)),
        ("restored", 0, None, UNTRACKED), ("restored", 2, None, UNTRACKED), ("restored", 0, N, RESET),
        ("restored", 2, N, RESET),
        # A position of this stream.
        *[(origin, 0, at(after), list(range(after + 1, 6)))
          for origin in ("empty", "untracked", "restored") for after in range(6)],
        *[(origin, 2, at(after), list(range(after + 1, 6)))
          for origin in ("empty", "untracked", "restored") for after in range(2, 6)],
        ("empty", 2, at(1), ("retention", 2, 2)), ("empty", 2, at(0), ("retention", 1, 2)),
        ("untracked", 3, at(1), ("retention", 2, 3)), ("restored", 4, at(0), ("retention", 1, 4)),
        ("empty", 5, at(5), []), ("empty", 5, at(4), ("retention", 5, 5)),
        # Beyond the head, or of another stream.
        ("empty", 0, at(6), RESET), ("untracked", 2, at(2**63 - 1), RESET), ("restored", 0, at(2**63), RESET),
        ("empty", 5, at(10**40), RESET), ("empty", 0, at(3, OTHER), RESET), ("empty", 2, at(0, OTHER), RESET),
        ("untracked", 0, at(5, OTHER), RESET), ("restored", 5, at(9, OTHER), RESET),
    ],
)  # fmt: skip
def test_where_a_reader_stands_decides_what_it_is_told(feed_of, origin, floor, cursor, expected):
    assert outcome(feed_of(origin, floor), cursor) == expected


@pytest.mark.parametrize(
    ("cursor", "expected"), [(None, []), (N, []), (at(0), RESET), (at(3), RESET), (at(3, OTHER), RESET)]
)
def test_a_scope_that_holds_nothing_has_no_stream_and_gets_none(wire, cursor, expected):
    assert outcome(wire, cursor) == expected
    assert not Scope.objects.exists()


def test_the_constants_of_the_design_are_ours():
    assert (at(0), at(3), at(0, None)) == (C0, C3, N)


# Acceptance cases that tell a longer story


def test_ce_04_to_08_a_life_of_a_document(wire):
    def write(content: str) -> None:
        wire.ok("memory/write", scope=SCOPE, path="notes/a", content=content)

    write("one")
    write("two")
    wire.ok("memory/rename", scope=SCOPE, src="notes/a", dst="notes/b", actor="me")
    wire.ok("memory/changes", scope=SCOPE)
    # CE-06
    head = position(SCOPE, 3)
    wire.ok("memory/delete", scope=SCOPE, path="notes/a")
    assert wire.ok("memory/redact", scope=SCOPE, path="notes/c") == {"count": 0}
    assert wire.ok("memory/redact", scope="workspace:nothing") == {"count": 0}
    assert wire.ok("memory/changes", scope=SCOPE)["head_cursor"] == head
    assert wire.ok("memory/changes", scope="workspace:nothing")["stream"] is None
    # CE-07
    assert wire.ok("memory/redact", scope=SCOPE, path="notes/b") == {"count": 1}
    assert wire.ok("memory/redact", scope=SCOPE, actor="eraser") == {"count": 2}
    events = wire.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 0))["events"]
    keys = ("sequence", "kind", "path", "version", "previous_path", "previous_version", "actor", "count")
    assert [list(event) for event in events] == [[*keys, "recorded_at"]] * 5
    assert [tuple(event[key] for key in keys) for event in events] == [
        (1, "created", "notes/a", 1, None, None, "client:default", None),
        (2, "modified", "notes/a", 2, None, None, "client:default", None),
        (3, "renamed", "notes/b", 1, "notes/a", 3, "client:default/me", None),
        (4, "erased", "notes/b", None, None, None, "client:default", 1),
        (5, "erased", None, None, None, None, "client:default/eraser", 2),
    ]
    # An event's time is that of the row it tells of.
    rows = {(row["path"], row["version"]): row for row in wire.ok("memory/history", scope=SCOPE)["versions"]}
    trail = wire.ok("memory/redactions", scope=SCOPE)["redactions"]
    assert [event["recorded_at"] for event in events] == [
        rows["notes/a", 1]["created_at"],
        rows["notes/a", 2]["created_at"],
        rows["notes/b", 1]["created_at"],
        trail[1]["created_at"],
        trail[0]["created_at"],
    ]
    assert rows["notes/a", 3]["created_at"] == rows["notes/b", 1]["created_at"]
    # CE-08
    page = wire.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 0), limit=2)
    assert [event["sequence"] for event in page["events"]] == [1, 2]
    assert (page["checkpoint_cursor"], page["head_cursor"]) == (position(SCOPE, 2), position(SCOPE, 5))


def test_every_kind_of_document_appears_and_versions_go_on(wire):
    for path in ("sessions/s", "messages/m", "message-links/l", "handoff", "skills/x/SKILL.md"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="x")
    wire.ok("memory/redact", scope=SCOPE, path="handoff")
    wire.ok("memory/write", scope=SCOPE, path="handoff", content="y")
    wire.ok("memory/delete", scope=SCOPE, path="handoff")
    wire.ok("memory/write", scope=SCOPE, path="handoff", content="z")
    events = wire.ok("memory/changes", scope=SCOPE)["events"]
    assert [(event["kind"], event["path"], event["version"]) for event in events] == [
        ("created", "sessions/s", 1),
        ("created", "messages/m", 1),
        ("created", "message-links/l", 1),
        ("created", "handoff", 1),
        ("created", "skills/x/SKILL.md", 1),
        ("erased", "handoff", None),
        ("modified", "handoff", 2),
        ("deleted", "handoff", 3),
        ("created", "handoff", 4),
    ]


def test_ce_15_data_from_before_the_feed(wire):
    wire.ok("memory/write", scope=SCOPE, path="old", content="x")
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memory_pendingchange")
        cursor.execute("UPDATE memory_scope SET stream = NULL, origin = NULL")
    assert outcome(wire, None) == UNTRACKED
    # Whatever happens first makes the stream: here an erasure.
    wire.ok("memory/redact", scope=SCOPE)
    page = wire.ok("memory/changes", scope=SCOPE)
    assert (page["events"], page["gap"]["kind"], page["checkpoint_cursor"]) == ([], "untracked", position(SCOPE, 1))
    assert page["stream"] is not None
    assert outcome(wire, None) == UNTRACKED
    assert outcome(wire, N) == [1]


@pytest.mark.parametrize("act", ["delete", "rename", "write", "guarded write"])
def test_each_mutation_makes_the_stream_of_an_older_scope(wire, act):
    wire.ok("memory/write", scope=SCOPE, path="old", content="x")
    PendingChange.objects.all().delete()
    Scope.objects.update(stream=None, origin=None)
    if act == "delete":
        wire.ok("memory/delete", scope=SCOPE, path="old")
    elif act == "rename":
        wire.ok("memory/rename", scope=SCOPE, src="old", dst="new")
    else:
        guard = {"expected_version": 1} if act == "guarded write" else {}
        wire.ok("memory/write", scope=SCOPE, path="old", content="y", **guard)
    (event,) = wire.ok("memory/changes", scope=SCOPE, cursor=N)["events"]
    assert event["kind"] == {"delete": "deleted", "rename": "renamed"}.get(act, "modified")
    assert outcome(wire, None) == UNTRACKED


def test_ce_16_a_restored_scope(wire):
    before = wire.ok("memory/changes", scope=SCOPE)["checkpoint_cursor"]
    assert before == N
    row = {"path": "a", "version": 1, "content": "x", "actor": None, "redacted": False}
    row |= {"created_at": clock.render(clock.now()), "action": "created"}
    wire.ok("store/restore_scope", scope=SCOPE, documents=[], versions=[row], redactions=[])
    assert outcome(wire, N) == RESET
    assert outcome(wire, None) == UNTRACKED
    assert Document.objects.get().live is False
    wire.ok("memory/write", scope=SCOPE, path="a", content="y")
    wire.ok("memory/changes", scope=SCOPE)
    assert outcome(wire, N) == RESET
    assert outcome(wire, position(SCOPE, 0)) == [1]


def test_ce_21_no_page_has_a_content_key(wire):
    for step in range(3):
        wire.ok("memory/write", scope=SCOPE, path="a", content=f"secretword {step}")
    wire.ok("memory/rename", scope=SCOPE, src="a", dst="b")
    wire.ok("memory/delete", scope=SCOPE, path="b")
    wire.ok("memory/redact", scope=SCOPE)
    for cursor in (None, N, position(SCOPE, 0), at(7, OTHER)):
        text = wire.post("memory/changes", scope=SCOPE, cursor=cursor).body.decode()
        assert "secretword" not in text
        assert "content" not in text
