from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Conversation, Projection
from tests.contract.wire.conversation_rows import projection

ROUTE = "conversation/append_projections"


def entries_of(wire: Any) -> list[dict[str, Any]]:
    return wire.ok("conversation/read_projections", conversation_id="c")["entries"]


def refused(wire: Any, entry: Any, **more: Any) -> str:
    """The refusal of a batch whose last entry is ``entry``; nothing of the batch is stored."""
    answer = wire.post(ROUTE, {"conversation_id": "c", "entries": [projection(1), entry], **more})
    assert (answer.status, answer.code, answer.details) == (400, "value_error", {})
    assert (Projection.objects.count(), Conversation.objects.count()) == (0, 0)
    return answer.message


@pytest.mark.parametrize("kind", ["log", "digest", "epoch"])
def test_an_entry_is_kept_as_it_came_for_a_turn_that_need_not_exist(wire, kind):
    assert wire.ok(ROUTE, conversation_id="c", entries=[projection(9, "a\r\n😀", kind, 3)]) == {}
    assert entries_of(wire) == [{"turn": 9, "kind": kind, "text": "a\r\n😀", "span": 3}]
    assert list(entries_of(wire)[0]) == ["turn", "kind", "text", "span"]
    assert wire.ok("store/conversations") == {"conversations": ["c"]}


@pytest.mark.parametrize("span", [{}, {"span": None}, {"span": 1}])
def test_an_absent_span_is_one(wire, span):
    wire.ok(ROUTE, conversation_id="c", entries=[{"turn": 2, "kind": "log", "text": "", **span}])
    assert entries_of(wire) == [projection(2, "")]


def test_unknown_keys_and_an_actor_are_ignored(wire):
    entry = {**projection(1), "actor": 7, "created_at": "x", "format": 2, "position": -1}
    wire.ok(ROUTE, conversation_id="c", entries=[entry], actor="a\0b", through=1)
    assert entries_of(wire) == [projection(1)]


def test_nothing_is_overwritten(wire):
    for text in ("first", "second", "first"):
        wire.ok(ROUTE, conversation_id="c", entries=[projection(1, text), projection(1, text)])
    assert [entry["text"] for entry in entries_of(wire)] == ["first", "first", "second", "second", "first", "first"]


def test_no_entries_make_nothing(wire):
    assert wire.ok(ROUTE, conversation_id="c", entries=[]) == {}
    assert Conversation.objects.count() == 0


@pytest.mark.parametrize("missing", ["turn", "kind", "text"])
@pytest.mark.parametrize("how", ["absent", "null"])
def test_an_entry_without_a_required_key_is_refused_by_its_name(wire, missing, how):
    entry = projection(2)
    entry = {**entry, missing: None} if how == "null" else {k: v for k, v in entry.items() if k != missing}
    assert refused(wire, entry) == f"missing parameter: '{missing}'"


@pytest.mark.parametrize(
    ("key", "value", "noun"),
    [
        *(("turn", value, "an integer") for value in ("1", 1.0, True, [1], {}, 1.5)),
        *(("span", value, "an integer") for value in ("1", 1.0, True, [1], {}, False)),
        *(("kind", value, "a string") for value in (1, True, ["log"], {})),
        *(("text", value, "a string") for value in (1, False, ["x"], {"a": 1}, 0.5)),
    ],
)
def test_a_mistyped_value_is_refused_by_its_name(wire, key, value, noun):
    assert refused(wire, {**projection(2), key: value}) == f"parameter '{key}' must be {noun}"


@pytest.mark.parametrize(
    ("entry", "refusal"),
    [
        (projection(0), "turn must be >= 1, got 0"),
        (projection(-5), "turn must be >= 1, got -5"),
        (projection(2, span=3), "span must satisfy 1 <= span <= turn, got span=3 for turn=2"),
        (projection(2, span=0), "span must satisfy 1 <= span <= turn, got span=0 for turn=2"),
        (projection(2, span=-1), "span must satisfy 1 <= span <= turn, got span=-1 for turn=2"),
        (projection(2, span=10**30), f"span must satisfy 1 <= span <= turn, got span={10**30} for turn=2"),
        (projection(2, kind="x"), "kind must be one of ['digest', 'epoch', 'log'], got 'x'"),
        (projection(2, kind="Log"), "kind must be one of ['digest', 'epoch', 'log'], got 'Log'"),
        (projection(2, kind=""), "kind must be one of ['digest', 'epoch', 'log'], got ''"),
    ],
)
def test_values_out_of_range_are_refused(wire, entry, refusal):
    assert refused(wire, entry) == refusal


@pytest.mark.parametrize("number", [2**31, 2**63, 10**30])
def test_a_turn_that_cannot_be_counted_on_from_is_refused(wire, number):
    assert refused(wire, projection(number)).startswith("turn must be <= ")


def test_the_highest_turn_is_kept(wire):
    wire.ok(ROUTE, conversation_id="c", entries=[projection(2**31 - 1, span=2**31 - 1)])
    assert entries_of(wire) == [projection(2**31 - 1, span=2**31 - 1)]


@pytest.mark.parametrize("text", ["a\0b", "\ud83d", "\ude00\ud83d"], ids=ascii)
def test_text_that_cannot_come_back_is_refused(wire, text):
    assert "'text'" in refused(wire, projection(2, text))


@pytest.mark.parametrize("item", [1, None, "x", [], True])
def test_an_entry_that_is_no_object_is_refused(wire, item):
    assert refused(wire, item) == "parameter 'entries' must be a list of objects"


@pytest.mark.parametrize(
    ("entry", "refusal"),
    [
        ({"span": "x", "turn": "x"}, "parameter 'span' must be an integer"),
        ({"turn": "x", "kind": 1}, "parameter 'turn' must be an integer"),
        ({"kind": 1, "text": 1}, "missing parameter: 'turn'"),
        ({"turn": 0, "kind": 1, "text": 1}, "parameter 'kind' must be a string"),
        ({"turn": 0, "kind": "x", "text": 1}, "parameter 'text' must be a string"),
        ({"turn": 0, "kind": "x", "text": "", "span": 9}, "turn must be >= 1, got 0"),
        ({"turn": 1, "kind": "x", "text": "", "span": 9}, "span must satisfy"),
    ],
)
def test_an_entrys_checks_come_in_the_contracts_order(wire, entry, refusal):
    assert refused(wire, entry).startswith(refusal)


def test_entries_are_judged_before_the_id(wire):
    assert refused(wire, projection(0), conversation_id="..") == "turn must be >= 1, got 0"
    answer = wire.post(ROUTE, conversation_id="..", entries=[projection(1)])
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")
    assert wire.post(ROUTE, conversation_id="..", entries=[]).code == "agent_conversation_id_invalid"


def test_a_refused_batch_leaves_earlier_entries_alone(wire):
    wire.ok(ROUTE, conversation_id="c", entries=[projection(1, "kept")])
    assert wire.post(ROUTE, conversation_id="c", entries=[projection(1, "lost"), {}]).status == 400
    assert entries_of(wire) == [projection(1, "kept")]


def test_a_batch_costs_the_same_statements_whatever_its_size(wire):
    wire.ok(ROUTE, conversation_id="c", entries=[])
    counts = []
    for size in (1, 600):
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversation_id=f"c{size}", entries=[projection(1)] * size)
        counts.append(len(queries))
    # Two statements, and the savepoint around them (in production the transaction).
    assert counts == [4, 4]
    assert Projection.objects.count() == 601
