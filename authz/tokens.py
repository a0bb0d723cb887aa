"""From a presented token to a caller.

Tokens are compared as SHA-256 digests in constant time. The environment's table belongs to project ``default`` and is
read once; clients kept in the database are looked up by digest and held for :data:`CACHE_SECONDS`, so that a revoked
or expired one is refused within that time on every worker without a restart.
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

from authz import token_table
from authz.caller import Allowance, Caller
from authz.models import ApiToken, Project
from authz.models.project import DEFAULT_SLUG
from neosian_site.core import clock

CACHE_SECONDS = 3.0
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


def caller_for(token: bytes) -> Caller | None:
    """The caller a presented token makes, or ``None`` for every kind of stranger.

    Unknown, revoked, expired and of a suspended project look alike.
    """
    presented = digest(token)
    cached = _cache.get(presented)
    if cached is not None and cached.until > time.monotonic():
        if cached.expires_at is None or cached.expires_at > clock.now():
            return cached.caller
        return None
    try:
        return _from_table(presented) or _from_database(presented)
    except OperationalError:
        # While the database is away nothing can be read or revoked; who was known a moment ago still is, so that the
        # handshake answers and the operation itself can say what is wrong.
        if cached is None:
            raise
        return cached.caller


def _from_table(presented: bytes) -> Caller | None:
    found: token_table.TableEntry | None = None
    for entry_digest, entry in _table(settings.NEOSIAN_SERVE_TOKEN):
        # Every entry is compared, whichever matches: the time tells nothing.
        if hmac.compare_digest(entry_digest, presented):
            found = entry
    if found is None:
        return None
    project = Project.objects.filter(slug=DEFAULT_SLUG, suspended_at=None).values_list("id", flat=True).first()
    if project is None:
        return None
    return _keep(presented, Caller(project, found.actor, found.allowance), None)


@lru_cache(maxsize=4)
def _table(value: str | None) -> tuple[tuple[bytes, token_table.TableEntry], ...]:
    if value is None:
        return ()
    return tuple((digest(os.fsencode(entry.token)), entry) for entry in token_table.parse(value))


def _from_database(presented: bytes) -> Caller | None:
    now = clock.now()
    row = (
        ApiToken.objects.filter(token_sha256=presented, revoked_at=None, project__suspended_at=None)
        .filter(Q(expires_at=None) | Q(expires_at__gt=now))
        .first()
    )
    if row is None or not hmac.compare_digest(bytes(row.token_sha256), presented):
        return None
    if row.last_used_at is None or row.last_used_at < now - LAST_USED_GRAIN:
        ApiToken.objects.filter(pk=row.pk, last_used_at=row.last_used_at).update(last_used_at=now)
    allowance = Allowance(row.scope_prefix, row.conversation_prefix) if row.constrained else None
    return _keep(presented, Caller(row.project_id, row.actor, allowance), row.expires_at)


def _keep(presented: bytes, caller: Caller, expires_at: datetime | None) -> Caller:
    if len(_cache) >= MAX_CACHED:
        _cache.clear()
    _cache[presented] = _Cached(caller, time.monotonic() + CACHE_SECONDS, expires_at)
    return caller
