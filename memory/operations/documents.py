"""Documents: read, write, delete, rename, list (seeds/wire "Memory").

The change of a document, its version row and its event in the change feed commit together or not at all. Locks are
taken in one order: the scope (shared by changes of one path, alone by changes of several), then documents.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from authz import access
from authz.caller import Caller
from memory.errors import (
    DestinationExists,
    DocumentAbsent,
    DocumentNotFound,
    MemoryFormatUnsupported,
    VersionMismatch,
)
from memory.names import check_path, check_scope
from memory.operations import feed
from memory.operations.finding import FOUND_BY, FOUND_BY_VALUES, found_by
from memory.operations.reading import (
    DOCUMENT_JSON,
    ENTRY_JSON,
    HOLD_SCOPE,
    SHARE_SCOPE,
    check_format,
)
from neosian_site.core import clock, cursors, sql
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import EMPTY_PAGE, Page, page_size
from neosian_site.core.values import check_text

_READ = f"""
    SELECT {DOCUMENT_JSON}, d.format
    FROM memory_document d
    WHERE d.project_id = %s AND d.scope = %s AND d.path = %s AND d.live
"""

# One statement, so one round trip and one commit. It shares the scope with other writers and shuts out whoever changes
# the scope as a whole. The document's upsert reads the CTE and therefore runs once the scope is held, and ON CONFLICT
# works on the newest committed row, not on the snapshot the statement began with: racing writers of one path get
# consecutive numbers, and writers of different paths never wait for each other's commit. A row of a format we do not
# know turns the NOT NULL column ``format`` into NULL and so undoes the whole statement.
_WRITE = f"""
    WITH held AS MATERIALIZED (
        SELECT {SHARE_SCOPE}
    ), s AS (
        INSERT INTO memory_scope (project_id, name, acts, created_at, stream, origin)
        SELECT %(project)s, %(scope)s, 0, %(now)s, gen_random_uuid(), 'empty' FROM held
        ON CONFLICT (project_id, name) DO NOTHING
    ), d AS (
        INSERT INTO memory_document AS d (
            project_id, scope, path, live, version, last_version, content, extra, actor, redacted,
            created_at, updated_at, created_version, format, {FOUND_BY}
        )
        SELECT %(project)s, %(scope)s, %(path)s, true, 1, 1, %(content)s, '{{}}', %(actor)s, false,
               %(now)s, %(now)s, 1, 1, {FOUND_BY_VALUES}
        FROM held
        ON CONFLICT (project_id, scope, path) DO UPDATE SET
            live = true,
            version = d.last_version + 1,
            last_version = d.last_version + 1,
            content = excluded.content,
            actor = excluded.actor,
            redacted = false,
            extra = CASE WHEN d.live THEN d.extra ELSE excluded.extra END,
            created_at = CASE WHEN d.live THEN d.created_at ELSE excluded.created_at END,
            updated_at = excluded.updated_at,
            created_version = CASE WHEN d.live THEN d.created_version ELSE d.last_version + 1 END,
            format = CASE WHEN d.format = 1 THEN d.format END,
            search_text = excluded.search_text,
            governance = excluded.governance,
            effective_at = excluded.effective_at,
            expires_at = excluded.expires_at
        RETURNING d.*
    ), v AS (
        INSERT INTO memory_documentversion (
            project_id, scope, path, version, action, content, actor, redacted, created_at
        )
        SELECT d.project_id, d.scope, d.path, d.version,
               CASE WHEN d.version = d.created_version THEN 'created' ELSE 'modified' END,
               d.content, d.actor, false, d.updated_at
        FROM d
    ), c AS (
        INSERT INTO memory_pendingchange (project_id, scope, kind, path, version, actor, recorded_at)
        SELECT d.project_id, d.scope, CASE WHEN d.version = d.created_version THEN 'created' ELSE 'modified' END,
               d.path, d.version, d.actor, d.updated_at
        FROM d
    )
    SELECT {DOCUMENT_JSON} FROM d
