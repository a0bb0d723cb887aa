"""``memory/changes``: CE cases of the change feed's design, with exact values."""

from __future__ import annotations

import json

import pytest

from memory.models import ChangeEvent, PendingChange, Scope
from memory.operations import change_cursors, feed
from tests.contract.wire.feed_ground import events, position

SCOPE = "workspace:team"
NULL_CURSOR = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IixudWxsLDBd"
GAPLESS = {"gap": None}


def read(wire, **more):
    return wire.ok("memory/changes", scope=SCOPE, **more)


@pytest.fixture
def written(wire):
    """Three events: created, modified, renamed."""
    wire.ok("memory/write", scope=SCOPE, path="notes/a", content="one")
    wire.ok("memory/write", scope=SCOPE, path="notes/a", content="two")
    wire.ok("memory/rename", scope=SCOPE, src="notes/a", dst="notes/b")
    return wire


def test_the_specifications_cursors_are_minted():
    from uuid import UUID

    stream = UUID("5b0c1f1e-6a52-4d3c-9a3e-0f7a1c2d3e4f")
    assert change_cursors.mint(SCOPE, stream, 3) == (
        "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IiwiNWIwYzFmMWUtNmE1Mi00ZDNjLTlhM2UtMGY3YTFjMmQzZTRmIiwzXQ=="
    )


def test_an_untouched_scope_has_no_stream_and_reading_makes_none(wire):
    assert read(wire) == {
        "format": 1,
        "scope": SCOPE,
        "stream": None,
        "events": [],
        "checkpoint_cursor": NULL_CURSOR,
        "head_cursor": NULL_CURSOR,
        "floor_cursor": NULL_CURSOR,
        "gap": None,
    }
    assert not Scope.objects.exists()


def test_a_first_write_is_event_one_for_who_asks_from_the_start(wire):
    written = wire.ok("memory/write", scope=SCOPE, path="notes/a", content="x", actor="me")["document"]
    page = read(wire)
    assert page["events"] == [
        {
            "sequence": 1,
            "kind": "created",
            "path": "notes/a",
            "version": 1,
            "previous_path": None,
            "previous_version": None,
            "actor": "client:default/me",
            "count": None,
            "recorded_at": written["updated_at"],
        }
    ]
    assert page["checkpoint_cursor"] == page["head_cursor"] == position(SCOPE, 1)
    assert page["floor_cursor"] == position(SCOPE, 0)
    assert page["gap"] is None
    assert read(wire, cursor=NULL_CURSOR)["events"] == page["events"]


def test_every_mutation_is_one_event(written):
    wire = written
    wire.ok("memory/redact", scope=SCOPE, path="notes/b")
    wire.ok("memory/delete", scope=SCOPE, path="notes/b")
    wire.ok("memory/write", scope=SCOPE, path="notes/b", content="again")
    wire.ok("memory/redact", scope=SCOPE)
    page = read(wire)
    assert events(page) == [
        (1, "created", "notes/a", 1, None, None, None),
        (2, "modified", "notes/a", 2, None, None, None),
        (3, "renamed", "notes/b", 1, "notes/a", 3, None),
        (4, "erased", "notes/b", None, None, None, 1),
        (5, "deleted", "notes/b", 2, None, None, None),
        (6, "created", "notes/b", 3, None, None, None),
        (7, "erased", None, None, None, None, 2),
    ]
    assert "content" not in json.dumps(page)


def test_what_changes_nothing_is_no_event(written):
    head = read(written)["head_cursor"]
    assert written.ok("memory/delete", scope=SCOPE, path="absent") == {"deleted": False}
    assert written.ok("memory/redact", scope=SCOPE, path="absent") == {"count": 0}
    assert written.post("memory/rename", scope=SCOPE, src="absent", dst="x").status == 400
    assert written.post("memory/write", scope=SCOPE, path="notes/b", content="x", expected_version=9).status == 400
    written.ok("conversation/append_turn", conversation_id="c", messages=[{"role": "user", "content": "x"}])
    assert read(written)["head_cursor"] == head


def test_a_page_stops_at_its_limit_and_goes_on_from_its_checkpoint(written):
    first = read(written, limit=2)
    assert [event["sequence"] for event in first["events"]] == [1, 2]
    assert first["checkpoint_cursor"] == position(SCOPE, 2) != first["head_cursor"] == position(SCOPE, 3)
    rest = read(written, cursor=first["checkpoint_cursor"])
    assert [event["sequence"] for event in rest["events"]] == [3]
    assert rest["checkpoint_cursor"] == rest["head_cursor"]
    end = read(written, cursor=rest["checkpoint_cursor"])
    assert (end["events"], end["checkpoint_cursor"], end["gap"]) == ([], position(SCOPE, 3), None)


@pytest.mark.parametrize("limit", [0, 101, True, None, "1", 1.0, -1])
def test_a_limit_out_of_its_bounds_is_refused(wire, limit):
    answer = wire.post("memory/changes", scope=SCOPE, limit=limit)
    assert (answer.status, answer.code) == (400, "value_error")
    assert "limit" in answer.message


