"""Searching documents (seeds/wire "Memory search version 1").

Exact and indexed: a hit holds every term in one of the selected strings, folded scalar by scalar; nothing is a
wildcard, no ranking, ascending paths. How a page is found (docs/decisions): the first documents of the scope are
read as they come, which answers a common term or a small scope at once; otherwise the trigram index narrows; where
it cannot (short terms, paths alone, metadata), the scope is read in path order. Every page is of one snapshot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from authz import access
from authz.caller import Caller
from memory.names import check_scope
from memory.operations.reading import check_format
from neosian_site.core import canonical, clock, cursors, jsonio
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonText
from neosian_site.core.names import path_fault
from neosian_site.core.text import fold, split_white_space, storable
from search import limits
from search.operations import document_metadata, document_statements
from search.operations.document_statements import EXCERPT_CHARS, EXCERPT_LEAD, Found, Wanted

_NAME, _VERSION = "memory_search", 1


@dataclass(frozen=True, slots=True)
class SearchPage:
    """Hits as JSON objects, and the cursor of the next page (``None`` on the last)."""

    hits: list[JsonText]
    next_cursor: str | None


def search(
    caller: Caller,
    *,
    scope: str,
    query: str,
    prefix: str = "",
    fields: Sequence[str] = ("path", "content"),
    metadata_keys: Sequence[str] = (),
    limit: int = limits.DEFAULT_HITS,
    cursor: str | None = None,
    knowledge_policy: str = "all",
) -> SearchPage:
    """The next ``limit`` current documents, by path, in which every term of ``query`` occurs.

    :param prefix: literal start of the paths looked at
    :param fields: what is looked at: ``path``, ``content``, ``metadata``
    :param metadata_keys: with ``metadata``: the top-level keys of ``extra`` whose strings are looked at
    :param knowledge_policy: ``all``, ``effective`` or ``approved`` documents, judged at one instant before matching
    :raises InvalidValue: a cursor of another search
    """
    access.read_scope(caller, scope)
    check_scope(scope)
    bind = canonical.digest(
        {
            "fields": sorted(fields),
            "knowledge_policy": knowledge_policy,
            "metadata_keys": sorted(metadata_keys),
            "prefix": prefix,
            "query": query,
            "scope": scope,
        }
    )
    after = "" if cursor is None else _position(cursor, bind)
    terms = tuple(dict.fromkeys(fold(term) for term in split_white_space(query)))
    # Paths are ASCII, and no stored text holds a NUL: such a question has no answer, and must not reach the database.
    if not prefix.isascii() or not all(storable(text) for text in (prefix, *terms)):
        return SearchPage([], None)
    wanted = Wanted(
        project_id=caller.project_id,
        scope=scope,
        terms=terms,
        after=after,
        prefix=prefix,
        path="path" in fields,
        content="content" in fields,
        policy=knowledge_policy,
        now=clock.now(),
        limit=limit,
    )
    if "metadata" in fields:
        found = document_metadata.find(wanted, sorted(metadata_keys))
    else:
        found = document_statements.find(wanted)
    page = found[:limit]
    for row in page:
        check_format(row.format, scope, row.path)
    more = len(found) > limit
    return SearchPage(
        [jsonio.text(_hit(scope, row, wanted)) for row in page],
        cursors.pack([_NAME, _VERSION, bind, page[-1].path]) if more else None,
    )


def _position(cursor: str, bind: str) -> str:
    """The last path of the page before.

    :raises InvalidValue: no cursor of a search, or one of another search
    """
    parts = cursors.unpack(cursor)
    if parts is None or len(parts) != 4 or parts[0] != _NAME or type(parts[1]) is not int or parts[1] != _VERSION:
        raise InvalidValue("malformed search cursor")
    bound, path = parts[2:]
    if not isinstance(bound, str) or not isinstance(path, str) or path_fault(path) is not None:
        raise InvalidValue("malformed search cursor")
    if bound != bind:
        raise InvalidValue("cursor does not belong to this search")
    return path


def _hit(scope: str, row: Found, wanted: Wanted) -> dict[str, Any]:
    matched = [
        name
        for name, hit in (
            ("path", row.path_matches),
            ("content", row.content_at is not None),
            ("metadata", row.metadata is not None),
        )
        if hit
    ]
    return {
        "scope": scope,
        "path": row.path,
        "version": row.version,
        "created_at": _time(row.created_at),
        "updated_at": _time(row.updated_at),
        "actor": row.actor,
        "matched_fields": matched,
        "excerpt": _excerpt(row, wanted),
    }


def _excerpt(row: Found, wanted: Wanted) -> dict[str, Any]:
    """Content before metadata before path, whichever a term matches first."""
    if row.content_at is not None:
        return _shape("content", None, row.content_at, row.content_text or "")
    if row.metadata is not None:
        return _shape("metadata", row.metadata.key, row.metadata.offset, row.metadata.text)
    folded = fold(row.path)
    at = min(place for place in (folded.find(term) for term in wanted.terms) if place >= 0)
    start = max(0, at - EXCERPT_LEAD)
    return _shape("path", None, start, row.path[start : start + EXCERPT_CHARS])


def _shape(field: str, key: str | None, offset: int, text: str) -> dict[str, Any]:
    return {"field": field, "metadata_key": key, "offset": offset, "text": text}


def _time(moment: datetime) -> str:
    return clock.render(moment)