"""

_ADD_VERSION = """
    INSERT INTO memory_documentversion (
        project_id, scope, path, version, action, content, actor, redacted, created_at
    ) VALUES (
        %(project)s, %(scope)s, %(path)s, %(version)s, %(action)s, %(content)s, %(actor)s, %(redacted)s, %(now)s
    )
"""

_LIVE = """
    SELECT last_version, content, redacted, extra::text, version, format
    FROM memory_document
    WHERE project_id = %(project)s AND scope = %(scope)s AND path = %(path)s AND live
    FOR UPDATE
"""

# A buried row keeps the path's counter and nothing of the document.
_BURY = """
    UPDATE memory_document
    SET live = false, content = '', extra = '{}', redacted = false,
        search_text = '', governance = 'unmanaged', effective_at = NULL, expires_at = NULL,
        version = last_version + 1, last_version = last_version + 1, updated_at = %(now)s
    WHERE project_id = %(project)s AND scope = %(scope)s AND path = %(path)s
"""

_MOVE_IN = f"""
    INSERT INTO memory_document AS d (
        project_id, scope, path, live, version, last_version, content, extra, actor, redacted,
        created_at, updated_at, created_version, format, {FOUND_BY}
    ) VALUES (
        %(project)s, %(scope)s, %(path)s, true, 1, 1, %(content)s, %(extra)s, %(actor)s, %(redacted)s,
        %(now)s, %(now)s, 1, 1, {FOUND_BY_VALUES}
    )
    ON CONFLICT (project_id, scope, path) DO UPDATE SET
        live = true, version = d.last_version + 1, last_version = d.last_version + 1,
        created_version = d.last_version + 1, content = excluded.content, extra = excluded.extra,
        actor = excluded.actor, redacted = excluded.redacted,
        created_at = excluded.created_at, updated_at = excluded.updated_at,
        search_text = excluded.search_text, governance = excluded.governance,
        effective_at = excluded.effective_at, expires_at = excluded.expires_at
    WHERE d.format = 1
    RETURNING {DOCUMENT_JSON}, d.version
"""


def _list(below: str) -> str:
    return f"""
        SELECT {ENTRY_JSON}, d.path, d.format
        FROM memory_document d
        WHERE d.project_id = %(project)s AND d.scope = %(scope)s AND d.live
          AND d.path >= %(from)s AND d.path > %(after)s {below}
        ORDER BY d.path
        LIMIT %(limit)s
    """


_LIST_ALL = _list("")
_LIST_PREFIX = _list("AND d.path < %(below)s")


def read(caller: Caller, *, scope: str, path: str) -> JsonBytes | None:
    """The live document, redacted ones with empty content; ``None`` when there is none."""
    access.read_scope(caller, scope)
    check_scope(scope)
    check_path(path)
    found = sql.row(_READ, (caller.project_id, scope, path))
    if found is None:
        return None
    check_format(found[1], scope, path)
    return JsonBytes(found[0])


def write(
    caller: Caller,
    *,
    scope: str,
    path: str,
    content: str,
    actor: str | None = None,
    expected_version: int | None = None,
) -> JsonBytes:
    """The document as written, under the next number of its path.

    :raises VersionMismatch: the live document is not at ``expected_version``
    :raises DocumentAbsent: a version was expected and there is no live document
    """
    access.write_scope(caller, scope)
    check_scope(scope)
    check_path(path)
    check_text("content", content)
    check_text("actor", actor)
    params = _params(caller, scope, path, actor=caller.recorded_as(actor), content=content, **found_by(path, content))
    try:
        if expected_version is None:
            written = sql.row(_WRITE, params)
        else:
            with transaction.atomic():
                _check_version(params, expected_version)
                written = sql.row(_WRITE, params)
    except IntegrityError as error:
        if getattr(getattr(error.__cause__, "diag", None), "column_name", None) != "format":
            raise
        raise MemoryFormatUnsupported(scope, path, "the stored document is of another format") from error
    assert written is not None, "an upsert always answers its row"
    return JsonBytes(written[0])


def _check_version(params: dict[str, Any], expected: int) -> None:
    scope, path = params["scope"], params["path"]
    sql.execute(f"SELECT {SHARE_SCOPE}", params)
    live = sql.row(_LIVE, params)
    if live is None:
        raise DocumentAbsent(scope, path, expected_version=expected)
    check_format(live[5], scope, path)
    if live[4] != expected:
        raise VersionMismatch(scope, path, expected_version=expected, actual_version=live[4])


def delete(caller: Caller, *, scope: str, path: str, actor: str | None = None) -> bool:
    """Whether there was a live document; its deletion takes the path's next number."""
    access.write_scope(caller, scope)
    check_scope(scope)
    check_path(path)
    check_text("actor", actor)
    params = _params(caller, scope, path, actor=caller.recorded_as(actor))
    with transaction.atomic():
        sql.execute(f"SELECT {SHARE_SCOPE}", params)
        live = sql.row(_LIVE, params)
        if live is None:
            return False
        check_format(live[5], scope, path)
        _bury(params, live)
        feed.note(params, "deleted", version=live[0] + 1)
    return True


