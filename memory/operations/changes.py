"""The change feed of a scope: read, prune, reset (seeds/wire "Optional change-feed version 1").

Events refer to documents and never hold content. A page either replays without a hole or names the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import transaction

from authz import access
from authz.caller import Caller
from memory.names import check_scope
from memory.operations import change_cursors, feed
from memory.operations.change_cursors import Position
from neosian_site.core import logs, sql
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonBytes

DEFAULT_EVENTS = 50
MAX_EVENTS = 100

_EVENT_JSON = sql.json_object(
    sequence="e.sequence",
    kind=sql.json_plain("e.kind"),
    path=sql.json_string("e.path"),
    version=sql.json_number("e.version"),
    previous_path=sql.json_string("e.previous_path"),
    previous_version=sql.json_number("e.previous_version"),
    actor=sql.json_string("e.actor"),
    count=sql.json_number("e.count"),
    recorded_at=sql.json_time("e.recorded_at"),
)

# One statement, so one snapshot: the stream, whether anything waits for its number, and the events after a position.
_PAGE = f"""
    SELECT s.stream, s.origin, s.head, s.floor,
        EXISTS (
            SELECT 1 FROM memory_pendingchange p WHERE p.project_id = s.project_id AND p.scope = s.name
        ),
        ARRAY(
            SELECT {_EVENT_JSON} FROM memory_changeevent e
            WHERE e.project_id = s.project_id AND e.scope = s.name AND e.sequence > %(after)s
            ORDER BY e.sequence
            LIMIT %(limit)s
        )
    FROM memory_scope s
    WHERE s.project_id = %(project)s AND s.name = %(scope)s
"""

_COUNT = """
    SELECT count(*) FROM memory_changeevent
    WHERE project_id = %(project)s AND scope = %(scope)s AND sequence <= %(through)s
"""
_REMOVE = """
    DELETE FROM memory_changeevent
    WHERE project_id = %(project)s AND scope = %(scope)s AND sequence <= %(through)s
"""
_RAISE_FLOOR = """
    UPDATE memory_scope SET floor = greatest(floor, %(through)s)
    WHERE project_id = %(project)s AND name = %(scope)s
"""
_FORGET_EVENTS = "DELETE FROM memory_changeevent WHERE project_id = %(project)s AND scope = %(scope)s"
_FORGET_PENDING = "DELETE FROM memory_pendingchange WHERE project_id = %(project)s AND scope = %(scope)s"
_NEW_STREAM = """
    UPDATE memory_scope SET stream = gen_random_uuid(), origin = 'restored', head = 0, floor = 0
    WHERE project_id = %(project)s AND name = %(scope)s
    RETURNING stream
"""
_RETAINED = """
    SELECT coalesce(max(sequence), 0) FROM memory_changeevent
    WHERE project_id = %(project)s AND scope = %(scope)s
      AND (recorded_at < %(before)s OR sequence <= %(beyond)s)
"""

_log = logs.logger(__name__)


@dataclass(frozen=True, slots=True)
class Gap:
    """Why events are missing; the numbers lost where they are known."""

    kind: Literal["untracked", "retention", "stream_reset"]
    lost_from: int | None = None
    lost_through: int | None = None


@dataclass(frozen=True, slots=True)
class Changes:
    """One page of a feed. With a gap there are no events, and the checkpoint is the head: read the scope in full."""

    scope: str
    stream: UUID | None
    events: list[JsonBytes]
    checkpoint: str
    head: str
    floor: str
    gap: Gap | None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a prune removed, or would remove; and the earliest position that replays after it."""

    scope: str
    removed: int
    write: bool
    earliest: str


class ScopeMissing(InvalidValue):
    """The project has no such scope."""


@dataclass(frozen=True, slots=True)
class _Stream:
    id: UUID | None
    origin: str | None
    head: int
    floor: int


