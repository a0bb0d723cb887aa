"""What happened: version rows of a path, history of a scope, and the redaction trail (seeds/wire "Memory")."""

from __future__ import annotations

from datetime import datetime

from authz import access
from authz.caller import Caller
from memory.names import check_path, check_scope
from memory.operations.reading import REDACTION_JSON, VERSION_JSON, instant
from neosian_site.core import cursors, sql
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import EMPTY_PAGE, Page, page_size

DEFAULT_VERSIONS = 50

_VERSIONS = f"""
    SELECT {VERSION_JSON}, v.version
    FROM memory_documentversion v
    WHERE v.project_id = %(project)s AND v.scope = %(scope)s AND v.path = %(path)s AND v.version < %(before)s
    ORDER BY v.version DESC
    LIMIT %(limit)s
"""

# The first comparison bounds the index scan; the second one places the cursor inside a tie of times.
_HISTORY = f"""
    SELECT {VERSION_JSON}, v.created_at, v.path, v.version
    FROM memory_documentversion v
    WHERE v.project_id = %(project)s AND v.scope = %(scope)s
      AND v.created_at >= %(since)s AND v.created_at <= %(before)s
      AND (v.created_at < %(before)s OR v.path > %(path)s OR (v.path = %(path)s AND v.version < %(version)s))
    ORDER BY v.created_at DESC, v.path, v.version DESC
    LIMIT %(limit)s
"""

_REDACTIONS = f"""
    SELECT {REDACTION_JSON}, r.created_at, r.position
    FROM memory_redaction r
    WHERE r.project_id = %(project)s AND r.scope = %(scope)s
      AND r.created_at >= %(since)s AND r.created_at <= %(before)s
      AND (r.created_at < %(before)s OR r.position < %(position)s)
    ORDER BY r.created_at DESC, r.position DESC
    LIMIT %(limit)s
"""

_EVER = "-infinity"
_NEVER = "infinity"


def versions(caller: Caller, *, scope: str, path: str, cursor: str | None = None, limit: int | None = None) -> Page:
    """The version rows of one path, newest first; a deleted path's too."""
    access.read_scope(caller, scope)
    size = page_size(limit, DEFAULT_VERSIONS)
    check_scope(scope)
    check_path(path)
    if size == 0:
        return EMPTY_PAGE
    before = cursors.MAX_NUMBER if cursor is None else cursors.read("versions", cursor, int)[0]
    found = sql.rows(
        _VERSIONS,
        {"project": caller.project_id, "scope": scope, "path": path, "before": before, "limit": size + 1},
    )
    return _page(found, size, "versions")


def history(
    caller: Caller,
    *,
    scope: str,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page:
    """Every version row of every path of the scope, newest first; ties by path, then by number downwards."""
    access.read_scope(caller, scope)
    size = page_size(limit)
    check_scope(scope)
    if size == 0:
        return EMPTY_PAGE
    before: datetime | str = _NEVER
    path, version = "", cursors.MAX_NUMBER
    if cursor is not None:
        at, path, version = cursors.read("history", cursor, str, str, int)
        before = instant("history", at)
    found = sql.rows(
        _HISTORY,
        {
            "project": caller.project_id,
            "scope": scope,
            "since": since or _EVER,
            "before": before,
            "path": path,
            "version": version,
            "limit": size + 1,
        },
    )
    return _page(found, size, "history")


def redactions(
    caller: Caller,
    *,
    scope: str,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page:
    """The scope's redaction trail, newest first."""
    access.read_scope(caller, scope)
    size = page_size(limit)
    check_scope(scope)
    if size == 0:
        return EMPTY_PAGE
    before: datetime | str = _NEVER
    position = cursors.MAX_NUMBER
    if cursor is not None:
        at, position = cursors.read("trail", cursor, str, int)
        before = instant("trail", at)
    found = sql.rows(
        _REDACTIONS,
        {
            "project": caller.project_id,
            "scope": scope,
            "since": since or _EVER,
            "before": before,
            "position": position,
            "limit": size + 1,
        },
    )
    return _page(found, size, "trail")


def _page(found: list[sql.Row], size: int, listing: str) -> Page:
    """The page, its cursor made of the last row's remaining columns; a row beyond ``size`` says there is more."""
    page = found[:size]
    next_cursor = None
    if len(found) > size:
        position = [value.isoformat() if isinstance(value, datetime) else value for value in page[-1][1:]]
        next_cursor = cursors.mint(listing, *position)
    return Page([JsonBytes(row[0]) for row in page], next_cursor)
