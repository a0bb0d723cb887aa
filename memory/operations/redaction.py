"""Erasing documents (seeds/wire ``memory/redact``)."""

from __future__ import annotations

from django.db import transaction

from authz import access
from authz.caller import Caller
from memory.names import check_path, check_scope
from memory.operations import feed
from memory.operations.reading import HOLD_SCOPE
from neosian_site.core import clock, sql
from neosian_site.core.values import check_text

# A path with any history has its row in memory_document, deleted ones too, so these rows are the paths matched.
_MATCHED = """
    SELECT count(*) FROM memory_document
    WHERE project_id = %(project)s AND scope = %(scope)s {path}
"""
# Blanking removes the content from the row and from every index over it: the next search cannot find it.
_BLANK_DOCUMENTS = """
    UPDATE memory_document
    SET content = '', redacted = true,
        search_text = '', governance = 'unmanaged', effective_at = NULL, expires_at = NULL
    WHERE project_id = %(project)s AND scope = %(scope)s AND live AND NOT redacted {path}
"""
_BLANK_VERSIONS = """
    UPDATE memory_documentversion SET content = '', redacted = true
    WHERE project_id = %(project)s AND scope = %(scope)s AND NOT redacted {path}
"""
_RECORD = """
    WITH counted AS (
        UPDATE memory_scope SET acts = acts + 1
        WHERE project_id = %(project)s AND name = %(scope)s
        RETURNING project_id, name, acts
    )
    INSERT INTO memory_redaction (project_id, scope, position, path, actor, created_at, count)
    SELECT project_id, name, acts, %(path)s, %(actor)s, %(now)s, %(count)s FROM counted
"""


def redact(caller: Caller, *, scope: str, path: str | None = None, actor: str | None = None) -> int:
    """Blank one path, or every path of the scope; the number of paths matched, repeated and deleted ones included.

    Numbers, times, actors and ``extra`` stay. An act that matched anything leaves a row in the trail.
    """
    access.erase_scope(caller, scope)
    check_scope(scope)
    if path is not None:
        check_path(path)
    check_text("actor", actor)
    params = {
        "project": caller.project_id,
        "scope": scope,
        "path": path,
        "actor": caller.recorded_as(actor),
        "now": clock.now(),
    }
    narrowed = "" if path is None else "AND path = %(path)s"
    with transaction.atomic():
        sql.execute(f"SELECT {HOLD_SCOPE}", params)
        matched = sql.row(_MATCHED.format(path=narrowed), params)
        count: int = matched[0] if matched is not None else 0
        if count == 0:
            return 0
        sql.execute(_BLANK_DOCUMENTS.format(path=narrowed), params)
        sql.execute(_BLANK_VERSIONS.format(path=narrowed), params)
        sql.execute(_RECORD, {**params, "count": count})
        feed.note(params, "erased", count=count)
    return count
