"""What tests of the change feed share."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from memory.models import Scope
from memory.operations import change_cursors
from tests.contract.wire.conversation_rows import store_rows

# The design's own scope with its tag, a stream, and cursors: of no stream, before its first event, after its third.
SCOPE, TAG = "workspace:team", "d63ed30a14ba7408"
STREAM, OTHER = UUID("5b0c1f1e-6a52-4d3c-9a3e-0f7a1c2d3e4f"), UUID("00000000-0000-4000-8000-000000000000")
N = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IixudWxsLDBd"
C0 = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IiwiNWIwYzFmMWUtNmE1Mi00ZDNjLTlhM2UtMGY3YTFjMmQzZTRmIiwwXQ=="
C3 = "WyJjaGFuZ2VzIiwxLCJkNjNlZDMwYTE0YmE3NDA4IiwiNWIwYzFmMWUtNmE1Mi00ZDNjLTlhM2UtMGY3YTFjMmQzZTRmIiwzXQ=="


def at(sequence: int, stream: UUID | None = STREAM, scope: str = SCOPE) -> str:
    """A cursor as the design spells it."""
    return change_cursors.mint(scope, stream, sequence)


def position(scope: str, sequence: int = 0, **where: Any) -> str:
    """The cursor of a position of the scope's present stream; of no stream where it has none."""
    held = Scope.objects.filter(name=scope, **where) if "\0" not in scope else Scope.objects.none()
    found = held.values_list("stream", flat=True).first()
    return change_cursors.mint(scope, found, sequence)


def events(page: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A page's events as tuples, without who and when."""
    keys = ("sequence", "kind", "path", "version", "previous_path", "previous_version", "count")
    return [tuple(event[key] for key in keys) for event in page["events"]]


def outcome(wire: Any, cursor: str | None) -> Any:
    """The numbers of the events, or the gap; whatever it is, the page's other members must fit it."""
    before = store_rows()
    page = wire.ok("memory/changes", scope=SCOPE, cursor=cursor)
    assert store_rows() == before, "reading changed something"
    keys = ["format", "scope", "stream", "events", "checkpoint_cursor", "head_cursor", "floor_cursor", "gap"]
    assert list(page) == keys
    (stream, head, floor) = Scope.objects.values_list("stream", "head", "floor").first() or (None, 0, 0)
    assert (page["format"], page["scope"]) == (1, SCOPE)
    assert page["stream"] == (None if stream is None else str(stream))
    assert page["head_cursor"] == at(head, stream)
    assert page["floor_cursor"] == at(floor, stream)
    assert page["checkpoint_cursor"] == page["head_cursor"], "everything fits one page here"
    if page["gap"] is None:
        return [event["sequence"] for event in page["events"]]
    assert page["events"] == []
    assert list(page["gap"]) == ["kind", "lost_from", "lost_through"]
    return tuple(page["gap"].values())