def test_refusals_come_in_the_contracts_order(wire):
    assert wire.post("memory/changes", scope="bad", since=1, limit=0).message == "unknown parameter: 'since'"
    assert wire.post("memory/changes", {}, limit=0).message == "missing parameter: 'scope'"
    assert wire.post("memory/changes", scope="bad", limit=0).message == "limit must be 1 to 100"
    assert wire.post("memory/changes", scope="bad", cursor="x").code == "memory_scope_invalid"
    assert wire.post("memory/changes", scope=SCOPE, cursor="x").message == "malformed changes cursor"


def test_a_cursor_of_another_scope_or_listing_is_refused(written):
    written.ok("memory/write", scope="workspace:other", path="a", content="x")
    other = written.ok("memory/changes", scope="workspace:other")["head_cursor"]
    assert written.post("memory/changes", scope=SCOPE, cursor=other).message == "cursor does not belong to this scope"
    listing = written.ok("memory/history", scope=SCOPE, limit=1)["next_cursor"]
    for cursor in (listing, "", "A" * 2049, "é", "WyJjaGFuZ2VzIl0=", "bnVsbA==", position(SCOPE, 1).rstrip("=")):
        answer = written.post("memory/changes", scope=SCOPE, cursor=cursor)
        assert (answer.status, answer.message) == (400, "malformed changes cursor"), cursor[:40]


def gap(wire, cursor=None):
    page = read(wire) if cursor is None else read(wire, cursor=cursor)
    assert page["events"] == []
    assert page["checkpoint_cursor"] == page["head_cursor"]
    return page["gap"]["kind"], page["gap"]["lost_from"], page["gap"]["lost_through"]


def test_data_from_before_the_feed_is_a_gap_until_it_was_read_in_full(wire):
    wire.ok("memory/write", scope=SCOPE, path="old", content="x")
    PendingChange.objects.all().delete()
    Scope.objects.update(stream=None, origin=None)
    assert gap(wire) == ("untracked", None, None)
    before = read(wire)
    assert (before["stream"], before["checkpoint_cursor"]) == (None, NULL_CURSOR)
    wire.ok("memory/write", scope=SCOPE, path="new", content="x")
    assert gap(wire) == ("untracked", None, None)
    assert read(wire)["checkpoint_cursor"] == position(SCOPE, 1)
    assert Scope.objects.get().origin == "untracked"
    # Who took the checkpoint before has missed nothing.
    assert events(read(wire, cursor=NULL_CURSOR)) == [(1, "created", "new", 1, None, None, None)]


def test_a_restored_scope_starts_over(wire):
    row = {"path": "a", "version": 1, "action": "created", "content": "x", "actor": None}
    row |= {"created_at": "2026-01-01T00:00:00Z", "redacted": False}
    wire.ok("store/restore_scope", scope=SCOPE, documents=[], versions=[row], redactions=[])
    assert gap(wire, NULL_CURSOR) == ("stream_reset", None, None)
    assert gap(wire) == ("untracked", None, None)
    wire.ok("memory/write", scope=SCOPE, path="a", content="y")
    assert events(read(wire, cursor=position(SCOPE, 0))) == [(1, "created", "a", 2, None, None, None)]


def test_an_empty_archive_makes_no_stream(wire):
    wire.ok("store/restore_scope", scope=SCOPE, documents=[], versions=[], redactions=[])
    assert read(wire)["stream"] is None


def test_storage_that_went_back_in_time_is_a_reset(written):
    read(written)
    late = position(SCOPE, 4)
    assert gap(written, late) == ("stream_reset", None, None)
    assert gap(written, position(SCOPE, 2**70)) == ("stream_reset", None, None)
    Scope.objects.update(stream="5b0c1f1e-6a52-4d3c-9a3e-0f7a1c2d3e4f")
    assert gap(written, late) == ("stream_reset", None, None)
    ChangeEvent.objects.all().delete()
    Scope.objects.update(stream=None, origin=None, head=0)
    assert gap(written, late) == ("stream_reset", None, None)


def test_an_operators_reset_resets_every_reader(written):
    from authz.caller import Caller
    from memory.operations import changes

    read(written)
    old = position(SCOPE, 3)
    written.ok("memory/write", scope=SCOPE, path="waiting", content="x")
    stream = changes.reset(Caller(Scope.objects.get().project_id, "admin:x"), scope=SCOPE)
    page = read(written, cursor=old)
    assert (page["stream"], page["gap"]["kind"]) == (str(stream), "stream_reset")
    assert read(written, cursor=page["checkpoint_cursor"])["events"] == []


def test_a_page_is_one_statement_where_nothing_waits(written, django_assert_num_queries):
    read(written)
    for count in (3, 60):
        for number in range(count):
            written.ok("memory/write", scope=SCOPE, path=f"n{count}/{number}", content="x")
        read(written)
        with django_assert_num_queries(1):
            read(written, limit=100)


def test_a_long_backlog_is_numbered_in_short_transactions(written, monkeypatch):
    monkeypatch.setattr(feed, "BATCH", 2)
    for number in range(5):
        written.ok("memory/write", scope=SCOPE, path=f"n{number}", content="x")
    assert [event["sequence"] for event in read(written)["events"]] == list(range(1, 9))
    assert not PendingChange.objects.exists()


def test_a_write_that_is_undone_leaves_no_event(wire):
    from django.db import transaction

    with transaction.atomic():
        wire.ok("memory/write", scope=SCOPE, path="a", content="x")
        transaction.set_rollback(True)
    assert read(wire)["stream"] is None
