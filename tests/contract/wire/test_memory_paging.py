"""The laws of the four memory listings' pages, written once for all of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.wire.memory_ground import (
    LISTINGS,
    archive,
    document_row,
    filled,
    forge,
    moment,
    redaction_row,
    unchanged,
    version_row,
    walk,
)

BODY = {
    "list": {"scope": "user:r"},
    "versions": {"scope": "user:r", "path": "x"},
    "history": {"scope": "user:r"},
    "trail": {"scope": "user:r"},
}


def fill(wire: Any, listing: str, count: int, instants: int = 3) -> list[Any]:
    """Restore ``count`` rows of a listing in no order, on few instants; what identifies each, in the right order."""
    if listing == "list":
        rows = [document_row(f"p{number:04}") for number in range(count)]
        expected: list[Any] = [row["path"] for row in rows]
        body = archive(random.sample(rows, count))
    elif listing == "versions":
        rows = [version_row("x", number + 1, created_at=moment(number % instants)) for number in range(count)]
        expected = list(range(count, 0, -1))
        body = archive(versions=random.sample(rows, count))
    elif listing == "history":
        rows = [
            version_row(f"p{number % 4}", number // 4 + 1, created_at=moment(number % instants))
            for number in range(count)
        ]
        # Ascending sorts are stable: the least important key first.
        order = sorted(rows, key=lambda row: -row["version"])
        order.sort(key=lambda row: row["path"])
        order.sort(key=lambda row: row["created_at"], reverse=True)
        expected = [(row["path"], row["version"]) for row in order]
        body = archive(versions=random.sample(rows, count))
    else:
        rows = [redaction_row(None, count=number, created_at=moment(number % instants)) for number in range(count)]
        order = sorted(rows, key=lambda row: -row["count"])
        order.sort(key=lambda row: row["created_at"], reverse=True)
        expected = [row["count"] for row in order]
        # The trail's own order is the archive's.
        body = archive(redactions=rows)
    wire.ok("store/restore_scope", body)
    return expected


IDENTITY: dict[str, Callable[[dict[str, Any]], Any]] = {
    "list": lambda row: row["path"],
    "versions": lambda row: row["version"],
    "history": lambda row: (row["path"], row["version"]),
    "trail": lambda row: row["count"],
}


def identities(listing: str, rows: list[dict[str, Any]]) -> list[Any]:
    return [IDENTITY[listing](row) for row in rows]


def page(wire: Any, listing: str, **more: Any) -> tuple[list[Any], str | None]:
    route, key, _ = LISTINGS[listing]
    answer = wire.ok(route, BODY[listing] | more)
    return identities(listing, answer[key]), answer["next_cursor"]


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("limit", [1, 2, 3, 7, 12])
@pytest.mark.parametrize("instants", [1, 3])
def test_pages_add_up_in_order_also_where_times_are_tied(wire, listing, limit, instants):
    expected = fill(wire, listing, 13, instants)
    pages = walk(wire, listing, **BODY[listing], limit=limit)
    assert [row for found in pages for row in identities(listing, found)] == expected
    full, rest = divmod(13, limit)
    assert [len(found) for found in pages] == [limit] * full + [rest] * (rest > 0)


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize(("count", "limit"), [(4, 4), (4, 2), (1, 1)])
def test_an_exact_page_has_no_continuation(wire, listing, count, limit):
    expected = fill(wire, listing, count)
    pages = walk(wire, listing, **BODY[listing], limit=limit)
    assert [len(found) for found in pages] == [limit] * (count // limit)
    assert [row for found in pages for row in identities(listing, found)] == expected


@pytest.mark.parametrize("listing", LISTINGS)
def test_without_a_limit_a_page_has_the_routes_own_size(wire, listing):
    default = LISTINGS[listing][2]
    expected = fill(wire, listing, 1100 if default == 500 else 601)
    pages = walk(wire, listing, **BODY[listing])
    assert [len(found) for found in pages] == ([500, 500, 100] if default == 500 else [50] * 12 + [1])
    assert [row for found in pages for row in identities(listing, found)] == expected


@pytest.mark.parametrize("listing", LISTINGS)
def test_no_page_is_above_500_rows(wire, listing):
    expected = fill(wire, listing, 1001)
    for limit in (501, 10**12, 2**63, 10**30, int("9" * 4000)):
        found, cursor = page(wire, listing, limit=limit)
        assert found == expected[:500]
        assert cursor is not None
    assert page(wire, listing, limit=499)[0] == expected[:499]
    pages = walk(wire, listing, **BODY[listing], limit=10**30)
    assert [row for rows in pages for row in identities(listing, rows)] == expected
    assert [len(rows) for rows in pages] == [500, 500, 1]


@pytest.mark.parametrize("listing", LISTINGS)
def test_exactly_500_rows_are_one_page(wire, listing):
    expected = fill(wire, listing, 500)
    assert page(wire, listing, limit=500) == (expected, None)
    assert page(wire, listing, limit=501) == (expected, None)


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_limit_of_zero_asks_for_nothing_and_looks_at_no_cursor(wire, listing):
    fill(wire, listing, 3)
    for cursor in (None, "", "junk", forge(["other"]), "\x00"):
        assert page(wire, listing, limit=0, cursor=cursor) == ([], None)


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("limit", [-1, -500, -(10**12), -(2**63) - 1])
def test_a_negative_limit_is_refused_without_a_word_of_sql(wire, listing, limit):
    fill(wire, listing, 3)
    refused = wire.post(LISTINGS[listing][0], BODY[listing] | {"limit": limit})
    assert (refused.status, refused.code, refused.details) == (400, "value_error", {})
    assert refused.message == f"limit must be >= 0, got {limit}"


@pytest.mark.parametrize("listing", LISTINGS)
@pytest.mark.parametrize("other", LISTINGS)
def test_a_cursor_serves_its_own_listing_only(wire, listing, other):
    expected = fill(wire, listing, 3)
    cursor = page(wire, listing, limit=1)[1]
    if other == listing:
        assert page(wire, listing, cursor=cursor) == (expected[1:], None)
        return
    refused = wire.post(LISTINGS[other][0], BODY[other] | {"cursor": cursor})
    assert (refused.status, refused.code, refused.details) == (400, "value_error", {})


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_cursor_goes_on_under_another_limit(wire, listing):
    expected = fill(wire, listing, 6)
    cursor = page(wire, listing, limit=2)[1]
    found, cursor = page(wire, listing, limit=3, cursor=cursor)
    assert found == expected[2:5]
    assert page(wire, listing, limit=1, cursor=cursor) == (expected[5:], None)


@pytest.mark.parametrize("listing", LISTINGS)
def test_an_erased_anchor_neither_errs_nor_restarts(wire, listing):
    expected = fill(wire, listing, 6)
    found, cursor = page(wire, listing, limit=2)
    wire.ok("memory/redact", scope="user:r")
    if listing == "list":
        wire.ok("memory/delete", scope="user:r", path=found[-1])
    assert page(wire, listing, cursor=cursor) == (expected[2:], None)


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_page_is_stable_when_asked_again(wire, listing):
    expected = fill(wire, listing, 9, 1)
    first = page(wire, listing, limit=4)
    assert page(wire, listing, limit=4) == first
    assert page(wire, listing, limit=4, cursor=first[1]) == page(wire, listing, limit=4, cursor=first[1])
    assert first[0] == expected[:4]


# Forged cursors

ABSURD = [
    "", " ", "now", "infinity", "-infinity", "epoch", "2026-03-01", "2026-03-01T10:00:00", "2026-13-01T00:00:00Z",
    "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "99999-01-01T00:00:00Z", "-0044-03-15T00:00:00Z",
    "2026-03-01T10:00:00Z\x00", "\ud800",
]  # fmt: skip
AT = "2026-03-01T10:00:00+00:00"
NUMBERS = [2**63, -(2**63), 10**30, 1.0, 1e300, True, False, None, "1", [1], {}]
FORGED = {
    "list": [[], [None], [1], [True], ["x", "y"], [["x"]], [{}], ["x\x00"], ["\ud800"], ["x", None]],
    "versions": [[], ["x"], [1, 2], *([number] for number in NUMBERS)],
    "history": [
        [], [AT], [AT, "x"], [AT, "x", 1, 2], ["x", AT, 1], [None, "x", 1], [5, "x", 1], [AT, None, 1], [AT, 1, 1],
        [AT, "x\x00", 1], [AT, "\udfff", 1], *([AT, "x", number] for number in NUMBERS),
        *([at, "x", 1] for at in ABSURD),
    ],
    "trail": [
        [], [AT], [AT, 1, 2], [1, AT], [None, 1], [5, 1], *([AT, number] for number in NUMBERS),
        *([at, 1] for at in ABSURD),
    ],
}  # fmt: skip


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_forged_cursor_of_a_wrong_shape_is_refused(wire, listing):
    fill(wire, listing, 3)
    for position in FORGED[listing]:
        refused = wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": forge([listing, *position])})
        assert (refused.status, refused.code, refused.details) == (400, "value_error", {}), position


JUNK = {
    "empty": "",
    "blank": " ",
    "word": "x",
    "marks": "!!!!",
    "padding only": "====",
    "not ASCII": "é",
    "NUL": "\x00",
    "half a character": "\ud800",
    "spaces inside": "W10 =",
    "newline": "W10=\n",
    "no JSON": forge("nothing"),
    "not UTF-8": "__79",
    "number": forge(5),
    "null": forge(None),
    "object": forge({"list": "x"}),
    "text": forge('"list"'),
    "no list": forge([]),
    "deep": forge("[" * 1500 + "]" * 1500),
    "very deep": forge("[" * 2900),
    "5,000 characters": "A" * 5000,
    "3,000 digits": forge('["versions",' + "9" * 2900 + "]"),
    "NaN": forge('["versions",NaN]'),
    "Infinity": forge('["versions",Infinity]'),
    "the whole body again": json.dumps({"scope": "user:r"}),
}


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_cursor_that_is_none_is_refused(wire, listing):
    fill(wire, listing, 3)
    for name, cursor in JUNK.items():
        refused = wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": cursor})
        assert (refused.status, refused.code, refused.details) == (400, "value_error", {}), name
        assert len(refused.body) < 1000


@pytest.mark.parametrize(
    ("listing", "position", "from_row"),
    [
        ("list", ["p0001"], 2),
        ("list", [""], 0),
        ("list", ["zzz"], 6),
        ("list", ["é"], 6),
        ("list", ["p0001' OR ''='"], 2),
        ("versions", [4], 3),
        ("versions", [0], 6),
        ("versions", [-5], 6),
        ("versions", [2**63 - 1], 0),
        ("versions", [-(2**63) + 1], 6),
        ("history", ["9999-12-31T23:59:59.999999Z", "", 1], 0),
        ("history", ["0001-01-01T00:00:00Z", "", 2**63 - 1], 6),
        ("history", ["2026-03-01T12:00:01+02:00", "p0", 2**63 - 1], 2),
        ("trail", ["9999-12-31T23:59:59.999999Z", 1], 0),
        ("trail", ["0001-01-01T00:00:00Z", 2**63 - 1], 6),
        ("trail", ["2026-03-01T10:00:02Z", -(2**63) + 1], 2),
    ],
)
def test_a_forged_cursor_of_the_right_shape_is_just_a_position(wire, listing, position, from_row):
    expected = fill(wire, listing, 6)
    assert page(wire, listing, cursor=forge([listing, *position])) == (expected[from_row:], None)


@pytest.mark.parametrize("listing", LISTINGS)
def test_a_cursor_under_another_listings_name_is_refused_though_its_shape_fits(wire, listing):
    fill(wire, listing, 3)
    position = {"list": ["p0001"], "versions": [2], "history": [AT, "p0", 1], "trail": [AT, 1]}[listing]
    assert wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": forge([listing, *position])}).status == 200
    for tag in [*(set(LISTINGS) - {listing}), "", listing.upper(), None, 1, [listing]]:
        refused = wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": forge([tag, *position])})
        assert (refused.status, refused.code) == (400, "value_error"), tag


def test_a_forged_cursor_shows_nothing_of_another_scope(wire):
    filled(wire, "user:other")
    fill(wire, "list", 3)
    assert page(wire, "list", cursor=forge(["list", ""])) == (["p0000", "p0001", "p0002"], None)
    with unchanged():
        refused = wire.as_("tok-alice").post("memory/list_documents", scope="user:r", cursor=forge(["list", ""]))
    assert (refused.status, refused.code) == (403, "forbidden")


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from([AT, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=6,
)


@settings(max_examples=70, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    listing=st.sampled_from(list(LISTINGS)),
    payload=st.lists(anything, max_size=4),
    tagged=st.booleans(),
)
def test_no_cursor_is_ever_a_failure(wire, listing, payload, tagged):
    cursor = forge([listing, *payload] if tagged else payload)
    answer = wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": cursor})
    assert (answer.status, answer.json.get("error", {}).get("code")) in [(200, None), (400, "value_error")]


@settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(listing=st.sampled_from(list(LISTINGS)), cursor=st.text(st.characters(), max_size=40))
def test_no_text_as_a_cursor_is_ever_a_failure(wire, listing, cursor):
    answer = wire.post(LISTINGS[listing][0], BODY[listing] | {"cursor": cursor})
    assert (answer.status, answer.code) == (400, "value_error")
