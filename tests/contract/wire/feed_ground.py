"""What tests of the change feed share."""

from __future__ import annotations

from typing import Any

from memory.models import Scope
from memory.operations import change_cursors


def position(scope: str, sequence: int = 0, **where: Any) -> str:
    """The cursor of a position of the scope's present stream; of no stream where it has none."""
    held = Scope.objects.filter(name=scope, **where) if "\0" not in scope else Scope.objects.none()
    found = held.values_list("stream", flat=True).first()
    return change_cursors.mint(scope, found, sequence)


def events(page: dict[str, Any]) -> list[tuple[Any, ...]]:
    """A page's events as tuples, without who and when."""
    keys = ("sequence", "kind", "path", "version", "previous_path", "previous_version", "count")
    return [tuple(event[key] for key in keys) for event in page["events"]]
