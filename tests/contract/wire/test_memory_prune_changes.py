"""``memory/prune_changes``: preview and removal, and what readers are told afterwards."""

from __future__ import annotations

import pytest

from memory.models import ChangeEvent
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
