from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contract.wire.conversation_rows import act, message, restore, turn

ROUTE = "conversation/turn_redactions"
EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000001Z"


def acts(wire, **asked):
    answer = wire.ok(ROUTE, **asked)
    assert list(answer) == ["redactions"]
    return [(row["conversation_id"], row["turns"]) for row in answer["redactions"]]


@pytest.fixture
def three(wire):
    """Acts in three conversations, some of them at one time."""
    restore(wire, "a", redactions=[act([1], "a", created_at=EARLY), act([2], "a", created_at=EARLY)])
    restore(wire, "b", redactions=[act([3], "b", created_at=LATE), act([4], "b", created_at=EARLY)])
    restore(wire, "B", redactions=[act([5], "B", created_at=EARLY)])
    return wire


NEWEST_FIRST = [("b", [3]), ("b", [4]), ("a", [2]), ("a", [1]), ("B", [5])]


def test_an_act_is_answered_whole(wire):
    restore(wire, redactions=[act([1, 5, 2**31 - 1], actor=None)])
    answer = wire.ok(ROUTE)
    assert answer == {"redactions": [act([1, 5, 2**31 - 1], actor=None)]}
    assert list(answer["redactions"][0]) == ["conversation_id", "turns", "actor", "created_at"]


def test_acts_come_by_time_then_id_then_position_downwards(three):
    assert acts(three) == NEWEST_FIRST
    assert acts(three, conversations=["a", "B", "b"]) == NEWEST_FIRST
    assert acts(three, limit=2) == NEWEST_FIRST[:2]


@pytest.mark.parametrize(
    ("conversations", "expected"),
    [
        (None, NEWEST_FIRST),
        ([], []),
        (["a"], [("a", [2]), ("a", [1])]),
        (["a", "a"], [("a", [2]), ("a", [1])]),
        (["unknown"], []),
        (["B", "unknown"], [("B", [5])]),
    ],
)
def test_a_list_narrows_and_an_id_named_twice_counts_once(three, conversations, expected):
    assert acts(three, conversations=conversations) == expected


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        (None, NEWEST_FIRST),
        (EARLY, NEWEST_FIRST),
        (LATE, NEWEST_FIRST[:1]),
        ("2026-01-01T00:00:00.0000019Z", NEWEST_FIRST[:1]),
        ("2026-01-01T05:30:00.000001+05:30", NEWEST_FIRST[:1]),
        ("2025-12-31T16:00:00.000001-08:00", NEWEST_FIRST[:1]),
        ("20260101T000000.000002Z", []),
        ("0001-01-01T00:00:00Z", NEWEST_FIRST),
        ("9999-12-31T23:59:59Z", []),
    ],
)
@pytest.mark.parametrize("within", [None, ["a", "b", "B"]], ids=["whole store", "named"])
def test_since_is_inclusive_and_compares_instants(three, since, within, expected):
    assert acts(three, since=since, conversations=within) == expected


@pytest.mark.parametrize(
    "since",
    ["", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-13-01T00:00:00Z", "1767225600", "0001-01-01T00:00:00+01:00"],
)
def test_a_time_that_is_none_is_refused(three, since):
    answer = three.post(ROUTE, since=since)
    assert (answer.status, answer.code) == (400, "value_error")


@pytest.mark.parametrize(("limit", "count"), [(None, 50), (1, 1), (499, 499), (500, 500)])
def test_the_answer_is_bounded_to_fifty_unless_asked_otherwise(wire, limit, count):
    restore(wire, redactions=[act([number]) for number in range(1, 502)])
    assert acts(wire, limit=limit) == [("c", [number]) for number in range(501, 501 - count, -1)]


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ({"limit": 501}, "the trail answers at most 500 acts; narrow the window"),
        ({"limit": 10**30}, "the trail answers at most 500 acts; narrow the window"),
        ({"limit": 0}, "limit must be >= 1, got 0"),
        ({"limit": -1, "conversations": []}, "limit must be >= 1, got -1"),
        ({"limit": 501, "conversations": 1, "since": 1}, "the trail answers at most 500 acts; narrow the window"),
        ({"limit": 0, "conversations": 1, "since": 1}, "parameter 'conversations' must be a list of strings"),
        ({"limit": 0, "since": 1}, "parameter 'since' must be a string"),
    ],
)
def test_a_refusal_names_the_first_reason(three, asked, refusal):
    answer = three.post(ROUTE, asked)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", refusal)


@pytest.mark.parametrize("bad", ["", "a b", "..", "\0", "x" * 129], ids=ascii)
def test_one_malformed_id_refuses_the_trail(three, bad):
    answer = three.post(ROUTE, conversations=["a", bad])
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")


def test_the_ids_are_judged_before_a_limit_that_is_too_small(three):
    assert three.post(ROUTE, conversations=["a b"], limit=0).code == "agent_conversation_id_invalid"


def test_acts_of_requests_follow_the_restored_ones(wire):
    restore(wire, turns=[turn(1), turn(2)], redactions=[act([9])])
    wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])
    for number in (1, 2, 3):
        wire.ok("conversation/redact_turns", conversation_id="c", turns=[number])
    assert acts(wire) == [("c", [3]), ("c", [2]), ("c", [1]), ("c", [9])]


@pytest.mark.parametrize("within", [None, "own"], ids=["whole store", "named"])
def test_the_trail_costs_one_statement_whatever_its_size(wire, within):
    counts = []
    for size in (1, 400):
        restore(wire, f"c{size}", redactions=[act([number], f"c{size}") for number in range(1, size + 1)])
        named = within and [f"c{size}"]
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversations=named, limit=500)
        counts.append(len(queries))
    assert counts == [1, 1]
