"""Time: one clock, one spelling out, a strict reader in.

Sources: seeds/wire "The JSON shapes" (UTC with a Z out; any offset in, naive refused).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from neosian_site.core.errors import InvalidValue, quoted

# ISO 8601 has no lower-case letters, and only T or a blank may part date and time. The interpreter's reader takes
# any character there, and other versions of it take hour 24.
_SHAPE = re.compile(r"[0-9W-]+[T ][0-9:.,]+(?:Z|[+-][0-9:.,]+)?")
_HOUR_24 = re.compile(r"[T ]24")


def now() -> datetime:
    """The process clock in UTC, read once per operation."""
    return datetime.now(UTC)


def render(moment: datetime) -> str:
    """``moment`` in UTC as ``2026-01-02T03:04:05.000006Z``; a zero fraction is left out."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def parse(value: object) -> datetime:
    """The instant an ISO 8601 text with an offset names, in UTC, cut to microseconds.

    :raises InvalidValue: no text, unreadable, without an offset, or out of range once moved to UTC
    """
    if not isinstance(value, str):
        raise InvalidValue(f"malformed wire timestamp: {value!r}")
    if not _SHAPE.fullmatch(value) or _HOUR_24.search(value):
        raise InvalidValue(f"Invalid isoformat string: {quoted(value)}")
    try:
        moment = datetime.fromisoformat(value)
        if moment.tzinfo is None:
            raise InvalidValue(f"naive wire timestamp refused: {quoted(value)}")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidValue(str(error)) from error
