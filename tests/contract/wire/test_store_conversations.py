from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contract.wire.conversation_rows import act, message, projection, restore, turn

ROUTE = "store/conversations"


def test_an_empty_store_holds_none(wire):
    assert wire.ok(ROUTE) == {"conversations": []}


def test_turns_or_projections_make_a_conversation_and_a_trail_alone_does_not(wire):
    wire.ok("conversation/append_turn", conversation_id="turns", messages=[message()])
    wire.ok("conversation/append_projections", conversation_id="projections", entries=[projection(1)])
    restore(wire, "trail", redactions=[act([1], "trail")])
    restore(wire, "empty")
    assert wire.ok(ROUTE) == {"conversations": ["projections", "turns"]}
    wire.ok("conversation/append_turn", conversation_id="trail", messages=[message()])
    assert wire.ok(ROUTE) == {"conversations": ["projections", "trail", "turns"]}


def test_names_are_sorted_by_code_point(wire):
    names = ["-x", ".x", "A", "B", "Z-", "_x", "a", "a-b", "a.b", "a0", "aB", "a_b", "aa", "b"]
    for name in reversed(names):
        restore(wire, name, turns=[turn(1, conversation_id=name)])
    assert wire.ok(ROUTE) == {"conversations": names}


def test_erasing_everything_removes_none(wire):
    restore(wire, turns=[turn(1)])
    wire.ok("conversation/redact_turns", conversation_id="c")
    assert wire.ok(ROUTE) == {"conversations": ["c"]}


def test_reading_searching_and_refused_calls_add_none(wire):
    asked = {"conversation_id": "c"}
    for route, more in {
        "read_turns": {},
        "last_turn_number": {},
        "read_projections": {},
        "redact_turns": {},
        "search_turns": {"query": "x", "conversations": ["c"]},
        "turn_redactions": {"conversations": ["c"]},
        "append_projections": {"entries": []},
    }.items():
        wire.ok(f"conversation/{route}", asked, **more)
    assert wire.post("conversation/append_turn", asked, messages=[{}]).status == 400
    assert wire.as_("tok-reader").post("conversation/append_turn", asked, messages=[message()]).status == 403
    assert wire.ok(ROUTE) == {"conversations": []}


def test_keys_of_the_body_are_ignored(wire):
    restore(wire, turns=[turn(1)])
    assert wire.ok(ROUTE, limit=-1, cursor=7, conversations=[], conversation_id=1) == {"conversations": ["c"]}


def test_more_than_a_page_is_answered_whole_with_one_statement(wire):
    names = sorted(f"c{number:04}" for number in range(501))
    for name in names:
        wire.ok("conversation/append_projections", conversation_id=name, entries=[projection(1)])
    with CaptureQueriesContext(connection) as queries:
        assert wire.ok(ROUTE) == {"conversations": names}
    assert len(queries) == 1
