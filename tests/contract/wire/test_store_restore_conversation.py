from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Conversation, Projection, Turn, TurnRedaction
from tests.contract.wire.conversation_rows import act, blanked, canonical, message, projection, restore, turn

ROUTE = "store/restore_conversation"


def assert_nothing_stored() -> None:
    assert [kind.objects.count() for kind in (Conversation, Turn, Projection, TurnRedaction)] == [0, 0, 0, 0]


def refused(wire: Any, **lists: Any) -> str:
    """The refusal of an archive whose other rows are good; nothing of it is stored."""
    answer = wire.post(ROUTE, {"conversation_id": "c", "turns": [turn(90)], "projections": [projection(90)], **lists})
    assert (answer.status, answer.code, answer.details) == (400, "value_error", {}), answer.body
    assert_nothing_stored()
    return answer.message


def without(row: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != key}


def test_an_archive_comes_back_as_it_was(wire):
    turns = [
        turn(2, "é\r\n", actor="someone:else", created_at="2020-02-29T23:59:59.999999Z"),
        blanked(3, actor=None),
        turn(7, actor=""),
    ]
    projections = [projection(1, "b"), projection(1, "a"), projection(9, "", "epoch", 9)]
    trail = [act([3]), act([1, 2, 3], actor=None, created_at="2020-03-01T00:00:00Z")]
    answer = wire.post(ROUTE, conversation_id="c", turns=turns, projections=projections, redactions=trail, actor="x")
    assert (answer.status, answer.body) == (200, b"{}")
    assert wire.ok("conversation/read_turns", conversation_id="c") == {"turns": turns, "next_after": None}
    assert wire.ok("conversation/read_projections", conversation_id="c")["entries"] == projections
    assert wire.ok("conversation/turn_redactions")["redactions"] == trail
    assert wire.ok("store/conversations") == {"conversations": ["c"]}


def test_what_was_read_can_be_restored_elsewhere(wire):
    wire.ok(
        "conversation/append_turn",
        conversation_id="c",
        messages=[
            message([{"type": "image", "url": "u"}, {"type": "compaction"}], extra={"b": 1, "a": [2.5]}),
            message(None, role="assistant", tool_calls=[{"id": "i", "name": "n", "arguments": {"z": 1, "a": 2}}]),
        ],
    )
    wire.ok("conversation/append_projections", conversation_id="c", entries=[projection(1)])
    wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])
    wire.ok("conversation/redact_turns", conversation_id="c", turns=[2])

    def archive(conversation_id: str) -> bytes:
        read = {"conversation_id": conversation_id}
        return b"".join(
            wire.post(f"conversation/{route}", body).body.replace(conversation_id.encode(), b"NAME")
            for route, body in (
                ("read_turns", read),
                ("read_projections", read),
                ("turn_redactions", {"conversations": [conversation_id]}),
            )
        )

    def renamed(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "conversation_id": "elsewhere"} for row in rows]

    restore(
        wire,
        "elsewhere",
        turns=renamed(wire.ok("conversation/read_turns", conversation_id="c")["turns"]),
        projections=wire.ok("conversation/read_projections", conversation_id="c")["entries"],
        redactions=renamed(wire.ok("conversation/turn_redactions")["redactions"]),
    )
    assert archive("elsewhere").replace(b"NAME", b"c") == archive("c").replace(b"NAME", b"c")


def test_optional_keys_have_the_contracts_defaults(wire):
    bare = {"conversation_id": "c", "turn": 1, "messages": [message()], "created_at": "2026-01-02T05:04:05+02:00"}
    wire.ok(
        ROUTE,
        conversation_id="c",
        turns=[bare],
        projections=[{"turn": 4, "kind": "log", "text": "t"}],
        redactions=[{"conversation_id": "c", "turns": [1], "created_at": "20260102T030405Z"}],
    )
    assert wire.ok("conversation/read_turns", conversation_id="c")["turns"] == [turn(1, actor=None)]
    assert wire.ok("conversation/read_projections", conversation_id="c")["entries"] == [projection(4)]
    assert wire.ok("conversation/turn_redactions")["redactions"] == [act([1], actor=None)]


@pytest.mark.parametrize("redactions", [{}, {"redactions": None}, {"redactions": []}])
def test_the_trail_may_be_left_out(wire, redactions):
    assert wire.ok(ROUTE, conversation_id="c", turns=[turn(1)], projections=[], **redactions) == {}
    assert wire.ok("conversation/turn_redactions") == {"redactions": []}


def test_unknown_keys_of_rows_are_dropped_and_messages_made_canonical(wire):
    sent = {"role": "user", "content": "x", "id": 9, "extra": {}}
    wire.ok(
        ROUTE,
        conversation_id="c",
        turns=[{**turn(1), "messages": [sent], "format": 2, "search_text": "needle"}],
        projections=[{**projection(1), "position": -1}],
        redactions=[{**act([1]), "position": 7}],
    )
    assert wire.ok("conversation/read_turns", conversation_id="c")["turns"] == [turn(1, "x")]
    assert wire.ok("conversation/search_turns", query="needle") == {"turns": []}


