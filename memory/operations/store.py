"""Moving scopes whole: enumerate and restore (seeds/wire "Store")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.db import transaction

from authz import access
from authz.caller import Caller
from memory.archive import ScopeArchive
from memory.errors import ScopeOccupied
from memory.names import check_path, check_scope
from memory.operations.finding import BURIED, restored_as
from memory.operations.reading import HOLD_SCOPE
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue

_SCOPES = "SELECT name FROM memory_scope WHERE project_id = %s ORDER BY name"

# A scope's row exists exactly where the scope holds a document, a version row or a redaction: making it is the
# emptiness check. Racing restores and writes are shut out by the scope's lock.
_OCCUPY = """
    INSERT INTO memory_scope (project_id, name, acts, created_at, stream, origin)
    VALUES (%(project)s, %(scope)s, %(acts)s, %(now)s, gen_random_uuid(), 'restored')
    ON CONFLICT (project_id, name) DO NOTHING
    RETURNING acts
"""
_OCCUPIED = "SELECT 1 FROM memory_scope WHERE project_id = %(project)s AND name = %(scope)s"


def scopes(caller: Caller) -> list[str]:
    """Every scope that holds a document, a version row or a redaction, sorted by code point."""
    access.whole_store(caller)
    return [name for (name,) in sql.rows(_SCOPES, (caller.project_id,))]


def restore_scope(caller: Caller, *, scope: str, archive: ScopeArchive) -> None:
    """Fill an empty scope with an archive's rows, verbatim, in one transaction.

    Numbers, times and actors are the archive's; later writes number on from the highest one known for their path. An
    empty archive makes nothing.

    :raises ScopeOccupied: the scope holds a document, a version row or a redaction
    :raises InvalidValue: rows that contradict each other or the scope
    """
    access.whole_store(caller)
    check_scope(scope)
    for path in _paths(archive):
        check_path(path)
    _check(scope, archive)
    params = {
        "project": caller.project_id,
        "scope": scope,
        "acts": len(archive.redactions),
        "now": clock.now(),
    }
    if archive.empty:
        if sql.row(_OCCUPIED, params) is not None:
            raise ScopeOccupied(scope)
        return
    with transaction.atomic():
        sql.execute(f"SELECT {HOLD_SCOPE}", params)
        if sql.row(_OCCUPY, params) is None:
            raise ScopeOccupied(scope)
        key = (caller.project_id, scope)
        sql.copy("memory_document", _DOCUMENT_COLUMNS, _document_rows(key, archive))
        sql.copy("memory_documentversion", _VERSION_COLUMNS, _version_rows(key, archive))
        sql.copy("memory_redaction", _REDACTION_COLUMNS, _redaction_rows(key, archive))


def _paths(archive: ScopeArchive) -> Iterator[str]:
    for rows in (archive.documents, archive.versions, archive.redactions):
        for row in rows:
            if row.path is not None:
                yield row.path


def _check(scope: str, archive: ScopeArchive) -> None:
    """What a row says must be what it can be read back as."""
    seen: set[Any] = set()
    for document in archive.documents:
        if document.scope != scope:
            raise InvalidValue(f"a document's scope is not {scope!r}")
        if document.redacted and document.content:
            raise InvalidValue(f"the redacted document {document.path!r} carries content")
        if document.path in seen:
            raise InvalidValue(f"two documents at {document.path!r}")
        seen.add(document.path)
    for version in archive.versions:
        if version.redacted and version.content:
            raise InvalidValue(f"the redacted version {version.version} of {version.path!r} carries content")
        if (version.path, version.version) in seen:
            raise InvalidValue(f"two versions {version.version} of {version.path!r}")
        seen.add((version.path, version.version))


_KEY = ("project_id", "scope")
_DOCUMENT_COLUMNS = (
    *_KEY, "path", "live", "version", "last_version", "created_version", "content", "extra", "actor", "redacted",
    "created_at", "updated_at", "format", "search_text", "governance", "effective_at", "expires_at",
)  # fmt: skip
_VERSION_COLUMNS = (*_KEY, "path", "version", "action", "content", "actor", "redacted", "created_at")
_REDACTION_COLUMNS = (*_KEY, "position", "path", "actor", "created_at", "count")


def _document_rows(key: tuple[int, str], archive: ScopeArchive) -> Iterator[tuple[Any, ...]]:
    highest: defaultdict[str, int] = defaultdict(int)
    newest: dict[str, Any] = {}
    for version in archive.versions:
        if version.version > highest[version.path]:
            highest[version.path] = version.version
            newest[version.path] = version.created_at
    for row in archive.documents:
        last = max(row.version, highest.pop(row.path, 0))
        yield (
            *key, row.path, True, row.version, last, 0, row.content, row.extra, row.actor, row.redacted,
            row.created_at, row.updated_at, 1, *restored_as(row.path, row.content, redacted=row.redacted),
        )  # fmt: skip
    # A path with rows and no document: its counter is kept in a buried row.
    for path, last in highest.items():
        yield (*key, path, False, last, last, 0, "", "{}", None, False, newest[path], newest[path], 1, *BURIED)


def _version_rows(key: tuple[int, str], archive: ScopeArchive) -> Iterator[tuple[Any, ...]]:
    for row in archive.versions:
        yield (*key, row.path, row.version, row.action, row.content, row.actor, row.redacted, row.created_at)


def _redaction_rows(key: tuple[int, str], archive: ScopeArchive) -> Iterator[tuple[Any, ...]]:
    for position, row in enumerate(archive.redactions, start=1):
        yield (*key, position, row.path, row.actor, row.created_at, row.count)
