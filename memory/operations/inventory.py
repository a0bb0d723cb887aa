"""Where documents are and what was done to them, without their content; for operators."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from authz import access
from authz.caller import Caller
from memory.names import check_scope
from neosian_site.core import sql

_HOLDING = """
    SELECT path, scope FROM memory_document
    WHERE project_id = %(project)s AND live AND NOT redacted AND path = ANY(%(paths)s)
    ORDER BY path, scope
"""

# Both halves are bounded by the same limit, each by its own index.
_AUDIT = """
    (
        SELECT v.created_at, v.actor, v.action AS event, v.path, v.version, v.redacted, NULL::bigint AS count,
               1 AS place, 0 AS position
        FROM memory_documentversion v
        WHERE v.project_id = %(project)s AND v.scope = %(scope)s AND v.created_at >= %(since)s {by_version}
        ORDER BY v.created_at DESC, v.path, v.version DESC LIMIT %(limit)s
    ) UNION ALL (
        SELECT r.created_at, r.actor, 'redacted', r.path, NULL, false, r.count, 0, r.position
        FROM memory_redaction r
        WHERE r.project_id = %(project)s AND r.scope = %(scope)s AND r.created_at >= %(since)s {by_redaction}
        ORDER BY r.created_at DESC, r.position DESC LIMIT %(limit)s
    )
    ORDER BY created_at DESC, place, position DESC, path, version DESC
    LIMIT %(limit)s
"""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One thing that was done in a scope. ``count`` is of an erasure: how many paths it matched."""

    created_at: datetime
    actor: str | None
    event: str
    path: str | None
    version: int | None
    redacted: bool
    count: int | None


def holding(caller: Caller, *, paths: list[str]) -> list[tuple[str, str]]:
    """Path and scope of every live, unredacted document at one of the paths, in any scope."""
    access.whole_store(caller)
    found = sql.rows(_HOLDING, {"project": caller.project_id, "paths": paths})
    return [(path, scope) for path, scope in found]


def audit(
    caller: Caller,
    *,
    scope: str,
    since: datetime | None = None,
    actor: str | None = None,
    limit: int | None = None,
) -> list[LedgerEntry]:
    """What was done in a scope, newest first: its history and its erasures, never content.

    :param actor: only what begins with it: ``client:a`` is also ``client:a/x``
    """
    access.read_scope(caller, scope)
    check_scope(scope)
    params = {
        "project": caller.project_id,
        "scope": scope,
        "since": since or "-infinity",
        "actor": actor,
        "limit": limit,
    }
    narrowed = {
        name: "" if actor is None else f"AND starts_with({alias}.actor, %(actor)s)"
        for name, alias in (("by_version", "v"), ("by_redaction", "r"))
    }
    found = sql.rows(_AUDIT.format(**narrowed), params)
    return [LedgerEntry(*row[:7]) for row in found]
