from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.memory_ground import filled, unchanged


def test_a_delete_takes_the_next_number_and_keeps_the_last_content(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="one")
    wire.ok("memory/write", scope="user:a", path="x", content="two")
    with time_machine.travel("2027-01-01T00:00:00Z", tick=False):
        assert wire.ok("memory/delete", scope="user:a", path="x", actor="me") == {"deleted": True}
    assert wire.ok("memory/read", scope="user:a", path="x") == {"document": None}
    assert wire.ok("memory/list_documents", scope="user:a")["entries"] == []
    assert wire.ok("memory/versions", scope="user:a", path="x")["versions"][0] == {
        "path": "x",
        "version": 3,
        "action": "deleted",
        "content": "two",
        "actor": "client:default/me",
        "created_at": "2027-01-01T00:00:00Z",
        "redacted": False,
    }


def test_a_redacted_documents_deletion_row_is_blank_and_redacted(wire):
    filled(wire)
    assert wire.ok("memory/delete", scope="user:a", path="blank") == {"deleted": True}
    row = wire.ok("memory/versions", scope="user:a", path="blank")["versions"][0]
    assert (row["version"], row["action"], row["content"], row["redacted"]) == (2, "deleted", "", True)


@pytest.mark.parametrize(("scope", "path"), [("user:a", "never"), ("user:a", "gone"), ("user:new", "x")])
def test_deleting_what_is_not_there_is_false_and_changes_nothing(wire, scope, path):
    filled(wire)
    with unchanged():
        assert wire.ok("memory/delete", scope=scope, path=path) == {"deleted": False}


def test_a_delete_has_no_guard(wire):
    filled(wire)
    assert wire.ok("memory/delete", scope="user:a", path="x", expected_version=99) == {"deleted": True}


def test_a_delete_reaches_one_path_of_one_scope(wire):
    for scope in ("user:a", "user:a/p:b"):
        for path in ("x", "x/y", "X"):
            wire.ok("memory/write", scope=scope, path=path, content="c")
    wire.ok("memory/delete", scope="user:a", path="x")
    assert [row["path"] for row in wire.ok("memory/list_documents", scope="user:a")["entries"]] == ["X", "x/y"]
    assert len(wire.ok("memory/list_documents", scope="user:a/p:b")["entries"]) == 3
