"""Positions of a change feed as cursors: opaque, bound to their scope, without any authority."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from uuid import UUID

from neosian_site.core import cursors
from neosian_site.core.errors import InvalidValue

MAX_BYTES = 2048
_NAME, _VERSION = "changes", 1


@dataclass(frozen=True, slots=True)
class Position:
    """After event ``sequence`` of a stream; ``stream`` is ``None`` where the scope had none yet."""

    stream: UUID | None
    sequence: int


def mint(scope: str, stream: UUID | None, sequence: int) -> str:
    """The cursor of a position."""
    return cursors.pack([_NAME, _VERSION, _tag(scope), None if stream is None else str(stream), sequence])


def read(cursor: str, scope: str) -> Position:
    """The position a cursor stands for.

    :raises InvalidValue: no cursor of a change feed, or one of another scope
    """
    refusal = InvalidValue("malformed changes cursor")
    if len(cursor) > MAX_BYTES:
        raise refusal
    parts = cursors.unpack(cursor)
    if parts is None or len(parts) != 5 or parts[0] != _NAME or type(parts[1]) is not int or parts[1] != _VERSION:
        raise refusal
    tag, stream, sequence = parts[2:]
    if type(tag) is not str or type(sequence) is not int or sequence < 0 or not _canonical(stream):
        raise refusal
    if stream is None and sequence != 0:
        raise refusal
    if tag != _tag(scope):
        raise InvalidValue("cursor does not belong to this scope")
    return Position(None if stream is None else UUID(stream), sequence)


def _tag(scope: str) -> str:
    return hashlib.sha256(scope.encode()).hexdigest()[:16]


def _canonical(stream: object) -> bool:
    if stream is None:
        return True
    try:
        return isinstance(stream, str) and str(UUID(stream)) == stream
    except ValueError:
        return False
