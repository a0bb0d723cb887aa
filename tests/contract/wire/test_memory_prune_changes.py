"""``memory/prune_changes``: preview and removal, and what readers are told afterwards."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import ChangeEvent, PendingChange, Scope
from tests.contract.wire.conversation_rows import store_rows
from tests.contract.wire.feed_ground import position

SCOPE = "workspace:team"


@pytest.fixture
def five(wire):
    """A feed of five numbered events."""
    for number in range(5):
        wire.ok("memory/write", scope=SCOPE, path=f"n{number}", content="x")
    wire.ok("memory/changes", scope=SCOPE)
    return wire


def prune(wire, through, **more):
    return wire.ok("memory/prune_changes", scope=SCOPE, through=through, **more)


def sequences(page):
    return [event["sequence"] for event in page["events"]]


def test_a_preview_says_what_a_prune_would_remove_and_removes_nothing(five):
    before = store_rows()
    assert prune(five, position(SCOPE, 3)) == {
        "format": 1,
        "scope": SCOPE,
        "removed": 3,
        "write": False,
        "earliest_cursor": position(SCOPE, 3),
    }
    assert store_rows() == before
    assert sequences(five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 0))) == [1, 2, 3, 4, 5]


def test_a_prune_removes_and_tells_who_is_behind(five):
    assert prune(five, position(SCOPE, 3), write=True)["removed"] == 3
    page = five.ok("memory/changes", scope=SCOPE)
    assert page["gap"] == {"kind": "retention", "lost_from": 1, "lost_through": 3}
    assert page["checkpoint_cursor"] == page["head_cursor"]
    assert page["floor_cursor"] == position(SCOPE, 3)
    behind = five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 1))
    assert behind["gap"] == {"kind": "retention", "lost_from": 2, "lost_through": 3}
    assert sequences(five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 3))) == [4, 5]
    assert five.ok("memory/history", scope=SCOPE)["versions"].__len__() == 5


def test_repeating_and_going_back_are_harmless(five):
    prune(five, position(SCOPE, 3), write=True)
    before = store_rows()
    for sequence in (3, 1, 0):
        again = prune(five, position(SCOPE, sequence), write=True)
        assert (again["removed"], again["earliest_cursor"]) == (0, position(SCOPE, 3))
    assert store_rows() == before


def test_numbers_go_on_after_everything_was_pruned(five):
    prune(five, position(SCOPE, 5), write=True)
    assert not ChangeEvent.objects.exists()
    five.ok("memory/write", scope=SCOPE, path="next", content="x")
    assert sequences(five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 5))) == [6]


def test_what_is_no_position_of_the_stream_is_refused(five):
    other = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IiwiNWIwYzFmMWUtNmE1Mi00ZDNjLTlhM2UtMGY3YTFjMmQzZTRmIiwzXQ=="
    none = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IixudWxsLDBd"
    before = store_rows()
    for through in (other, none, position(SCOPE, 6), position(SCOPE, 2**70)):
        answer = five.post("memory/prune_changes", scope=SCOPE, through=through, write=True)
        assert (answer.status, answer.code) == (400, "value_error")
        assert answer.message == "through is not a position of this stream"
    assert store_rows() == before
    assert five.post("memory/prune_changes", scope="workspace:none", through=none).status == 400


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"through": "x"}, "malformed changes cursor"),
        ({"through": "A" * 2049}, "malformed changes cursor"),
        ({"through": None}, "missing parameter: 'through'"),
        ({}, "missing parameter: 'through'"),
        ({"through": 1}, "parameter 'through' must be a string"),
        ({"through": "x", "write": None}, "parameter 'write' must be a boolean"),
        ({"through": "x", "write": 1}, "parameter 'write' must be a boolean"),
        ({"through": "x", "limit": 1}, "unknown parameter: 'limit'"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused(five, body, message):
    answer = five.post("memory/prune_changes", {"scope": SCOPE, **body})
    assert (answer.status, answer.code, answer.message) == (400, "value_error", message)


def test_a_reader_at_the_floor_and_one_beyond_it_have_lost_nothing(five):
    prune(five, position(SCOPE, 3), write=True)
    assert prune(five, position(SCOPE, 4))["removed"] == 1
    for after in (3, 4, 5):
        page = five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, after))
        assert (page["gap"], sequences(page)) == (None, list(range(after + 1, 6)))
    assert prune(five, position(SCOPE, 4), write=True)["removed"] == 1
    page = five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 3))
    assert page["gap"] == {"kind": "retention", "lost_from": 4, "lost_through": 4}


def test_documents_history_and_other_feeds_are_not_touched(five):
    five.ok("memory/write", scope="workspace:other", path="n0", content="x")
    five.ok("memory/changes", scope="workspace:other")
    before = store_rows()
    prune(five, position(SCOPE, 5), write=True)
    after = store_rows()
    assert after.pop("memory.ChangeEvent") == [row for row in before.pop("memory.ChangeEvent") if SCOPE not in row]
    changed = set(after.pop("memory.Scope")) - set(before.pop("memory.Scope"))
    assert len(changed) == 1, "the floor of one scope"
    assert after == before


def test_what_has_no_number_yet_is_not_pruned_and_gets_the_next_one(five):
    five.ok("memory/write", scope=SCOPE, path="waiting", content="x")
    assert PendingChange.objects.count() == 1
    assert prune(five, position(SCOPE, 5), write=True)["removed"] == 5
    assert five.post("memory/prune_changes", scope=SCOPE, through=position(SCOPE, 6)).status == 400
    page = five.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 5))
    assert [(event["sequence"], event["path"]) for event in page["events"]] == [(6, "waiting")]


def test_a_scope_from_before_the_feed_has_no_position_to_prune_through(five):
    through = position(SCOPE, 3)
    ChangeEvent.objects.all().delete()
    Scope.objects.update(stream=None, origin=None, head=0)
    before = store_rows()
    for given in (through, position(SCOPE, 0)):
        answer = five.post("memory/prune_changes", scope=SCOPE, through=given, write=True)
        assert (answer.status, answer.message) == (400, "through is not a position of this stream")
    assert store_rows() == before


def test_a_restored_scope_is_pruned_like_any_other_and_stays_restored(wire):
    row = {"path": "a", "version": 1, "action": "created", "content": "x", "actor": None}
    row |= {"created_at": "2026-01-01T00:00:00Z", "redacted": False}
    wire.ok("store/restore_scope", scope=SCOPE, documents=[], versions=[row], redactions=[])
    wire.ok("memory/write", scope=SCOPE, path="a", content="y")
    wire.ok("memory/changes", scope=SCOPE)
    assert prune(wire, position(SCOPE, 1), write=True)["removed"] == 1
    assert wire.ok("memory/changes", scope=SCOPE)["gap"]["kind"] == "untracked"
    gap = wire.ok("memory/changes", scope=SCOPE, cursor=position(SCOPE, 0))["gap"]
    assert gap == {"kind": "retention", "lost_from": 1, "lost_through": 1}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"scope": "bad", "x": None, "through": 1, "write": 1}, "unknown parameter: 'x'"),
        ({"scope": "bad", "cursor": "x"}, "unknown parameter: 'cursor'"),
        ({"scope": 1, "through": 1, "write": 1}, "parameter 'scope' must be a string"),
        ({"scope": None, "through": 1}, "missing parameter: 'scope'"),
        ({"scope": "\ud800", "through": 1}, "parameter 'scope' holds a lone surrogate"),
        ({"scope": "bad", "through": [], "write": 1}, "parameter 'through' must be a string"),
        ({"scope": "bad", "through": "", "write": 1}, "malformed changes cursor"),
        ({"scope": "bad", "through": "x", "write": "true"}, "parameter 'write' must be a boolean"),
        ({"scope": "bad", "through": "x", "write": []}, "parameter 'write' must be a boolean"),
        ({"scope": "bad", "through": "x", "write": 0}, "parameter 'write' must be a boolean"),
    ],
)
def test_the_first_fault_in_the_contracts_order_answers(five, body, message):
    before = store_rows()
    answer = five.post("memory/prune_changes", {"scope": SCOPE, **body})
    assert (answer.status, answer.code, answer.message) == (400, "value_error", message)
    assert store_rows() == before


def test_the_scopes_grammar_comes_before_what_the_cursor_says(five):
    answer = five.post("memory/prune_changes", scope="bad", through="x", write=True)
    assert (answer.status, answer.code) == (400, "memory_scope_invalid")


def test_a_position_of_another_scope_is_refused_as_such(five):
    five.ok("memory/write", scope="workspace:other", path="a", content="x")
    for key in ("head_cursor", "floor_cursor"):
        through = five.ok("memory/changes", scope="workspace:other")[key]
        answer = five.post("memory/prune_changes", scope=SCOPE, through=through, write=True)
        assert (answer.status, answer.message) == (400, "cursor does not belong to this scope")
    listing = five.ok("memory/list_documents", scope=SCOPE, limit=1)["next_cursor"]
    answer = five.post("memory/prune_changes", scope=SCOPE, through=listing, write=True)
    assert (answer.status, answer.message) == (400, "malformed changes cursor")
    assert ChangeEvent.objects.filter(scope=SCOPE).count() == 5


def test_a_token_prunes_inside_its_allowance_and_nowhere_else(five):
    alice = five.as_("tok-alice")
    five.ok("memory/write", scope="user:alice", path="a", content="x")
    head = alice.ok("memory/changes", scope="user:alice")["head_cursor"]
    assert alice.ok("memory/prune_changes", scope="user:alice", through=head, write=True)["removed"] == 1
    before = store_rows()
    for more in ({"through": position(SCOPE, 3)}, {"through": "x"}, {"through": 5}, {}, {"unknown": 1}, {"write": 5}):
        answer = alice.post("memory/prune_changes", {"scope": SCOPE, **more})
        assert (answer.status, answer.code) == (403, "forbidden"), more
    assert store_rows() == before


@pytest.mark.parametrize("write", [False, True])
def test_a_prune_costs_the_same_for_few_events_and_for_many(wire, write):
    counts = []
    for scope, size in (("workspace:small", 2), ("workspace:large", 120)):
        for number in range(size):
            wire.ok("memory/write", scope=scope, path=f"n{number % 5}", content="x")
        wire.ok("memory/changes", scope=scope)
        through = position(scope, size)
        with CaptureQueriesContext(connection) as captured:
            pruned = wire.ok("memory/prune_changes", scope=scope, through=through, write=write)
        assert pruned["removed"] == size
        counts.append(len(captured))
    # The lock and what is done under it, in a transaction (here a savepoint).
    assert counts == [5 if write else 4] * 2


def test_a_refusal_asks_the_database_nothing(five, django_assert_num_queries):
    for more in ({"through": "x"}, {"through": None}, {"x": 1}, {"scope": "bad"}, {"through": "A" * 2049}):
        with django_assert_num_queries(0):
            assert five.post("memory/prune_changes", {"scope": SCOPE, "through": "x", **more}).status == 400
