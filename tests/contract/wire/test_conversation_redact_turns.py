from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Projection, Turn, TurnRedaction
from tests.contract.wire.conversation_rows import act, blanked, message, projection, restore, turn

ROUTE = "conversation/redact_turns"


def blank_numbers(wire: Any) -> list[int]:
    return [row["turn"] for row in wire.ok("conversation/read_turns", conversation_id="c")["turns"] if row["redacted"]]


def trail(wire: Any) -> list[list[int]]:
    """The numbers of every act, newest first."""
    return [row["turns"] for row in wire.ok("conversation/turn_redactions")["redactions"]]


@pytest.fixture
def six(wire):
    """A conversation of six turns, with projections over 1, 1-3, 5, 1-6 and 9."""
    restore(
        wire,
        turns=[turn(number, f"word{number}") for number in range(1, 7)],
        projections=[
            projection(1, "one"),
            projection(3, "one to three", "digest", 3),
            projection(5, "five"),
            projection(6, "one to six", "epoch", 6),
            projection(9, "nine"),
        ],
    )
    return wire


@pytest.mark.parametrize(
    ("selection", "matched"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"through": None, "turns": None}, [1, 2, 3, 4, 5, 6]),
        ({"through": 1}, [1]),
        ({"through": 4}, [1, 2, 3, 4]),
        ({"through": 6}, [1, 2, 3, 4, 5, 6]),
        ({"through": 7}, [1, 2, 3, 4, 5, 6]),
        ({"through": 10**30}, [1, 2, 3, 4, 5, 6]),
        ({"turns": [4]}, [4]),
        ({"turns": [6, 2, 6, 2]}, [2, 6]),
        ({"turns": [3, 99, 2**31, 2**63, 10**30]}, [3]),
        ({"turns": list(range(1, 40_001))}, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_a_selection_is_blanked_counted_and_recorded(six, selection, matched):
    assert six.ok(ROUTE, conversation_id="c", **selection) == {"count": len(matched)}
    assert blank_numbers(six) == matched
    assert trail(six) == [matched]


@pytest.mark.parametrize("selection", [{"turns": []}, {"turns": [7]}, {"turns": [10**30]}, {"turns": [2**63]}])
def test_a_selection_that_matches_nothing_leaves_no_trail(six, selection):
    before = six.ok("conversation/read_turns", conversation_id="c")
    assert six.ok(ROUTE, conversation_id="c", **selection) == {"count": 0}
    assert six.ok("conversation/read_turns", conversation_id="c") == before
    assert trail(six) == []


def test_a_blanked_turn_keeps_its_number_time_and_author(wire):
    wire.as_("tok-ops").ok("conversation/append_turn", conversation_id="c", messages=[message()], actor="writer")
    (before,) = wire.ok("conversation/read_turns", conversation_id="c")["turns"]
    wire.ok(ROUTE, conversation_id="c", actor="eraser")
    (after,) = wire.ok("conversation/read_turns", conversation_id="c")["turns"]
    assert after == {**before, "messages": [], "redacted": True}
    assert after["actor"] == "client:ops/writer"


def test_nothing_of_a_blanked_turn_is_left_in_its_row(six):
    six.ok(ROUTE, conversation_id="c", turns=[2])
    row = Turn.objects.get(conversation="c", turn=2)
    assert (row.search_text, row.redacted) == ("", True)
    assert six.ok("conversation/search_turns", query="word2") == {"turns": []}
    assert len(six.ok("conversation/search_turns", query="word")["turns"]) == 5


def test_entries_over_a_matched_turn_lose_their_text_and_only_those(six):
    six.ok(ROUTE, conversation_id="c", turns=[2, 3])
    entries = six.ok("conversation/read_projections", conversation_id="c")["entries"]
    assert entries == [
        projection(1, "one"),
        projection(3, "", "digest", 3),
        projection(5, "five"),
        projection(6, "", "epoch", 6),
        projection(9, "nine"),
    ]


def test_entries_over_turns_that_were_never_stored_stay_even_when_all_is_blanked(six):
    six.ok(ROUTE, conversation_id="c")
    texts = [entry["text"] for entry in six.ok("conversation/read_projections", conversation_id="c")["entries"]]
    assert texts == ["", "", "", "", "nine"]


@pytest.mark.parametrize(
    ("number", "span", "kept"), [(2, 1, True), (3, 1, False), (5, 2, True), (5, 3, False), (4, 4, False)]
)
def test_an_entrys_range_ends_with_its_turn(wire, number, span, kept):
    restore(wire, turns=[turn(3)], projections=[projection(number, "text", span=span)])
    wire.ok(ROUTE, conversation_id="c")
    assert Projection.objects.get().text == ("text" if kept else "")


def test_an_entry_added_after_the_act_keeps_its_text_until_the_next_one(six):
    six.ok(ROUTE, conversation_id="c", turns=[1])
    six.ok("conversation/append_projections", conversation_id="c", entries=[projection(1, "late")])
    texts = [entry["text"] for entry in six.ok("conversation/read_projections", conversation_id="c")["entries"]]
    assert texts == ["", "late", "", "five", "", "nine"]
    six.ok(ROUTE, conversation_id="c", turns=[1])
    texts = [entry["text"] for entry in six.ok("conversation/read_projections", conversation_id="c")["entries"]]
    assert texts == ["", "", "", "five", "", "nine"]


def test_a_repeat_counts_again_changes_nothing_and_is_recorded_again(six):
    assert six.ok(ROUTE, conversation_id="c", through=2) == {"count": 2}
    before = six.ok("conversation/read_turns", conversation_id="c")
    assert six.ok(ROUTE, conversation_id="c", through=2) == {"count": 2}
    assert six.ok("conversation/read_turns", conversation_id="c") == before
    assert six.ok(ROUTE, conversation_id="c", through=3) == {"count": 3}
    assert trail(six) == [[1, 2, 3], [1, 2], [1, 2]]


def test_appending_continues_the_numbers_and_the_new_turn_is_not_blank(six):
    six.ok(ROUTE, conversation_id="c")
    assert six.ok("conversation/append_turn", conversation_id="c", messages=[message()])["turn"]["turn"] == 7
    assert blank_numbers(six) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("selection", [{}, {"through": 1}, {"turns": [1]}])
def test_a_conversation_without_turns_matches_nothing_and_is_not_made(wire, selection):
    restore(wire, "p", projections=[projection(1, "kept")])
    assert wire.ok(ROUTE, conversation_id="unknown", **selection) == {"count": 0}
    assert wire.ok(ROUTE, conversation_id="p", **selection) == {"count": 0}
    assert wire.ok("conversation/read_projections", conversation_id="p")["entries"] == [projection(1, "kept")]
    assert wire.ok("store/conversations") == {"conversations": ["p"]}
    assert trail(wire) == []


def test_other_conversations_are_not_touched(six):
    restore(six, "cc", turns=[turn(1, conversation_id="cc")], projections=[projection(1, "kept")])
    six.ok(ROUTE, conversation_id="c")
    assert six.ok("conversation/read_turns", conversation_id="cc")["turns"] == [turn(1, conversation_id="cc")]
    assert six.ok("conversation/read_projections", conversation_id="cc")["entries"] == [projection(1, "kept")]


@pytest.mark.parametrize(
    ("selection", "refusal"),
    [
        ({"through": 1, "turns": [1]}, "give through= or turns=, not both"),
        ({"through": 0, "turns": []}, "give through= or turns=, not both"),
        ({"through": 0}, "through must be >= 1, got 0"),
        ({"through": -(10**30)}, f"through must be >= 1, got -{10**30}"),
        ({"turns": [1, 0]}, "turn numbers start at 1, got 0"),
        ({"turns": [0, 2, -7]}, "turn numbers start at 1, got -7"),
        ({"turns": [1, True]}, "parameter 'turns' must be a list of integers"),
        ({"turns": [1, 2.0]}, "parameter 'turns' must be a list of integers"),
        ({"turns": [1, "2"]}, "parameter 'turns' must be a list of integers"),
        ({"turns": [1, None]}, "parameter 'turns' must be a list of integers"),
        ({"turns": [[1]]}, "parameter 'turns' must be a list of integers"),
    ],
)
def test_a_refused_selection_blanks_nothing(six, selection, refusal):
    answer = six.post(ROUTE, conversation_id="c", **selection)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", refusal)
    assert blank_numbers(six) == []
    assert trail(six) == []


def test_the_id_is_judged_before_the_selection_and_after_the_types(six):
    assert six.post(ROUTE, conversation_id="..", through=0, turns=[]).code == "agent_conversation_id_invalid"
    assert six.post(ROUTE, conversation_id="..", through="x").code == "value_error"


@pytest.mark.parametrize("actor", ["a\0b", "\ud800"], ids=ascii)
def test_an_actor_that_cannot_come_back_blanks_nothing(six, actor):
    answer = six.post(ROUTE, conversation_id="c", actor=actor)
    assert (answer.status, answer.code) == (400, "value_error")
    assert "'actor'" in answer.message
    assert blank_numbers(six) == []


def test_the_act_is_recorded_under_the_tokens_client_at_its_own_time(six):
    with time_machine.travel("2026-05-06T07:08:09.000010Z", tick=False):
        six.as_("tok-ops").ok(ROUTE, conversation_id="c", turns=[5, 4], actor="ops")
    assert six.ok("conversation/turn_redactions")["redactions"] == [
        act([4, 5], actor="client:ops/ops", created_at="2026-05-06T07:08:09.000010Z")
    ]


def test_twelve_hundred_turns_are_blanked_at_once(wire):
    restore(wire, turns=[turn(number) for number in range(1, 1251)], projections=[projection(1250, "t", span=1250)])
    assert wire.ok(ROUTE, conversation_id="c") == {"count": 1250}
    assert not Turn.objects.filter(redacted=False).exists()
    assert Projection.objects.get().text == ""
    assert trail(wire) == [list(range(1, 1251))]
    assert wire.ok(ROUTE, conversation_id="c") == {"count": 1250}


def test_skeletons_that_were_restored_count_as_well(wire):
    restore(wire, turns=[blanked(1), turn(2)])
    assert wire.ok(ROUTE, conversation_id="c") == {"count": 2}
    assert TurnRedaction.objects.get().turns == [1, 2]


def test_an_act_costs_the_same_statements_whatever_it_blanks(wire):
    counts = []
    for size in (1, 400):
        restore(wire, f"c{size}", turns=[turn(number, conversation_id=f"c{size}") for number in range(1, size + 1)])
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversation_id=f"c{size}")
        counts.append(len(queries))
    # Lock, match, blank twice, record, and the savepoint around them (in production the transaction).
    assert counts == [7, 7]
