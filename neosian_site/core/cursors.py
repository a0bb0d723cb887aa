"""Opaque cursors: the last row's position in a listing's own order.

A cursor is the URL-safe base64 of a compact JSON array, the listing's name first. It is not signed: a forged one is
just another position in an order the caller may read anyway, and access is judged on every page.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.text import storable

MAX_CURSOR_CHARS = 4096
# Positions are compared with bigint columns.
MAX_NUMBER = 2**63 - 1


def mint(listing: str, *position: str | int) -> str:
    """The cursor of ``listing`` that stands after ``position``."""
    packed = json.dumps([listing, *position], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def read(listing: str, cursor: str, *kinds: type) -> tuple[Any, ...]:
    """The position ``cursor`` stands for: one value for each of ``kinds`` (``str`` or ``int``).

    :raises InvalidValue: another listing's cursor, or none at all
    """
    refusal = InvalidValue(f"malformed {listing} cursor: {quoted(cursor[:100])}")
    if not cursor or len(cursor) > MAX_CURSOR_CHARS:
        raise refusal
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        parts = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        raise refusal from None
    if not isinstance(parts, list) or len(parts) != len(kinds) + 1 or parts[0] != listing:
        raise refusal
    for part, kind in zip(parts[1:], kinds, strict=True):
        if type(part) is not kind or not _comparable(part):
            raise refusal
    return tuple(parts[1:])


def pack(parts: list[Any]) -> str:
    """The parts of a cursor whose payload a specification fixes: padded URL-safe base64 of compact ASCII JSON."""
    return base64.urlsafe_b64encode(json.dumps(parts, separators=(",", ":")).encode()).decode()


def unpack(cursor: str) -> list[Any] | None:
    """The parts :func:`pack` spelled, or ``None`` for anything else."""
    try:
        parts = json.loads(base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True))
    except (ValueError, RecursionError):
        return None
    return parts if isinstance(parts, list) else None


def _comparable(part: Any) -> bool:
    """Whether the database can take the value at all."""
    if isinstance(part, int):
        return -MAX_NUMBER <= part <= MAX_NUMBER
    return isinstance(part, str) and storable(part)
