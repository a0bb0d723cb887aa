"""Pages and bounds every listing shares (seeds/wire "Paging")."""

from __future__ import annotations

from dataclasses import dataclass

from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonBytes

MAX_PAGE_ROWS = 500


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of one listing as JSON objects, and the cursor of the next page (``None`` on the last)."""

    rows: list[JsonBytes]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class NumberedPage:
    """Rows of a conversation as JSON objects, and the turn number to go on after (``None``: nothing to go on)."""

    rows: list[JsonBytes]
    next_after: int | None


EMPTY_PAGE = Page([], None)
EMPTY_NUMBERED_PAGE = NumberedPage([], None)


def page_size(limit: int | None, default: int = MAX_PAGE_ROWS) -> int:
    """How many rows a page may hold: ``limit`` of any size, capped at 500; 0 asks for none.

    :raises InvalidValue: negative
    """
    if limit is None:
        return default
    if limit < 0:
        raise InvalidValue(f"limit must be >= 0, got {limit}")
    return min(limit, MAX_PAGE_ROWS)


def bounded(limit: int | None, default: int, refusal: str) -> int:
    """The bound of an answer that never pages.

    :raises InvalidValue: above 500 (``refusal`` says what to do), or below 1
    """
    if limit is None:
        return default
    if limit > MAX_PAGE_ROWS:
        raise InvalidValue(refusal)
    if limit < 1:
        raise InvalidValue(f"limit must be >= 1, got {limit}")
    return limit
