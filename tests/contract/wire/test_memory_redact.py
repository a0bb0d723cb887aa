from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.memory_ground import (
    archive,
    document_row,
    filled,
    redaction_row,
    stored,
    unchanged,
    version_row,
)


def test_redacting_a_path_blanks_the_document_and_every_row_and_keeps_the_rest(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="secret one", actor="w")
    wire.ok("memory/write", scope="user:a", path="x", content="secret two", actor="v")
    before = wire.ok("memory/read", scope="user:a", path="x")["document"]
    rows = wire.ok("memory/versions", scope="user:a", path="x")["versions"]
    assert wire.ok("memory/redact", scope="user:a", path="x", actor="eraser") == {"count": 1}
    assert wire.ok("memory/read", scope="user:a", path="x")["document"] == before | {"content": "", "redacted": True}
    assert wire.ok("memory/versions", scope="user:a", path="x")["versions"] == [
        row | {"content": "", "redacted": True} for row in rows
    ]
    assert "secret" not in str(stored())


def test_redacting_a_path_reaches_that_path_only(wire):
    for scope, path in [("user:a", "x"), ("user:a", "x/y"), ("user:a", "X"), ("user:a/p:b", "x"), ("user:b", "x")]:
        wire.ok("memory/write", scope=scope, path=path, content="kept")
    wire.ok("memory/redact", scope="user:a", path="x")
    assert wire.ok("memory/read", scope="user:a", path="x")["document"]["content"] == ""
    for scope, path in [("user:a", "x/y"), ("user:a", "X"), ("user:a/p:b", "x"), ("user:b", "x")]:
        assert wire.ok("memory/read", scope=scope, path=path)["document"]["content"] == "kept"


@pytest.mark.parametrize("more", [{}, {"path": None}])
def test_redacting_a_scope_blanks_everything_in_it_and_nothing_below(wire, more):
    filled(wire)
    filled(wire, "user:a/p:b")
    child = wire.ok("memory/history", scope="user:a/p:b")
    assert wire.ok("memory/redact", scope="user:a", **more) == {"count": 3}
    rows = wire.ok("memory/history", scope="user:a")["versions"]
    assert [(row["content"], row["redacted"]) for row in rows] == [("", True)] * 5
    assert wire.ok("memory/history", scope="user:a/p:b") == child


def test_extra_stays_in_a_redacted_document(wire):
    wire.ok("store/restore_scope", archive([document_row(extra={"k": "v"})]))
    wire.ok("memory/redact", scope="user:r")
    document = wire.ok("memory/read", scope="user:r", path="x")["document"]
    assert document == document_row(content="", redacted=True, extra={"k": "v"})


def test_a_deleted_paths_rows_are_blanked_and_counted(wire):
    filled(wire)
    assert wire.ok("memory/redact", scope="user:a", path="gone") == {"count": 1}
    rows = wire.ok("memory/versions", scope="user:a", path="gone")["versions"]
    assert [(row["action"], row["content"], row["redacted"]) for row in rows] == [
        ("deleted", "", True),
        ("created", "", True),
    ]
    assert wire.ok("memory/read", scope="user:a", path="gone") == {"document": None}


def test_repeating_an_act_counts_the_same_changes_no_document_and_adds_a_trail_row(wire):
    filled(wire)
    wire.ok("memory/redact", scope="user:a")
    before = stored()
    assert wire.ok("memory/redact", scope="user:a") == {"count": 3}
    after = stored()
    assert after["memory_document"] == before["memory_document"]
    assert after["memory_documentversion"] == before["memory_documentversion"]
    assert len(after["memory_redaction"]) == len(before["memory_redaction"]) + 1


@pytest.mark.parametrize(
    "body", [{"scope": "user:a", "path": "never"}, {"scope": "user:new"}, {"scope": "user:new", "path": "x"}]
)
def test_an_act_that_matches_nothing_is_zero_and_leaves_no_trace(wire, body):
    filled(wire)
    with unchanged():
        assert wire.ok("memory/redact", body) == {"count": 0}


def test_a_scope_with_a_restored_trail_only_matches_nothing(wire):
    wire.ok("store/restore_scope", archive(redactions=[redaction_row()]))
    with unchanged():
        assert wire.ok("memory/redact", scope="user:r") == {"count": 0}


def test_restored_rows_without_a_document_are_matched(wire):
    wire.ok("store/restore_scope", archive(versions=[version_row("x", 4), version_row("y", 2)]))
    assert wire.ok("memory/redact", scope="user:r") == {"count": 2}
    rows = wire.ok("memory/history", scope="user:r")["versions"]
    assert [(row["path"], row["content"]) for row in rows] == [("x", ""), ("y", "")]


@pytest.mark.parametrize("path", ["", " ", "/", ".."])
def test_an_invalid_path_is_no_way_to_redact_the_scope(wire, path):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/redact", scope="user:a", path=path)
    assert (refused.status, refused.code, refused.details["path"]) == (400, "memory_path_invalid", path)


def test_a_later_act_blanks_what_was_written_since(wire):
    filled(wire)
    wire.ok("memory/redact", scope="user:a", path="x")
    wire.ok("memory/write", scope="user:a", path="x", content="secret again")
    assert wire.ok("memory/redact", scope="user:a", path="x") == {"count": 1}
    assert "secret again" not in str(stored())
    assert wire.ok("memory/write", scope="user:a", path="x", content="c")["document"]["version"] == 4


def test_the_act_is_recorded_with_its_actor_time_and_count(wire):
    filled(wire)
    with time_machine.travel("2027-01-01T00:00:00Z", tick=False):
        wire.as_("tok-ops").ok("memory/redact", scope="user:a", actor="me")
    assert wire.ok("memory/redactions", scope="user:a")["redactions"][0] == {
        "path": None,
        "actor": "client:ops/me",
        "created_at": "2027-01-01T00:00:00Z",
        "count": 3,
    }