def read(caller: Caller, *, scope: str, cursor: str | None = None, limit: int = DEFAULT_EVENTS) -> Changes:
    """The events after ``cursor``, oldest first, and where the feed begins and ends now.

    :raises InvalidValue: a cursor of another feed or another scope
    """
    access.read_scope(caller, scope)
    check_scope(scope)
    position = None if cursor is None else change_cursors.read(cursor, scope)
    after = 0 if position is None else min(position.sequence, sql.MAX_BIGINT)
    params = {"project": caller.project_id, "scope": scope, "after": after, "limit": limit}
    found = sql.row(_PAGE, params)
    if found is not None and found[4]:
        feed.number(caller.project_id, scope)
        found = sql.row(_PAGE, params)
    if found is None:
        stream, events = _Stream(None, None, 0, 0), []
    else:
        stream, events = _Stream(*found[:4]), found[5]
    gap = _gap(position, stream, holds_data=found is not None)
    replayed = [] if gap is not None else [JsonBytes(event) for event in events]
    at = stream.head if gap is not None else after + len(replayed)

    def spelled(sequence: int) -> str:
        return change_cursors.mint(scope, stream.id, sequence)

    return Changes(scope, stream.id, replayed, spelled(at), spelled(stream.head), spelled(stream.floor), gap)


def _gap(position: Position | None, stream: _Stream, *, holds_data: bool) -> Gap | None:
    """Why a reader at ``position`` cannot be told everything since; ``None`` where it can."""
    named = None if position is None else position.stream
    if stream.id is None:
        # Storage went back to before the stream began.
        if named is not None:
            return Gap("stream_reset")
        return Gap("untracked") if holds_data else None
    if position is None and stream.origin != "empty":
        return Gap("untracked")
    if named is None:
        # From the beginning, whoever says so.
        if stream.origin == "restored":
            return Gap("stream_reset")
        return Gap("retention", 1, stream.floor) if stream.floor > 0 else None
    assert position is not None, "only a position names a stream"
    if named != stream.id or position.sequence > stream.head:
        return Gap("stream_reset")
    if position.sequence < stream.floor:
        return Gap("retention", position.sequence + 1, stream.floor)
    return None


def prune(caller: Caller, *, scope: str, through: str, write: bool = False) -> Pruned:
    """Forget the events up to a position, or say how many that would be; documents and history are not touched.

    :raises InvalidValue: ``through`` is no cursor of this scope, or no position of its present stream
    """
    access.erase_scope(caller, scope)
    check_scope(scope)
    position = change_cursors.read(through, scope)
    params = {"project": caller.project_id, "scope": scope}
    with transaction.atomic():
        found = sql.row(feed.LOCK_STREAM, params)
        stream = None if found is None else _Stream(*found)
        if stream is None or stream.id is None or position.stream != stream.id or position.sequence > stream.head:
            raise InvalidValue("through is not a position of this stream")
        params["through"] = position.sequence
        if write:
            removed = sql.execute(_REMOVE, params)
            sql.execute(_RAISE_FLOOR, params)
        else:
            counted = sql.row(_COUNT, params)
            removed = 0 if counted is None else counted[0]
    if write:
        _log.info("change feed pruned", actor=caller.client, scope=scope, through=position.sequence, removed=removed)
    earliest = max(stream.floor, position.sequence)
    return Pruned(scope, removed, write, change_cursors.mint(scope, stream.id, earliest))


def retention_cursor(caller: Caller, *, scope: str, before: datetime | None, keep: int | None) -> str | None:
    """The cursor of the last event recorded before an instant or beyond the newest ``keep``; ``None`` for no event."""
    access.erase_scope(caller, scope)
    check_scope(scope)
    feed.number(caller.project_id, scope)
    params = {"project": caller.project_id, "scope": scope, "after": 0, "limit": 0}
    found = sql.row(_PAGE, params)
    if found is None or found[0] is None:
        return None
    stream = _Stream(*found[:4])
    beyond = 0 if keep is None else stream.head - keep
    last = sql.row(_RETAINED, {**params, "before": before or "-infinity", "beyond": beyond})
    return None if last is None or last[0] == 0 else change_cursors.mint(scope, stream.id, last[0])


def reset(caller: Caller, *, scope: str) -> UUID:
    """Give the scope a new, empty stream, which tells every reader to read the scope in full; the stream's id.

    To be run after the database was taken back to an earlier moment.

    :raises ScopeMissing: the project has no such scope
    """
    access.whole_store(caller)
    check_scope(scope)
    params = {"project": caller.project_id, "scope": scope}
    with transaction.atomic():
        if sql.row(feed.LOCK_STREAM, params) is None:
            raise ScopeMissing(f"no scope {scope!r} holds anything")
        sql.execute(_FORGET_EVENTS, params)
        sql.execute(_FORGET_PENDING, params)
        made = sql.row(_NEW_STREAM, params)
    assert made is not None, "the row is locked"
    stream: UUID = made[0]
    _log.info("change feed reset", actor=caller.client, scope=scope)
    return stream
