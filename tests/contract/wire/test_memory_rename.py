from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.memory_ground import archive, document_row, filled, unchanged, version_row


def test_a_rename_moves_the_document_at_one_time(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="body", actor="writer")
    with time_machine.travel("2027-01-01T00:00:00.25Z", tick=False):
        answer = wire.ok("memory/rename", scope="user:a", src="x", dst="dir/y", actor="mover")
    at = "2027-01-01T00:00:00.250000Z"
    assert answer == {
        "document": {
            "scope": "user:a",
            "path": "dir/y",
            "content": "body",
            "version": 1,
            "created_at": at,
            "updated_at": at,
            "actor": "client:default/mover",
            "redacted": False,
            "extra": {},
        }
    }
    assert wire.ok("memory/read", scope="user:a", path="dir/y") == answer
    assert wire.ok("memory/read", scope="user:a", path="x") == {"document": None}
    both = {"content": "body", "actor": "client:default/mover", "created_at": at, "redacted": False}
    history = wire.ok("memory/history", scope="user:a")["versions"]
    assert history[:2] == [
        {"path": "dir/y", "version": 1, "action": "created"} | both,
        {"path": "x", "version": 2, "action": "deleted"} | both,
    ]
    assert (history[2]["path"], history[2]["version"], len(history)) == ("x", 1, 3)


def test_the_two_rows_of_a_rename_are_ordered_by_path(wire):
    wire.ok("memory/write", scope="user:a", path="b", content="c")
    wire.ok("memory/rename", scope="user:a", src="b", dst="c")
    rows = wire.ok("memory/history", scope="user:a", limit=2)["versions"]
    assert [(row["path"], row["action"]) for row in rows] == [("b", "deleted"), ("c", "created")]


def test_a_redacted_document_moves_redacted(wire):
    filled(wire)
    document = wire.ok("memory/rename", scope="user:a", src="blank", dst="moved")["document"]
    assert (document["content"], document["redacted"], document["version"]) == ("", True, 1)
    rows = wire.ok("memory/history", scope="user:a", limit=2)["versions"]
    assert [(row["path"], row["action"], row["content"], row["redacted"]) for row in rows] == [
        ("blank", "deleted", "", True),
        ("moved", "created", "", True),
    ]


def test_extra_moves_with_its_document_and_leaves_the_old_path(wire):
    wire.ok("store/restore_scope", archive([document_row(extra={"b": 1.5, "a": {"k": [1, None]}}, version=7)]))
    document = wire.ok("memory/rename", scope="user:r", src="x", dst="y")["document"]
    assert (document["version"], document["extra"]) == (1, {"b": 1.5, "a": {"k": [1, None]}})
    assert wire.ok("memory/versions", scope="user:r", path="x")["versions"][0]["version"] == 8
    again = wire.ok("memory/write", scope="user:r", path="x", content="c")["document"]
    assert (again["version"], again["extra"]) == (9, {})


def test_a_deleted_destination_is_free_and_its_numbers_go_on(wire):
    filled(wire)
    document = wire.ok("memory/rename", scope="user:a", src="x", dst="gone", actor="mover")["document"]
    assert (document["version"], document["content"]) == (3, "two")
    assert document["actor"] == "client:default/mover"
    assert document["created_at"] == document["updated_at"]
    rows = wire.ok("memory/versions", scope="user:a", path="gone")["versions"]
    assert [(row["version"], row["action"], row["content"]) for row in rows] == [
        (3, "created", "two"),
        (2, "deleted", "old"),
        (1, "created", "old"),
    ]


def test_a_destination_known_by_restored_rows_only_is_free_and_counts_on(wire):
    wire.ok("store/restore_scope", archive([document_row("src")], [version_row("dst", 5)]))
    assert wire.ok("memory/rename", scope="user:r", src="src", dst="dst")["document"]["version"] == 6


def test_writing_at_the_old_path_goes_on_with_its_numbers_as_created(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="one")
    wire.ok("memory/rename", scope="user:a", src="x", dst="y")
    document = wire.ok("memory/write", scope="user:a", path="x", content="new")["document"]
    assert document["version"] == 3
    assert document["created_at"] == document["updated_at"]
    rows = wire.ok("memory/versions", scope="user:a", path="x")["versions"]
    assert [row["action"] for row in rows] == ["created", "deleted", "created"]


@pytest.mark.parametrize(
    ("scope", "src", "dst"),
    [
        ("user:a", "never", "free"),
        ("user:a", "gone", "free"),
        ("user:a", "never", "x"),
        ("user:a", "never", "never"),
        ("user:new", "x", "y"),
    ],
)
def test_an_absent_source_is_not_found_and_nothing_changes(wire, scope, src, dst):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/rename", scope=scope, src=src, dst=dst)
    assert (refused.status, refused.code) == (400, "memory_document_not_found")
    assert refused.details == {"scope": scope, "path": src}
    assert refused.message == f"Memory document not found: '{src}' in scope '{scope}'"


@pytest.mark.parametrize(("src", "dst"), [("x", "blank"), ("x", "x"), ("blank", "x")])
def test_an_occupied_destination_is_refused_and_nothing_changes(wire, src, dst):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/rename", scope="user:a", src=src, dst=dst)
    assert (refused.status, refused.code) == (400, "memory_conflict")
    assert refused.details == {
        "scope": "user:a",
        "path": dst,
        "reason": "destination_exists",
        "expected_version": None,
        "actual_version": None,
    }
    assert refused.message == f"Memory conflict on '{dst}' in scope 'user:a': destination_exists"


@pytest.mark.parametrize(
    ("body", "code", "named"),
    [
        ({"scope": "bad", "src": "..", "dst": ".."}, "memory_scope_invalid", "bad"),
        ({"scope": "user:a", "src": "..", "dst": "/"}, "memory_path_invalid", ".."),
        ({"scope": "user:a", "src": "never", "dst": "/"}, "memory_path_invalid", "/"),
        ({"scope": "user:a", "src": "x", "dst": ""}, "memory_path_invalid", ""),
    ],
)
def test_names_are_judged_in_the_contracts_order(wire, body, code, named):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/rename", body)
    assert (refused.status, refused.code) == (400, code)
    assert named in (refused.details.get("scope"), refused.details.get("path"))


def test_a_rename_there_and_back_keeps_both_paths_counting(wire):
    wire.ok("memory/write", scope="user:a", path="a", content="c")
    for _ in range(2):
        wire.ok("memory/rename", scope="user:a", src="a", dst="b")
        document = wire.ok("memory/rename", scope="user:a", src="b", dst="a")["document"]
    assert document["version"] == 5
    rows = wire.ok("memory/versions", scope="user:a", path="b")["versions"]
    assert [(row["version"], row["action"]) for row in rows] == [
        (4, "deleted"),
        (3, "created"),
        (2, "deleted"),
        (1, "created"),
    ]
