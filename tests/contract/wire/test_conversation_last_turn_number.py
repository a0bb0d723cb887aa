from __future__ import annotations

from tests.contract.wire.conversation_rows import act, message, projection, restore, turn

ROUTE = "conversation/last_turn_number"


def test_an_unknown_conversation_has_none_and_is_not_made(wire):
    assert wire.ok(ROUTE, conversation_id="c") == {"turn": 0}
    assert wire.ok("store/conversations") == {"conversations": []}


def test_it_is_the_number_of_the_turn_appended_last(wire):
    for number in (1, 2, 3):
        wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])
        assert wire.ok(ROUTE, conversation_id="c") == {"turn": number}
    assert wire.ok(ROUTE, conversation_id="C") == {"turn": 0}


def test_projections_and_a_trail_are_no_turns(wire):
    wire.ok("conversation/append_projections", conversation_id="c", entries=[projection(7)])
    restore(wire, "d", redactions=[act([4], "d")])
    assert wire.ok(ROUTE, conversation_id="c") == {"turn": 0}
    assert wire.ok(ROUTE, conversation_id="d") == {"turn": 0}


def test_erasing_does_not_lower_it(wire):
    restore(wire, turns=[turn(3), turn(8)])
    assert wire.ok("conversation/redact_turns", conversation_id="c") == {"count": 2}
    assert wire.ok(ROUTE, conversation_id="c") == {"turn": 8}


def test_it_is_the_highest_restored_number_in_whatever_order_the_rows_came(wire):
    restore(wire, turns=[turn(5), turn(2**31 - 1), turn(1)])
    assert wire.ok(ROUTE, conversation_id="c") == {"turn": 2**31 - 1}


def test_an_id_outside_the_grammar_is_refused(wire):
    answer = wire.post(ROUTE, conversation_id="a b")
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")
