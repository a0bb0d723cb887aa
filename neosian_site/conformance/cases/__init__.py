"""Every case, group by group in the order in which they run."""

from __future__ import annotations

from neosian_site.conformance.cases import (  # noqa: F401 - imported for the cases they hold
    authorization,
    change_requests,
    changes,
    conversation,
    envelope,
    erasure,
    grants,
    handshake,
    ledger,
    memory,
    paging,
    policy,
    races,
    search,
    search_requests,
    store,
    turn_search,
)
from neosian_site.conformance.registry import registered

GROUPS = (
    "handshake",
    "envelope",
    "parameters",
    "memory",
    "ledger",
    "conversation",
    "turn_search",
    "erasure",
    "store",
    "paging",
    "races",
    "search",
    "policy",
    "changes",
    "authorization",
    "grants",
)
CASES = tuple(sorted(registered(), key=lambda found: GROUPS.index(found.group)))
