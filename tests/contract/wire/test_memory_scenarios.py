"""Whole stories over several routes, each known to come out alike on both of the first stores."""

from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.memory_ground import (
    archive,
    document_row,
    moment,
    redaction_row,
    stored,
    unchanged,
    version_row,
    walk,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def at():
    """A clock that stands still until it is told to move on."""
    with time_machine.travel("2026-06-01T00:00:00Z", tick=False) as traveller:
        yield traveller


def rows(wire, path, scope="user:a"):
    found = wire.ok("memory/versions", scope=scope, path=path)["versions"]
    return [(row["version"], row["action"], row["content"]) for row in found]


def test_write_write_delete_write_counts_on_and_starts_a_new_document(wire, at):
    for content in ("one", "two"):
        wire.ok("memory/write", scope="user:a", path="x", content=content)
        at.shift(1)
    wire.ok("memory/delete", scope="user:a", path="x")
    at.shift(1)
    document = wire.ok("memory/write", scope="user:a", path="x", content="four")["document"]
    assert document["version"] == 4
    assert document["created_at"] == document["updated_at"] == "2026-06-01T00:00:03Z"
    assert rows(wire, "x") == [
        (4, "created", "four"),
        (3, "deleted", "two"),
        (2, "modified", "two"),
        (1, "created", "one"),
    ]


def test_a_rename_onto_a_buried_path_goes_on_with_that_paths_numbers(wire):
    for path in ("a", "b"):
        for number in (1, 2):
            wire.ok("memory/write", scope="user:a", path=path, content=f"{path}{number}")
    wire.ok("memory/delete", scope="user:a", path="b")
    document = wire.ok("memory/rename", scope="user:a", src="a", dst="b")["document"]
    assert (document["version"], document["content"]) == (4, "a2")
    assert rows(wire, "a") == [(3, "deleted", "a2"), (2, "modified", "a2"), (1, "created", "a1")]
    assert rows(wire, "b") == [
        (4, "created", "a2"),
        (3, "deleted", "b2"),
        (2, "modified", "b2"),
        (1, "created", "b1"),
    ]


def test_a_guard_read_before_a_redaction_still_holds_after_it(wire):
    wire.ok("memory/write", scope="user:a", path="a", content="one")
    version = wire.ok("memory/write", scope="user:a", path="a", content="two")["document"]["version"]
    wire.ok("memory/redact", scope="user:a", path="a")
    document = wire.ok("memory/write", scope="user:a", path="a", content="new", expected_version=version)["document"]
    assert (document["version"], document["redacted"]) == (3, False)
    assert rows(wire, "a") == [(3, "modified", "new"), (2, "modified", ""), (1, "created", "")]


def test_redacting_a_scope_counts_live_deleted_and_both_names_of_a_renamed_document(wire):
    for path in ("a", "b", "c"):
        wire.ok("memory/write", scope="user:a", path=path, content=f"secret {path}")
    wire.ok("memory/delete", scope="user:a", path="c")
    wire.ok("memory/rename", scope="user:a", src="b", dst="d")
    for acts in (1, 2):
        assert wire.ok("memory/redact", scope="user:a") == {"count": 4}
        trail = wire.ok("memory/redactions", scope="user:a")["redactions"]
        assert [(act["path"], act["count"]) for act in trail] == [(None, 4)] * acts
    assert "secret" not in str(stored())
    assert [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a")["entries"]] == ["a", "d"]


def test_a_history_of_tied_rows_pages_one_at_a_time_in_order_and_whole(wire, at):
    for path in ("b", "a", "a-b", "B", "a"):
        wire.ok("memory/write", scope="user:a", path=path, content="c")
    wire.ok("memory/rename", scope="user:a", src="b", dst="c")
    at.shift(-1)
    wire.ok("memory/write", scope="user:a", path="0", content="c")
    pages = walk(wire, "history", scope="user:a", limit=1)
    assert [(row["path"], row["version"]) for [row] in pages] == [
        ("B", 1), ("a", 2), ("a", 1), ("a-b", 1), ("b", 2), ("b", 1), ("c", 1), ("0", 1),
    ]  # fmt: skip


def test_a_restored_scope_equals_its_archive_and_goes_on(wire):
    documents = [
        document_row("a", version=2, content="", redacted=True),
        document_row("b", version=1, content="kept", updated_at=moment(0)),
    ]
    versions = [
        version_row("a", 1, content="", redacted=True, created_at=moment(1)),
        version_row("a", 2, content="", redacted=True, created_at=moment(3)),
        version_row("b", 1, content="kept", created_at=moment(2)),
        version_row("c", 1, content="gone", created_at=moment(4)),
        version_row("c", 2, content="gone", created_at=moment(5), action="deleted"),
    ]
    redactions = [redaction_row("a", created_at=moment(6)), redaction_row("a", created_at=moment(7), actor=None)]
    wire.ok("store/restore_scope", archive(documents, versions, redactions))
    entries = wire.ok("memory/list_documents", scope="user:r")["entries"]
    assert [(entry["path"], entry["version"], entry["redacted"]) for entry in entries] == [
        ("a", 2, True),
        ("b", 1, False),
    ]
    for row in documents:
        assert wire.ok("memory/read", scope="user:r", path=row["path"])["document"] == row
    history = wire.ok("memory/history", scope="user:r")["versions"]
    assert history == sorted(versions, key=lambda row: row["created_at"], reverse=True)
    assert wire.ok("memory/redactions", scope="user:r")["redactions"] == redactions[::-1]
    numbers = {
        path: wire.ok("memory/write", scope="user:r", path=path, content="next")["document"]["version"]
        for path in ("a", "b", "c", "d")
    }
    assert numbers == {"a": 3, "b": 2, "c": 3, "d": 1}


def test_an_export_by_reads_restores_to_an_equal_scope(wire):
    for number in range(3):
        wire.ok("memory/write", scope="user:a", path="a", content=f"é{number}", actor="w")
    wire.ok("memory/write", scope="user:a", path="b", content="secret")
    wire.ok("memory/redact", scope="user:a", path="b")
    wire.ok("memory/write", scope="user:a", path="c", content="c")
    wire.ok("memory/rename", scope="user:a", src="c", dst="d")

    def export(scope):
        entries = wire.ok("memory/list_documents", scope=scope)["entries"]
        return {
            "documents": [wire.ok("memory/read", scope=scope, path=entry["path"])["document"] for entry in entries],
            "versions": wire.ok("memory/history", scope=scope)["versions"],
            "redactions": wire.ok("memory/redactions", scope=scope)["redactions"],
        }

    taken = export("user:a")
    moved = taken | {"documents": [row | {"scope": "user:z"} for row in taken["documents"]]}
    wire.ok("store/restore_scope", scope="user:z", **moved)
    assert export("user:z") == moved
    with unchanged():
        refused = wire.post("store/restore_scope", scope="user:z", **moved)
    assert refused.details["reason"] == "target_occupied"
