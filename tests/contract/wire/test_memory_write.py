from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.memory_ground import filled, stored, unchanged


def test_a_first_write_is_created_at_one_reading_of_the_clock(wire):
    with time_machine.travel("2026-05-04T03:02:01.000009Z", tick=False):
        answer = wire.ok("memory/write", scope="user:a", path="x", content="hello")
    assert answer == {
        "document": {
            "scope": "user:a",
            "path": "x",
            "content": "hello",
            "version": 1,
            "created_at": "2026-05-04T03:02:01.000009Z",
            "updated_at": "2026-05-04T03:02:01.000009Z",
            "actor": "client:default",
            "redacted": False,
            "extra": {},
        }
    }
    assert wire.ok("memory/versions", scope="user:a", path="x")["versions"] == [
        {
            "path": "x",
            "version": 1,
            "action": "created",
            "content": "hello",
            "actor": "client:default",
            "created_at": "2026-05-04T03:02:01.000009Z",
            "redacted": False,
        }
    ]


def test_a_second_write_keeps_the_creation_time_and_moves_the_other(wire):
    with time_machine.travel("2026-05-04T03:02:01Z", tick=False):
        wire.ok("memory/write", scope="user:a", path="x", content="one")
    with time_machine.travel("2026-05-05T00:00:00.5Z", tick=False):
        document = wire.ok("memory/write", scope="user:a", path="x", content="two", actor="b")["document"]
    assert document["version"] == 2
    assert document["created_at"] == "2026-05-04T03:02:01Z"
    assert document["updated_at"] == "2026-05-05T00:00:00.500000Z"
    assert document["actor"] == "client:default/b"
    row = wire.ok("memory/versions", scope="user:a", path="x")["versions"][0]
    assert (row["action"], row["version"], row["actor"]) == ("modified", 2, "client:default/b")


def test_identical_content_is_a_version_too(wire):
    for _ in range(3):
        document = wire.ok("memory/write", scope="user:a", path="x", content="same")["document"]
    assert document["version"] == 3
    rows = wire.ok("memory/versions", scope="user:a", path="x")["versions"]
    assert [row["action"] for row in rows] == ["modified", "modified", "created"]


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "\r\n\r\n",
        "lone\rreturn",
        "\ufeffmark",
        "---\nneosian_format: 1\n---\nfence",
        "\x01\x1f\x7f\x85",
        "\u2028\u2029",
        "😀 and é as e\u0301",
        'quotes " and \\ and \\u0000',
        "\uffff\U0010ffff",
        "line\n" * 20_000,
    ],
    ids=lambda content: ascii(content[:20]),
)
def test_content_comes_back_verbatim(wire, content):
    assert wire.ok("memory/write", scope="user:a", path="x", content=content)["document"]["content"] == content
    assert wire.ok("memory/read", scope="user:a", path="x")["document"]["content"] == content
    assert wire.ok("memory/versions", scope="user:a", path="x")["versions"][0]["content"] == content


def test_what_the_store_assigns_cannot_be_set(wire):
    document = wire.ok(
        "memory/write",
        scope="user:a",
        path="x",
        content="c",
        version=9,
        created_at="2001-01-01T00:00:00Z",
        updated_at="2001-01-01T00:00:00Z",
        redacted=True,
        extra={"k": 1},
        client="client:other",
    )["document"]
    assert (document["version"], document["redacted"], document["extra"]) == (1, False, {})
    assert document["actor"] == "client:default"
    assert not document["created_at"].startswith("2001")
    assert document["created_at"] == document["updated_at"]


def test_a_write_after_a_redaction_is_readable_and_old_rows_stay_blank(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="secret")
    wire.ok("memory/redact", scope="user:a", path="x")
    document = wire.ok("memory/write", scope="user:a", path="x", content="open")["document"]
    assert (document["version"], document["content"], document["redacted"]) == (2, "open", False)
    rows = wire.ok("memory/versions", scope="user:a", path="x")["versions"]
    assert [(row["content"], row["redacted"], row["action"]) for row in rows] == [
        ("open", False, "modified"),
        ("", True, "created"),
    ]