def _bury(params: dict[str, Any], live: sql.Row) -> None:
    last_version, content, redacted = live[:3]
    sql.execute(_BURY, params)
    sql.execute(
        _ADD_VERSION,
        {**params, "version": last_version + 1, "action": "deleted", "content": content, "redacted": redacted},
    )


def rename(caller: Caller, *, scope: str, src: str, dst: str, actor: str | None = None) -> JsonBytes:
    """The document at its new path: a ``deleted`` row at ``src`` and a ``created`` one at ``dst``, at one time.

    :raises DocumentNotFound: no live document at ``src``
    :raises DestinationExists: a live document at ``dst`` (``src`` itself included)
    """
    access.write_scope(caller, scope)
    check_scope(scope)
    check_path(src)
    check_path(dst)
    check_text("actor", actor)
    source = _params(caller, scope, src, actor=caller.recorded_as(actor))
    target = {**source, "path": dst}
    with transaction.atomic():
        sql.execute(f"SELECT {HOLD_SCOPE}", source)
        live = sql.row(_LIVE, source)
        if live is None:
            raise DocumentNotFound(scope, src)
        check_format(live[5], scope, src)
        if sql.row(_LIVE, target) is not None:
            raise DestinationExists(scope, dst)
        _, content, redacted, extra, _, _ = live
        _bury(source, live)
        carried = {**target, "content": content, "redacted": redacted, "extra": extra}
        carried |= found_by(dst, content, redacted=redacted)
        moved = sql.row(_MOVE_IN, carried)
        if moved is None:
            raise MemoryFormatUnsupported(scope, dst, "the path's stored row is of another format")
        sql.execute(_ADD_VERSION, {**carried, "version": moved[1], "action": "created"})
        feed.note(target, "renamed", version=moved[1], previous_path=src, previous_version=live[0] + 1)
    return JsonBytes(moved[0])


def list_documents(
    caller: Caller,
    *,
    scope: str,
    prefix: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
) -> Page:
    """Live documents by path, bytewise; ``prefix`` is literal text."""
    access.read_scope(caller, scope)
    size = page_size(limit)
    check_scope(scope)
    if size == 0:
        return EMPTY_PAGE
    after = "" if cursor is None else cursors.read("list", cursor, str)[0]
    params = {"project": caller.project_id, "scope": scope, "after": after, "from": "", "limit": size + 1}
    statement = _LIST_ALL
    if prefix:
        # Paths are ASCII: a prefix with anything else matches none, and must not reach a database that refuses it.
        if not prefix.isascii() or "\0" in prefix or prefix[-1] == "\x7f":
            return EMPTY_PAGE
        params |= {"from": prefix, "below": prefix[:-1] + chr(ord(prefix[-1]) + 1)}
        statement = _LIST_PREFIX
    found = sql.rows(statement, params)
    for _, path, row_format in found:
        check_format(row_format, scope, path)
    page = found[:size]
    return Page(
        [JsonBytes(entry) for entry, _, _ in page],
        cursors.mint("list", page[-1][1]) if len(found) > size else None,
    )


def _params(caller: Caller, scope: str, path: str, **more: Any) -> dict[str, Any]:
    now: datetime = clock.now()
    return {"project": caller.project_id, "scope": scope, "path": path, "now": now, **more}
