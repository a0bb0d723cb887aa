from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conversations.models import Projection
from tests.contract.wire.conversation_rows import projection, restore, turn

ROUTE = "conversation/read_projections"


def pages(wire: Any, conversation_id: str = "c", **asked: Any) -> list[tuple[list[dict[str, Any]], int | None]]:
    """Every page of a walk, each with its continuation."""
    walked: list[tuple[list[dict[str, Any]], int | None]] = []
    after = asked.pop("after", None)
    while not walked or after is not None:
        page = wire.ok(ROUTE, conversation_id=conversation_id, after=after, **asked)
        walked.append((page["entries"], page["next_after"]))
        after = page["next_after"]
        assert len(walked) < 50, "the walk must end"
    return walked


def many(counts: dict[int, int]) -> list[dict[str, Any]]:
    return [projection(number, str(place)) for number, count in counts.items() for place in range(count)]


def test_entries_come_by_turn_then_span_then_arrival(wire):
    sent = [
        projection(3, "e", span=2),
        projection(3, "d", "epoch"),
        projection(1, "a"),
        projection(3, "f", "digest", 2),
        projection(2, "c", span=2),
        projection(2, "b"),
    ]
    for entry in sent:
        wire.ok("conversation/append_projections", conversation_id="c", entries=[entry])
    answer = wire.ok(ROUTE, conversation_id="c")
    assert list(answer) == ["entries", "next_after"]
    assert answer == {"entries": sorted(sent, key=lambda entry: entry["text"]), "next_after": None}


@pytest.mark.parametrize(("after", "expected"), [(None, [2, 5]), (0, [2, 5]), (2, [5]), (5, []), (10**30, [])])
def test_after_is_a_turn_number_and_exclusive(wire, after, expected):
    restore(wire, projections=[projection(5, span=5), projection(2)])
    assert [entry["turn"] for entry in wire.ok(ROUTE, conversation_id="c", after=after)["entries"]] == expected


def test_an_unknown_conversation_or_one_of_turns_only_reads_as_empty(wire):
    restore(wire, "d", turns=[turn(1, conversation_id="d")])
    assert wire.ok(ROUTE, conversation_id="c") == {"entries": [], "next_after": None}
    assert wire.ok(ROUTE, conversation_id="d") == {"entries": [], "next_after": None}
    assert wire.ok("store/conversations") == {"conversations": ["d"]}


@pytest.mark.parametrize("limit", [None, 501, 999, 10**30])
def test_a_page_ends_before_the_turn_that_would_not_fit_and_widens_for_one_that_never_will(wire, limit):
    counts = {**dict.fromkeys(range(1, 300), 1), 300: 700, **dict.fromkeys(range(301, 400), 1)}
    stored = many(counts)
    restore(wire, projections=stored)
    walked = pages(wire, limit=limit)
    assert walked == [(stored[:299], 299), (stored[299:999], 300), (stored[999:], None)]


@pytest.mark.parametrize("limit", [None, 501, 600, 999])
def test_one_turn_of_more_entries_than_a_page_is_never_cut(wire, limit):
    stored = many({7: 1001})
    restore(wire, projections=stored)
    assert [entry for page, _ in pages(wire, limit=limit) for entry in page] == stored
    assert len(wire.ok(ROUTE, conversation_id="c", limit=limit)["entries"]) == 1001


@pytest.mark.parametrize(
    ("counts", "sizes"),
    [
        ({1: 500}, [500]),
        ({1: 499, 2: 1}, [500]),
        ({1: 499, 2: 2}, [499, 2]),
        ({1: 500, 2: 1}, [500, 1]),
        # The widened page reads nothing beyond its turn, so the end is an empty page, as with turns.
        ({1: 501}, [501, 0]),
        ({1: 250, 2: 250, 3: 250}, [500, 250]),
        ({1: 1, 2: 500, 3: 500}, [1, 500, 500]),
    ],
)
def test_whole_turns_fill_a_page_and_what_is_left_has_a_continuation(wire, counts, sizes):
    restore(wire, projections=many(counts))
    walked = pages(wire)
    assert [len(page) for page, _ in walked] == sizes
    assert walked[-1][1] is None
    assert [entry["turn"] for page, _ in walked for entry in page] == [
        number for number, count in counts.items() for _ in range(count)
    ]


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (499, 499), (500, 500)])
def test_a_limit_up_to_500_is_a_total_bound_that_may_cut_a_turn(wire, limit, count):
    stored = many({1: 300, 2: 300})
    restore(wire, projections=stored)
    assert wire.ok(ROUTE, conversation_id="c", limit=limit) == {"entries": stored[:count], "next_after": None}


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.integers(1, 30), st.integers(1, 260), min_size=1, max_size=12))
def test_a_walk_meets_every_entry_once_and_no_page_cuts_a_turn(wire, counts):
    counts = dict(sorted(counts.items()))
    Projection.objects.all().delete()
    wire.ok("conversation/append_projections", conversation_id="c", entries=many(counts))
    walked = pages(wire)
    assert [entry for page, _ in walked for entry in page] == many(counts)
    for page, next_after in walked[:-1]:
        assert next_after == page[-1]["turn"]
        assert sum(entry["turn"] == next_after for entry in page) == counts[next_after]


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [({"limit": -1}, "limit must be >= 0, got -1"), ({"after": -1, "limit": -1}, "after must be >= 0, got -1")],
)
def test_negative_numbers_are_refused(wire, asked, refusal):
    answer = wire.post(ROUTE, conversation_id="c", **asked)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", refusal)
    assert wire.post(ROUTE, conversation_id="..", **asked).code == "agent_conversation_id_invalid"


def test_a_row_of_a_newer_format_is_refused(wire):
    restore(wire, projections=[projection(1)])
    Projection.objects.update(format=2)
    assert wire.post(ROUTE, conversation_id="c").code == "agent_conversation_format_unsupported"


def test_a_page_costs_one_statement_and_a_widened_one_a_second(wire):
    counts = []
    for size in (1, 500, 501):
        restore(wire, f"c{size}", projections=many({1: size}))
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversation_id=f"c{size}")
        counts.append(len(queries))
    assert counts == [1, 1, 2]