def test_extra_is_kept_by_a_write_and_emptied_by_a_delete(wire):
    body = {
        "scope": "user:a",
        "documents": [
            {
                "scope": "user:a",
                "path": "x",
                "content": "c",
                "version": 1,
                "created_at": "2026-01-01T00:00:00Z",
                "updated_at": "2026-01-01T00:00:00Z",
                "actor": None,
                "redacted": False,
                "extra": {"z": 1, "a": [None]},
            }
        ],
        "versions": [],
        "redactions": [],
    }
    wire.ok("store/restore_scope", body)
    assert wire.ok("memory/write", scope="user:a", path="x", content="2")["document"]["extra"] == {"z": 1, "a": [None]}
    wire.ok("memory/delete", scope="user:a", path="x")
    assert wire.ok("memory/write", scope="user:a", path="x", content="3")["document"]["extra"] == {}


# The version guard


def test_the_live_version_as_guard_is_accepted(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="one")
    document = wire.ok("memory/write", scope="user:a", path="x", content="two", expected_version=1)["document"]
    assert (document["version"], document["content"]) == (2, "two")


def test_a_null_guard_is_no_guard(wire):
    assert (
        wire.ok("memory/write", scope="user:a", path="x", content="c", expected_version=None)["document"]["version"]
        == 1
    )


@pytest.mark.parametrize(
    "expected", [0, -1, 1, 3, 2**31, 2**63 - 1, 2**63, -(2**63) - 1, 10**30], ids=lambda number: f"{number:.0e}"
)
def test_another_version_as_guard_is_refused_and_nothing_is_written(wire, expected):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/write", scope="user:a", path="x", content="stale", expected_version=expected)
    assert (refused.status, refused.code) == (400, "memory_conflict")
    assert refused.details == {
        "scope": "user:a",
        "path": "x",
        "reason": "version_mismatch",
        "expected_version": expected,
        "actual_version": 2,
    }
    assert list(refused.details) == ["scope", "path", "reason", "expected_version", "actual_version"]
    assert refused.message == "Memory conflict on 'x' in scope 'user:a': version_mismatch"
    assert wire.ok("memory/write", scope="user:a", path="x", content="c")["document"]["version"] == 3


@pytest.mark.parametrize("path", ["never", "gone"])
@pytest.mark.parametrize("expected", [0, 1, 2, -1, 10**30], ids=lambda number: f"{number:.0e}")
def test_a_guard_on_an_absent_document_is_refused_and_nothing_is_written(wire, path, expected):
    filled(wire)
    with unchanged():
        refused = wire.post("memory/write", scope="user:a", path=path, content="c", expected_version=expected)
    assert (refused.status, refused.code) == (400, "memory_conflict")
    assert refused.details == {
        "scope": "user:a",
        "path": path,
        "reason": "document_absent",
        "expected_version": expected,
        "actual_version": None,
    }
    assert refused.message == f"Memory conflict on '{path}' in scope 'user:a': document_absent"


def test_a_refused_guard_in_an_unknown_scope_makes_no_scope(wire):
    refused = wire.post("memory/write", scope="user:new", path="x", content="c", expected_version=0)
    assert (refused.code, refused.details["reason"]) == ("memory_conflict", "document_absent")
    assert stored()["memory_scope"] == []
    assert wire.ok("store/scopes") == {"scopes": []}


def test_the_guard_ignores_redaction(wire):
    filled(wire)
    document = wire.ok("memory/write", scope="user:a", path="blank", content="c", expected_version=1)["document"]
    assert (document["version"], document["redacted"]) == (2, False)


def test_a_write_makes_its_scope_once(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="c")
    wire.ok("memory/write", scope="user:a", path="y", content="c")
    assert wire.ok("store/scopes") == {"scopes": ["user:a"]}
