from __future__ import annotations

import random

import pytest

from tests.contract.wire.memory_ground import LISTINGS, archive, filled, moment, redaction_row, unchanged, version_row

READABLE = {
    "2026-03-01T10:00:05Z": 5,
    "2026-03-01T10:00:05+00:00": 5,
    "2026-03-01T15:30:05+05:30": 5,
    "2026-03-01T02:00:05-0800": 5,
    "2026-03-01T15:00:05+05": 5,
    "2026-03-01T10:00:06+00:00:01": 5,
    "2026-03-01 10:00:05Z": 5,
    "2026-03-01T10:00:04.000001Z": 5,
    "2026-03-01T10:00:05.0000009Z": 5,  # Cut, not rounded.
    "2026-03-01T10:00:05.000000999999999Z": 5,
    "2026-03-01T10:00:05,000000Z": 5,
    "2026-03-01T10:00:05.000001Z": 6,
    "20260301T100005Z": 5,
    "2026-W09-7T10:00:05Z": 5,
    "2026-03-01T10:00Z": 0,
    "2026-03-01T10Z": 0,
    "0001-01-01T00:00:00Z": 0,
    "9999-12-31T23:59:59.999999Z": 10,
}
UNREADABLE = [
    "", " ", "2026-03-01", "2026-03-01T10:00:05", "20260301T100005", "2026-03-01t10:00:05Z", "2026-03-01T10:00:05z",
    "2026-03-01T24:00:00Z", "2026-03-01T23:59:60Z", " 2026-03-01T10:00:05Z", "2026-03-01T10:00:05Z ",
    "2026-03-01T10:00:05 UTC", "1772359205", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-03-01T10:00:05ZZ",
    "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "2026-03-01T10:00:05+24:00", "infinity", "-infinity",
    "now", "epoch", "2026-03-01T10:00:05Z\n", "2026-03-01T10:00:05Z\x00", "\ud800",
    "\uff12\uff10\uff12\uff16-03-01T10:00:05Z",
    "2026-03-01Z", "-2026-03-01T10:00:05Z", "2026-03-01T10:00:05.Z" * 500,
]  # fmt: skip


@pytest.fixture
def ten(wire):
    """Ten rows and ten acts, one each second."""
    wire.ok(
        "store/restore_scope",
        archive(
            versions=[version_row("x", number + 1, created_at=moment(number)) for number in range(10)],
            redactions=[redaction_row("x", created_at=moment(number), count=number) for number in range(10)],
        ),
    )


def test_every_row_of_every_path_is_there_deleted_and_redacted_ones_too(wire):
    filled(wire)
    answer = wire.ok("memory/history", scope="user:a")
    assert [
        (row["path"], row["version"], row["action"], row["content"], row["redacted"]) for row in answer["versions"]
    ] == [
        ("blank", 1, "created", "", True),
        ("gone", 2, "deleted", "old", False),
        ("gone", 1, "created", "old", False),
        ("x", 2, "modified", "two", False),
        ("x", 1, "created", "one", False),
    ]
    assert list(answer["versions"][0]) == ["path", "version", "action", "content", "actor", "created_at", "redacted"]
    assert answer["next_cursor"] is None


def test_an_unknown_scope_has_no_history_and_stays_unknown(wire):
    with unchanged():
        assert wire.ok("memory/history", scope="user:a") == {"versions": [], "next_cursor": None}


def test_a_child_scopes_rows_are_its_own(wire):
    wire.ok("memory/write", scope="user:a/p:b", path="x", content="c")
    assert wire.ok("memory/history", scope="user:a")["versions"] == []


def test_ties_of_time_are_ordered_by_path_then_by_number_downwards(wire):
    rows = [
        version_row(path, number, created_at=moment(at))
        for path, number, at in [
            ("a", 1, 5), ("a", 2, 5), ("a", 3, 4), ("B", 1, 5), ("_", 9, 5), ("a-b", 1, 5), ("a/b", 1, 5), ("b", 1, 6),
            ("a.b", 1, 5), ("0", 1, 4),
        ]
    ]  # fmt: skip
    random.shuffle(rows)
    wire.ok("store/restore_scope", archive(versions=rows))
    found = wire.ok("memory/history", scope="user:r")["versions"]
    assert [(row["path"], row["version"]) for row in found] == [
        ("b", 1), ("B", 1), ("_", 9), ("a", 2), ("a", 1), ("a-b", 1), ("a.b", 1), ("a/b", 1), ("0", 1), ("a", 3),
    ]  # fmt: skip


@pytest.mark.parametrize("listing", ["history", "trail"])
def test_since_is_inclusive_and_compares_instants(wire, ten, listing):
    route, key, _ = LISTINGS[listing]
    for since, first in READABLE.items():
        found = wire.ok(route, scope="user:r", since=since)[key]
        assert [row["created_at"] for row in found] == [moment(second) for second in range(9, first - 1, -1)], since


@pytest.mark.parametrize("listing", ["history", "trail"])
def test_an_unreadable_since_is_refused(wire, ten, listing):
    for since in UNREADABLE:
        refused = wire.post(LISTINGS[listing][0], scope="user:r", since=since)
        assert (refused.status, refused.code, refused.details) == (400, "value_error", {}), ascii(since)
        zero = wire.post(LISTINGS[listing][0], scope="user:r", since=since, limit=0)
        assert (zero.status, zero.code) == (400, "value_error"), ascii(since)


@pytest.mark.parametrize("listing", ["history", "trail"])
@pytest.mark.parametrize("since", [0, 1772359205, 1.5, True, [], {}])
def test_a_since_that_is_no_text_is_refused_by_name(wire, ten, listing, since):
    refused = wire.post(LISTINGS[listing][0], scope="user:r", since=since)
    assert (refused.status, refused.code) == (400, "value_error")
    assert refused.message == "parameter 'since' must be a string"


@pytest.mark.parametrize("listing", ["history", "trail"])
def test_since_holds_on_every_page(wire, ten, listing):
    route, key, _ = LISTINGS[listing]
    first = wire.ok(route, scope="user:r", since=moment(7), limit=2)
    second = wire.ok(route, scope="user:r", since=moment(7), limit=2, cursor=first["next_cursor"])
    assert [row["created_at"] for row in first[key] + second[key]] == [moment(9), moment(8), moment(7)]
    assert second["next_cursor"] is None


def test_an_exact_end_under_since_has_no_continuation(wire, ten):
    page = wire.ok("memory/history", scope="user:r", since=moment(8), limit=2)
    assert (len(page["versions"]), page["next_cursor"]) == (2, None)


def test_a_microsecond_decides(wire):
    wire.ok("store/restore_scope", archive(versions=[version_row(created_at="2026-03-01T10:00:05.123456Z")]))
    at = wire.ok("memory/history", scope="user:r")["versions"][0]["created_at"]
    assert at == "2026-03-01T10:00:05.123456Z"
    assert len(wire.ok("memory/history", scope="user:r", since=at)["versions"]) == 1
    assert len(wire.ok("memory/history", scope="user:r", since="2026-03-01T12:00:05.123456+02:00")["versions"]) == 1
    assert wire.ok("memory/history", scope="user:r", since="2026-03-01T10:00:05.123457Z")["versions"] == []
