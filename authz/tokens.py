"""From a presented token to a caller.

Tokens are compared as SHA-256 digests in constant time. The environment's table belongs to project ``default`` and is
read once, as is the grants file beside it; clients kept in the database are looked up by digest. Callers are held for
:data:`CACHE_SECONDS`, so that a revoked, suspended or expired client is refused, and a change of its grants in force,
within that time on every worker without a restart.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django.conf import settings
from django.db import OperationalError
from django.db.models import Q

from authz import grants_file, token_table
from authz.caller import Allowance, Caller
from authz.grants import NOTHING, Grants, Permissions
from authz.models import ApiToken, Project
from authz.models.project import DEFAULT_SLUG, SCOPED
from neosian_site.core import clock, sql

CACHE_SECONDS = 3.0
# How much longer a caller is held while the database cannot be asked. With the above it stays below the promised five
# seconds: of a database that is only short of connections the operation may get one.
GRACE_SECONDS = 1.5
# A bound, not a target: a process that meets more live clients within the cache time simply asks the database.
MAX_CACHED = 10_000
# How stale ``last_used_at`` may be; a write on each request would cost more than the figure is worth.
LAST_USED_GRAIN = timedelta(minutes=5)


def digest(token: bytes) -> bytes:
    return hashlib.sha256(token).digest()


@dataclass(frozen=True, slots=True)
class _Cached:
    caller: Caller
    until: float
    expires_at: datetime | None


_cache: dict[bytes, _Cached] = {}


def forget_cached() -> None:
    """Empty the cache (a test moves time or changes rows behind it)."""
    _cache.clear()
    _table.cache_clear()
    file_grants.cache_clear()


def caller_for(token: bytes) -> Caller | None:
    """The caller a presented token makes, or ``None`` for every kind of stranger.

    Unknown, revoked, expired and of a suspended project look alike.
    """
    presented = digest(token)
    cached = _cache.get(presented)
    ended = cached is not None and cached.expires_at is not None and cached.expires_at <= clock.now()
    if cached is not None and cached.until > time.monotonic():
        return None if ended else cached.caller
    try:
        caller = _from_table(presented) or _from_database(presented)
    except OperationalError:
        # While the database is away nothing can be read or revoked; who was known a moment ago still is, so that the
        # handshake answers and the operation itself can say what is wrong.
        if cached is None or ended or cached.until + GRACE_SECONDS <= time.monotonic():
            raise
        return cached.caller
    if caller is None:
        # Refused once is refused whatever happens to the database afterwards.
        _cache.pop(presented, None)
    return caller


def _from_table(presented: bytes) -> Caller | None:
    found: token_table.TableEntry | None = None
    for entry_digest, entry in _table(settings.NEOSIAN_SERVE_TOKEN):
        # Every entry is compared, whichever matches: the time tells nothing.
        if hmac.compare_digest(entry_digest, presented):
            found = entry
    if found is None:
        return None
    project = Project.objects.filter(slug=DEFAULT_SLUG, suspended_at=None).first()
    if project is None:
        return None
    file = environment_grants()
    grants = _grants_of(project, found.actor) if file is None else file.of(found.actor)
    return _keep(presented, Caller(project.pk, found.actor, found.allowance, grants), None)


def _grants_of(project: Project, actor: str) -> Permissions | None:
    """The permissions of a client whose grants are kept in the database; ``None`` where grants are off."""
    # The environment's file scopes the whole of its project, database clients too.
    if project.access != SCOPED and (project.slug != DEFAULT_SLUG or environment_grants() is None):
        return None
    found = sql.row(_PERMISSIONS, (project.pk, actor))
    if found is None:
        return NOTHING
    operator, read, write, read_prefixes, append_prefixes, read_ids, append_ids = found
    return Permissions(
        operator=operator,
        read_scopes=frozenset(read),
        write_scopes=frozenset(write),
        read_prefixes=tuple(read_prefixes),
        append_prefixes=tuple(append_prefixes),
        read_ids=frozenset(read_ids),
        append_ids=frozenset(append_ids),
    )


def _scopes_with(permission: str) -> str:
    return f"ARRAY(SELECT s.scope FROM authz_scopegrant s WHERE s.client_id = g.id AND s.{permission})"


def _prefixes_with(permission: str) -> str:
    return (
        "ARRAY(SELECT c.prefix FROM authz_conversationgrant c"
        f" WHERE c.client_id = g.id AND c.{permission} AND c.prefix IS NOT NULL)"
    )


def _ids_with(permission: str) -> str:
    return f"ARRAY(SELECT unnest(c.ids) FROM authz_conversationgrant c WHERE c.client_id = g.id AND c.{permission})"


_PERMISSIONS = f"""
    SELECT g.operator, {_scopes_with("read")}, {_scopes_with("write")},
           {_prefixes_with("read")}, {_prefixes_with("append")}, {_ids_with("read")}, {_ids_with("append")}
    FROM authz_grantclient g
    WHERE g.project_id = %s AND g.actor = %s
"""


def environment_grants() -> Grants | None:
    """The grants of the environment's file; ``None`` where none is named."""
    return file_grants(settings.NEOSIAN_SERVE_GRANTS, settings.NEOSIAN_SERVE_TOKEN)


@lru_cache(maxsize=4)
def file_grants(path: str | None, table: str | None) -> Grants | None:
    """The grants file beside the token table, read once; ``None`` where none is named.

    :raises GrantsRefused: it cannot be used, or there is no table whose actors it could name
    """
    if path is None:
        return None
    return grants_file.load(path, {entry.actor for _, entry in _table(table)})


def table_entries() -> tuple[token_table.TableEntry, ...]:
    """The entries of the environment's token table."""
    return tuple(entry for _, entry in _table(settings.NEOSIAN_SERVE_TOKEN))


def table_actors() -> set[str]:
    """The clients of the environment's token table."""
    return {entry.actor for entry in table_entries()}


@lru_cache(maxsize=4)
def _table(value: str | None) -> tuple[tuple[bytes, token_table.TableEntry], ...]:
    if value is None:
        return ()
    return tuple((digest(os.fsencode(entry.token)), entry) for entry in token_table.parse(value))


def _from_database(presented: bytes) -> Caller | None:
    now = clock.now()
    row = (
        ApiToken.objects.filter(token_sha256=presented, revoked_at=None, suspended_at=None, project__suspended_at=None)
        .filter(Q(expires_at=None) | Q(expires_at__gt=now))
        .select_related("project")
        .first()
    )
    if row is None or not hmac.compare_digest(bytes(row.token_sha256), presented):
        return None
    if row.last_used_at is None or row.last_used_at < now - LAST_USED_GRAIN:
        ApiToken.objects.filter(pk=row.pk, last_used_at=row.last_used_at).update(last_used_at=now)
    allowance = Allowance(row.scope_prefix, row.conversation_prefix) if row.constrained else None
    caller = Caller(row.project_id, row.actor, allowance, _grants_of(row.project, row.actor))
    return _keep(presented, caller, row.expires_at)


def _keep(presented: bytes, caller: Caller, expires_at: datetime | None) -> Caller:
    if len(_cache) >= MAX_CACHED:
        _cache.clear()
    _cache[presented] = _Cached(caller, time.monotonic() + CACHE_SECONDS, expires_at)
    return caller
