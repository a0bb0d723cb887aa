"""A scope's rows as they leave the store (seeds/wire "Store"): everything, in a fixed order, little at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from authz import access
from authz.caller import Caller
from memory.names import check_scope
from memory.operations.reading import check_format
from neosian_site.core import clock, sql

KEYS = 1000
BATCH_BYTES = 4 * 1024 * 1024

_DOCUMENT_KEYS = """
    SELECT path, octet_length(content) FROM memory_document
    WHERE project_id = %(project)s AND scope = %(scope)s AND live AND path > %(after)s
    ORDER BY path LIMIT %(keys)s
"""
_DOCUMENTS = """
    SELECT path, version, created_at, updated_at, actor, redacted, extra::text, content, format FROM memory_document
    WHERE project_id = %(project)s AND scope = %(scope)s AND live AND path = ANY(%(paths)s)
    ORDER BY path
"""
_VERSION_KEYS = """
    SELECT path, version, octet_length(content) FROM memory_documentversion
    WHERE project_id = %(project)s AND scope = %(scope)s AND (path, version) > (%(path)s, %(version)s)
    ORDER BY path, version LIMIT %(keys)s
"""
_VERSIONS = """
    SELECT path, version, action, content, actor, created_at, redacted FROM memory_documentversion
    WHERE project_id = %(project)s AND scope = %(scope)s
      AND (path, version) >= (%(first_path)s, %(first)s) AND (path, version) <= (%(last_path)s, %(last)s)
    ORDER BY path, version
"""
_REDACTIONS = """
    SELECT position, created_at, actor, path, count FROM memory_redaction
    WHERE project_id = %(project)s AND scope = %(scope)s AND position > %(after)s
    ORDER BY position LIMIT %(keys)s
"""


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A live document: its head in the archive's order, what the store does not look at, and its content."""

    path: str
    head: dict[str, Any]
    extra: dict[str, Any]
    content: str


def documents(caller: Caller, *, scope: str) -> Iterator[DocumentRow]:
    """Live documents by path; a few megabytes, or one document, are held at a time."""
    access.read_scope(caller, scope)
    check_scope(scope)
    params: dict[str, Any] = {"project": caller.project_id, "scope": scope, "after": "", "keys": KEYS}
    while keys := sql.rows(_DOCUMENT_KEYS, params):
        for batch in sql.batches(keys, BATCH_BYTES):
            for row in sql.rows(_DOCUMENTS, {**params, "paths": [key[0] for key in batch]}):
                path, version, created_at, updated_at, actor, redacted, extra, content, row_format = row
                check_format(row_format, scope, path)
                head: dict[str, Any] = {
                    "version": version,
                    "created_at": clock.render(created_at),
                    "updated_at": clock.render(updated_at),
                }
                if actor is not None:
                    head["actor"] = actor
                if redacted:
                    head["redacted"] = True
                yield DocumentRow(path, head, json.loads(extra), content)
        params["after"] = keys[-1][0]


def versions(caller: Caller, *, scope: str) -> Iterator[dict[str, Any]]:
    """Every version row, by path and then oldest first; deleted paths' too."""
    access.read_scope(caller, scope)
    check_scope(scope)
    params: dict[str, Any] = {
        "project": caller.project_id,
        "scope": scope,
        "path": "",
        "version": 0,
        "keys": KEYS,
    }
    while keys := sql.rows(_VERSION_KEYS, params):
        for batch in sql.batches(keys, BATCH_BYTES):
            (first_path, first, _), (last_path, last, _) = batch[0], batch[-1]
            bounds = {"first_path": first_path, "first": first, "last_path": last_path, "last": last}
            for path, version, action, content, actor, created_at, redacted in sql.rows(
                _VERSIONS, {**params, **bounds}
            ):
                yield {
                    "path": path,
                    "version": version,
                    "action": action,
                    "content": content,
                    "actor": actor,
                    "created_at": clock.render(created_at),
                    "redacted": redacted,
                }
        params["path"], params["version"] = keys[-1][:2]


def redactions(caller: Caller, *, scope: str) -> Iterator[dict[str, Any]]:
    """Every act of erasing, in the order in which they were recorded."""
    access.read_scope(caller, scope)
    check_scope(scope)
    params: dict[str, Any] = {"project": caller.project_id, "scope": scope, "after": 0, "keys": KEYS}
    while rows := sql.rows(_REDACTIONS, params):
        for _, created_at, actor, path, count in rows:
            yield {"ts": clock.render(created_at), "actor": actor, "path": path, "count": count}
        params["after"] = rows[-1][0]
