from __future__ import annotations

import random

import pytest

from tests.contract.wire.memory_ground import archive, filled, unchanged, version_row


def test_rows_come_newest_first_with_all_their_keys(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="one")
    wire.ok("memory/write", scope="user:a", path="x", content="two", actor="b")
    document = wire.ok("memory/read", scope="user:a", path="x")["document"]
    answer = wire.ok("memory/versions", scope="user:a", path="x")
    assert [row["version"] for row in answer["versions"]] == [2, 1]
    assert answer["next_cursor"] is None
    assert answer["versions"][0] == {
        "path": "x",
        "version": 2,
        "action": "modified",
        "content": "two",
        "actor": "client:default/b",
        "created_at": document["updated_at"],
        "redacted": False,
    }
    assert list(answer["versions"][0]) == ["path", "version", "action", "content", "actor", "created_at", "redacted"]
    assert answer["versions"][1]["created_at"] == document["created_at"]


def test_a_deleted_path_keeps_its_rows(wire):
    filled(wire)
    rows = wire.ok("memory/versions", scope="user:a", path="gone")["versions"]
    assert [(row["version"], row["action"], row["content"]) for row in rows] == [
        (2, "deleted", "old"),
        (1, "created", "old"),
    ]


def test_a_redacted_row_is_a_skeleton(wire):
    filled(wire)
    [row] = wire.ok("memory/versions", scope="user:a", path="blank")["versions"]
    assert (row["version"], row["action"], row["content"], row["redacted"]) == (1, "created", "", True)
    assert row["actor"] == "client:default"


@pytest.mark.parametrize(
    ("scope", "path"), [("user:a", "never"), ("user:new", "x"), ("user:a", "X"), ("user:a", "x/y")]
)
def test_an_unknown_path_has_no_rows_and_stays_unknown(wire, scope, path):
    filled(wire)
    with unchanged():
        assert wire.ok("memory/versions", scope=scope, path=path) == {"versions": [], "next_cursor": None}


def test_restored_rows_are_ordered_by_number_however_they_came(wire):
    numbers = [1, 2, 3, 10, 11, 100]
    # Times run against the numbers: the number decides.
    rows = [
        version_row("x", number, created_at=f"2026-01-{20 - place:02}T00:00:00Z")
        for place, number in enumerate(numbers)
    ]
    random.shuffle(rows)
    wire.ok("store/restore_scope", archive(versions=rows))
    found = wire.ok("memory/versions", scope="user:r", path="x")["versions"]
    assert [row["version"] for row in found] == sorted(numbers, reverse=True)


def test_the_row_written_between_pages_is_not_seen_and_none_repeats(wire):
    for number in range(4):
        wire.ok("memory/write", scope="user:a", path="x", content=str(number))
    first = wire.ok("memory/versions", scope="user:a", path="x", limit=2)
    wire.ok("memory/write", scope="user:a", path="x", content="new")
    second = wire.ok("memory/versions", scope="user:a", path="x", limit=2, cursor=first["next_cursor"])
    assert [row["version"] for row in first["versions"] + second["versions"]] == [4, 3, 2, 1]
    assert second["next_cursor"] is None