def test_an_empty_archive_into_an_empty_target_makes_nothing(wire):
    assert wire.ok(ROUTE, conversation_id="c", turns=[], projections=[], redactions=[]) == {}
    assert_nothing_stored()


def test_a_trail_alone_is_kept_is_no_conversation_and_leaves_the_target_empty(wire):
    restore(wire, redactions=[act([1])])
    assert wire.ok("store/conversations") == {"conversations": []}
    assert wire.ok("conversation/turn_redactions", conversations=["c"])["redactions"] == [act([1])]
    restore(wire, redactions=[act([2])], turns=[turn(2)])
    assert [row["turns"] for row in wire.ok("conversation/turn_redactions")["redactions"]] == [[2], [1]]
    assert wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])["turn"]["turn"] == 3


@pytest.mark.parametrize(
    "held",
    [{"turns": [turn(1)]}, {"turns": [blanked(1)]}, {"projections": [projection(1)]}],
    ids=["a turn", "a blanked turn", "a projection"],
)
@pytest.mark.parametrize(
    "archive",
    [{}, {"turns": [turn(5, "new")]}, {"projections": [projection(5)]}, {"redactions": [act([5])]}],
    ids=["nothing", "turns", "projections", "a trail"],
)
def test_an_occupied_target_is_refused_and_stays_as_it_was(wire, held, archive):
    restore(wire, **held)
    before = [list(kind.objects.values_list()) for kind in (Conversation, Turn, Projection, TurnRedaction)]
    answer = wire.post(ROUTE, {"conversation_id": "c", "turns": [], "projections": [], **archive})
    assert (answer.status, answer.code) == (400, "agent_conversation_conflict")
    assert answer.details == {"conversation_id": "c", "reason": "target_occupied"}
    assert answer.message == "Conversation conflict on 'c': target_occupied"
    assert before == [list(kind.objects.values_list()) for kind in (Conversation, Turn, Projection, TurnRedaction)]


def test_names_that_differ_in_case_are_other_targets(wire):
    restore(wire, turns=[turn(1)])
    restore(wire, "C", turns=[turn(1, conversation_id="C")])
    assert wire.ok("store/conversations") == {"conversations": ["C", "c"]}


def test_appends_number_on_from_the_highest_turn_whatever_the_order_of_rows(wire):
    restore(wire, turns=[turn(4), turn(41), blanked(7)], projections=[projection(99)], redactions=[act([1000])])
    assert wire.ok("conversation/last_turn_number", conversation_id="c") == {"turn": 41}
    assert wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])["turn"]["turn"] == 42
    wire.ok("conversation/append_projections", conversation_id="c", entries=[projection(99, "later")])
    texts = [entry["text"] for entry in wire.ok("conversation/read_projections", conversation_id="c")["entries"]]
    assert texts == ["t", "later"]


def test_the_highest_number_that_may_be_restored_can_be_counted_on_from(wire):
    restore(wire, turns=[turn(2**31 - 1)])
    assert wire.ok("conversation/append_turn", conversation_id="c", messages=[message()])["turn"]["turn"] == 2**31


@pytest.mark.parametrize("key", ["turns", "projections"])
@pytest.mark.parametrize("how", ["absent", "null"])
def test_a_missing_list_is_refused_by_its_name(wire, key, how):
    body: dict[str, Any] = {"conversation_id": "c", "turns": [turn(1)], "projections": [projection(1)]}
    body = {**body, key: None} if how == "null" else without(body, key)
    answer = wire.post(ROUTE, body)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", f"missing parameter: '{key}'")
    assert_nothing_stored()


@pytest.mark.parametrize("key", ["turns", "projections", "redactions"])
@pytest.mark.parametrize("value", ["x", 1, {}, True, [1], [None], ["x"], [[]]])
def test_a_list_of_anything_but_objects_is_refused_by_its_name(wire, key, value):
    assert refused(wire, **{key: value}) == f"parameter '{key}' must be a list of objects"


REQUIRED = [
    *(("turns", turn(1), key, "malformed request") for key in ("conversation_id", "turn", "messages", "created_at")),
    *(("projections", projection(1), key, "missing parameter") for key in ("turn", "kind", "text")),
    *(("redactions", act([1]), key, "missing parameter") for key in ("conversation_id", "turns", "created_at")),
]


@pytest.mark.parametrize(("name", "row", "key", "said"), REQUIRED, ids=lambda value: str(value)[:16])
def test_a_row_without_a_required_key_is_refused_by_its_name(wire, name, row, key, said):
    assert refused(wire, **{name: [row, without(row, key)]}) == f"{said}: '{key}'"


