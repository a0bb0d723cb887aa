"""Results as wire answers. Rows are JSON already; an answer puts them under its key."""

from __future__ import annotations

from collections.abc import Iterable

from neosian_site.core import jsonio
from neosian_site.core.jsonio import JsonText
from neosian_site.core.paging import NumberedPage, Page

EMPTY = "{}"


def one(key: str, value: JsonText | None) -> str:
    """An object, or null."""
    return f'{{"{key}":{"null" if value is None else value}}}'


def plain(key: str, value: bool | int | list[str]) -> str:
    """A flag, a number or a list of names."""
    return f'{{"{key}":{jsonio.text(value)}}}'


def many(key: str, rows: Iterable[JsonText]) -> str:
    """A bounded answer, which never pages."""
    return f'{{"{key}":[{",".join(rows)}]}}'


def page(key: str, found: Page) -> str:
    """A memory listing with its continuation."""
    cursor = "null" if found.next_cursor is None else f'"{found.next_cursor}"'
    return f'{{"{key}":[{",".join(found.rows)}],"next_cursor":{cursor}}}'


def numbered_page(key: str, found: NumberedPage) -> str:
    """A conversation read with its continuation."""
    after = "null" if found.next_after is None else found.next_after
    return f'{{"{key}":[{",".join(found.rows)}],"next_after":{after}}}'
