from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Turn
from tests.contract.wire.conversation_rows import blanked, message, restore, turn

ROUTE = "conversation/read_turns"


def numbers(answer):
    return [row["turn"] for row in answer["turns"]]


def test_turns_are_read_upwards_and_whole(wire):
    stored = [
        wire.ok("conversation/append_turn", conversation_id="c", messages=[message(str(place))])["turn"]
        for place in range(3)
    ]
    answer = wire.post(ROUTE, conversation_id="c")
    assert list(answer.json) == ["turns", "next_after"]
    assert answer.json == {"turns": stored, "next_after": None}


def test_restored_rows_in_any_order_are_read_upwards_with_their_gaps(wire):
    restore(wire, turns=[turn(9), turn(2), turn(30), turn(4)])
    assert numbers(wire.ok(ROUTE, conversation_id="c")) == [2, 4, 9, 30]


@pytest.mark.parametrize(
    ("after", "expected"),
    [(None, [2, 4, 9]), (0, [2, 4, 9]), (1, [2, 4, 9]), (2, [4, 9]), (3, [4, 9]), (9, []), (10**30, [])],
)
def test_after_is_exclusive_and_may_be_any_number(wire, after, expected):
    restore(wire, turns=[turn(2), turn(4), turn(9)])
    assert numbers(wire.ok(ROUTE, conversation_id="c", after=after)) == expected


def test_an_unknown_conversation_reads_as_empty_and_is_not_made(wire):
    assert wire.ok(ROUTE, conversation_id="c", after=3) == {"turns": [], "next_after": None}
    assert wire.ok("store/conversations") == {"conversations": []}


def test_a_blanked_turn_is_read_as_its_skeleton(wire):
    restore(wire, turns=[turn(1), blanked(2)])
    assert wire.ok(ROUTE, conversation_id="c", after=1)["turns"] == [blanked(2)]


@pytest.mark.parametrize("limit", [None, 501, 2000, 10**30])
def test_reading_on_walks_every_turn_in_pages_of_500(wire, limit):
    restore(wire, turns=[turn(number) for number in range(1, 1206)])
    seen, ends, after = [], [], None
    while True:
        page = wire.ok(ROUTE, conversation_id="c", after=after, limit=limit)
        seen += numbers(page)
        ends.append(page["next_after"])
        after = page["next_after"]
        if after is None:
            break
    assert seen == list(range(1, 1206))
    assert ends == [500, 1000, None]


def test_a_page_that_ends_exactly_names_its_last_turn_and_an_empty_one_follows(wire):
    restore(wire, turns=[turn(number) for number in range(1, 501)])
    page = wire.ok(ROUTE, conversation_id="c")
    assert (len(page["turns"]), page["next_after"]) == (500, 500)
    assert wire.ok(ROUTE, conversation_id="c", after=500) == {"turns": [], "next_after": None}


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (499, 499), (500, 500)])
def test_a_limit_up_to_500_is_a_total_bound_without_continuation(wire, limit, count):
    restore(wire, turns=[turn(number) for number in range(1, 502)])
    page = wire.ok(ROUTE, conversation_id="c", limit=limit)
    assert (numbers(page), page["next_after"]) == (list(range(1, count + 1)), None)


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ({"limit": -1}, "limit must be >= 0, got -1"),
        ({"after": -1}, "after must be >= 0, got -1"),
        ({"after": -(10**30), "limit": -1}, f"after must be >= 0, got -{10**30}"),
        ({"after": -1, "limit": 0}, "after must be >= 0, got -1"),
    ],
)
def test_negative_numbers_are_refused(wire, asked, refusal):
    answer = wire.post(ROUTE, conversation_id="c", **asked)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", refusal)


def test_the_id_is_judged_before_negative_numbers(wire):
    assert wire.post(ROUTE, conversation_id="a/b", after=-1, limit=-1).code == "agent_conversation_id_invalid"


def test_a_row_of_a_newer_format_is_refused_and_never_skipped(wire):
    restore(wire, turns=[turn(1), turn(2)])
    Turn.objects.filter(conversation="c", turn=2).update(format=2)
    assert numbers(wire.ok(ROUTE, conversation_id="c", limit=1)) == [1]
    answer = wire.post(ROUTE, conversation_id="c")
    assert (answer.status, answer.code) == (400, "agent_conversation_format_unsupported")
    assert answer.details["conversation_id"] == "c"
    assert set(answer.details) == {"conversation_id", "reason"}


def test_a_page_costs_one_statement_whatever_its_size(wire):
    restore(wire, "small", turns=[turn(1, conversation_id="small")])
    restore(wire, "large", turns=[turn(number, conversation_id="large") for number in range(1, 501)])
    counts = []
    for conversation_id in ("small", "large"):
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversation_id=conversation_id)
        counts.append(len(queries))
    assert counts == [1, 1]