MISTYPED = {
    ("turns", "conversation_id"): (None, 1, True, [], {}),
    ("turns", "turn"): (None, "1", True, 1.0, 1.5, [1], {}),
    ("turns", "messages"): (None, "x", 1, True, {}, [1], [None], ["x"], [[]]),
    ("turns", "created_at"): (None, 1, 1.5, True, [], {}, "", "2026-01-02", "2026-01-02T03:04:05", "yesterday"),
    ("turns", "actor"): (1, 1.5, True, [], {}, ["x"]),
    ("turns", "redacted"): (1, 0, "false", "true", [], {}),
    ("projections", "turn"): (None, "1", True, 1.0, [], {}),
    ("projections", "kind"): (None, 1, True, [], {}, "x", ""),
    ("projections", "text"): (None, 1, True, [], {}),
    ("projections", "span"): ("1", True, 1.0, [], {}, 0, -1, 3),
    ("redactions", "conversation_id"): (None, 1, True, [], {}),
    ("redactions", "turns"): (
        None,
        "1",
        1,
        True,
        {},
        [],
        ["1"],
        [True],
        [1.0],
        [None],
        [[1]],
        [0],
        [-1],
        [1, 1],
        [2, 1],
    ),
    ("redactions", "created_at"): (None, 1, True, [], {}, "", "2026-01-02T03:04:05", "9999-12-31T23:59:59-01:00"),
    ("redactions", "actor"): (1, True, [], {}),
}
ROWS = {"turns": turn(1), "projections": projection(1), "redactions": act([1])}


@pytest.mark.parametrize(
    ("name", "key", "value"), [(name, key, value) for (name, key), values in MISTYPED.items() for value in values]
)
def test_a_mistyped_value_in_a_row_is_refused_and_restores_nothing(wire, name, key, value):
    refused(wire, **{name: [ROWS[name], {**ROWS[name], "turn": 2, key: value}]})


@pytest.mark.parametrize("number", [0, -1, 2**31, 2**63, 10**30])
def test_numbers_that_are_none_or_cannot_be_counted_on_are_refused(wire, number):
    assert "turn" in refused(wire, turns=[turn(number)])
    assert "turn" in refused(wire, projections=[projection(number)])
    assert "turns" in refused(wire, redactions=[act([number])])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({"role": "robot"}, "'robot' is not a valid Role"),
        ({"content": "x"}, "malformed request: 'role'"),
        ({"role": "user", "content": 1}, "'content'"),
        ({"role": "user", "content": [{"type": "audio"}]}, "Unknown content block type: 'audio'"),
        ({"role": "user", "tool_calls": [{"id": "i"}]}, "malformed request: 'name'"),
        ({"role": "user", "tool_calls": [{"id": "i", "name": "n", "arguments": "{}"}]}, "must be an object"),
        ({"role": "user", "extra": []}, "'extra' must be an object"),
        ({"role": "user", "content": "a\0b"}, "NUL"),
        ({"role": "user", "content": "\ud800"}, "surrogate"),
        ({"role": "user", "extra": {"a": float("inf")}}, "must be JSON"),
    ],
)
def test_a_message_is_held_to_the_codec(wire, bad, said):
    assert said in refused(wire, turns=[turn(1), {**turn(2), "messages": [canonical(), bad]}])


def test_a_turn_carries_messages_or_is_marked_redacted_and_never_both(wire):
    assert refused(wire, turns=[{**turn(1), "messages": []}]) == "turn 1 carries no messages and is not marked redacted"
    assert refused(wire, turns=[{**turn(1), "redacted": True}]) == "turn 1 carries messages"


def test_two_turns_of_one_number_are_refused(wire):
    assert refused(wire, turns=[turn(1), turn(2), turn(1)]) == "two turns numbered 1"


@pytest.mark.parametrize("name", ["turns", "redactions"])
@pytest.mark.parametrize("conversation_id", ["d", "C", "", "c ", ".."])
def test_a_row_of_another_conversation_is_refused(wire, name, conversation_id):
    stranger = {**ROWS[name], "conversation_id": conversation_id}
    assert "conversation_id" in refused(wire, **{name: [ROWS[name], {**stranger, "turn": 2}]})


@pytest.mark.parametrize(("name", "key"), [("turns", "actor"), ("projections", "text"), ("redactions", "actor")])
@pytest.mark.parametrize("text", ["a\0b", "\ud83d"], ids=ascii)
def test_text_that_cannot_come_back_is_refused_by_its_name(wire, name, key, text):
    assert f"'{key}'" in refused(wire, **{name: [{**ROWS[name], key: text}]})


def test_a_bad_id_is_judged_after_the_rows(wire):
    assert wire.post(ROUTE, conversation_id="..", turns=[{}], projections=[]).code == "value_error"
    answer = wire.post(ROUTE, conversation_id="..", turns=[], projections=[])
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")
    assert_nothing_stored()


def test_trail_turns_that_were_never_stored_are_kept(wire):
    restore(wire, turns=[turn(1)], redactions=[act([5, 6])])
    assert wire.ok("conversation/turn_redactions")["redactions"] == [act([5, 6])]


def test_a_restore_costs_the_same_statements_whatever_its_size(wire):
    wire.ok("store/conversations")
    counts = []
    for size in (1, 700):
        name = f"c{size}"
        with CaptureQueriesContext(connection) as queries:
            restore(wire, name, turns=[turn(n, conversation_id=name) for n in range(1, size + 1)])
        counts.append(len(queries))
    # Taking the row, streaming into three tables, and the savepoint around it (in production the transaction).
    assert counts == [6, 6]
