"""Where documents are and what was done to them, without their content; for operators."""

from __future__ import annotations

import re
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
               CASE WHEN starts_with(v.path, 'sessions/') THEN left(v.content, %(head)s) END AS session,
               1 AS place, 0 AS position
        FROM memory_documentversion v
        WHERE v.project_id = %(project)s AND v.scope = %(scope)s AND v.created_at >= %(since)s {by_version}
        ORDER BY v.created_at DESC, v.path, v.version DESC LIMIT %(limit)s
    ) UNION ALL (
        SELECT r.created_at, r.actor, 'redacted', r.path, NULL, false, r.count, NULL, 0, r.position
        FROM memory_redaction r
        WHERE r.project_id = %(project)s AND r.scope = %(scope)s AND r.created_at >= %(since)s {by_redaction}
        ORDER BY r.created_at DESC, r.position DESC LIMIT %(limit)s
    )
    ORDER BY created_at DESC, place, position DESC, path, version DESC
    LIMIT %(limit)s
"""

_BY_ACTOR = (
    "AND ({column} = %(actor)s OR starts_with({column}, %(actor)s || '#') OR starts_with({column}, %(actor)s || '/'))"
)

# A sessions document is a short list; what stands further down belongs to no list of ours.
SESSION_HEAD_CHARS = 8192
_CONTINUES = re.compile(r"^- continues: *(\S+) *$", re.MULTILINE)


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
    # Which conversations a sessions document says it goes on from.
    continues: list[str]


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

    :param actor: only this one, whatever ``#turn`` stands behind it, and what is under it: ``client:a`` is also
        ``client:a#4`` and ``client:a/x``, but not ``client:ab``
    """
    access.read_scope(caller, scope)
    check_scope(scope)
    params = {
        "project": caller.project_id,
        "scope": scope,
        "since": since or "-infinity",
        "actor": actor,
        "limit": limit,
        "head": SESSION_HEAD_CHARS,
    }
    narrowed = {
        name: "" if actor is None else _BY_ACTOR.format(column=f"{alias}.actor")
        for name, alias in (("by_version", "v"), ("by_redaction", "r"))
    }
    return [
        LedgerEntry(created_at, by, event, path, version, redacted, count, _CONTINUES.findall(session or ""))
        for created_at, by, event, path, version, redacted, count, session, _, _ in sql.rows(
            _AUDIT.format(**narrowed), params
        )
    ]
