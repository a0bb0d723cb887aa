"""Results as wire answers. Rows are JSON already; an answer puts them under its key."""

from __future__ import annotations

from collections.abc import Iterable

from memory.operations.changes import Changes, Pruned
from neosian_site.core import jsonio
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import NumberedPage, Page
from search.operations.documents import SearchPage

EMPTY = b"{}"


def one(key: str, value: JsonBytes | None) -> bytes:
    """An object, or null."""
    return b'{"%b":%b}' % (key.encode(), b"null" if value is None else value)


def plain(key: str, value: bool | int | list[str]) -> bytes:
    """A flag, a number or a list of names."""
    return f'{{"{key}":{jsonio.text(value)}}}'.encode()


def many(key: str, rows: Iterable[JsonBytes]) -> bytes:
    """A bounded answer, which never pages."""
    return b'{"%b":[%b]}' % (key.encode(), b",".join(rows))


def page(key: str, found: Page) -> bytes:
    """A memory listing with its continuation."""
    cursor = "null" if found.next_cursor is None else f'"{found.next_cursor}"'
    return _continued(key, found.rows, f'"next_cursor":{cursor}')


def numbered_page(key: str, found: NumberedPage) -> bytes:
    """A conversation read with its continuation."""
    after = "null" if found.next_after is None else found.next_after
    return _continued(key, found.rows, f'"next_after":{after}')


def search_page(found: SearchPage) -> bytes:
    """A page of hits with its continuation."""
    return f'{{"hits":[{",".join(found.hits)}],"next_cursor":{jsonio.text(found.next_cursor)}}}'.encode()


def changes(found: Changes) -> bytes:
    """A page of a change feed."""
    gap = found.gap and {
        "kind": found.gap.kind,
        "lost_from": found.gap.lost_from,
        "lost_through": found.gap.lost_through,
    }
    lead = jsonio.text({"format": 1, "scope": found.scope, "stream": found.stream and str(found.stream)})
    cursors = {
        "checkpoint_cursor": found.checkpoint,
        "head_cursor": found.head,
        "floor_cursor": found.floor,
        "gap": gap,
    }
    return b'%b,"events":[%b],%b' % (lead[:-1].encode(), b",".join(found.events), jsonio.text(cursors)[1:].encode())


def pruned(found: Pruned) -> bytes:
    """What a prune removed, or would."""
    return jsonio.text(
        {
            "format": 1,
            "scope": found.scope,
            "removed": found.removed,
            "write": found.write,
            "earliest_cursor": found.earliest,
        }
    ).encode()


def _continued(key: str, rows: Iterable[JsonBytes], continuation: str) -> bytes:
    return b'{"%b":[%b],%b}' % (key.encode(), b",".join(rows), continuation.encode())
