"""Counting for pages: one statement for all rows shown, and never further than a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neosian_site.core import sql

CAP = 10_000
# In a list of projects, where each row has four figures of its own.
LIST_CAP = 1_000


def bounded(source: str, conditions: str, most: str = "%(most)s") -> str:
    """SQL that counts the rows of ``source``, one more than the bound at most."""
    return f"(SELECT count(*) FROM (SELECT 1 FROM {source} WHERE {conditions} LIMIT {most}) c)"


def count(source: str, conditions: str, params: Mapping[str, Any]) -> str:
    """How many rows a list has, as it is shown."""
    found = sql.row(f"SELECT {bounded(source, conditions)}", {**params, "most": CAP + 1})
    assert found is not None, "a count always answers"
    return shown(found[0])


def shown(number: int, cap: int = CAP) -> str:
    """``12,345``; ``10,000+`` for what was not counted to its end."""
    return f"{cap:,}+" if number > cap else f"{number:,}"


def size(number: int) -> str:
    """Bytes for a person; exact below a kilobyte."""
    amount = float(number)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1024:
            return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} TB"


_PROJECTS = f"""
    SELECT p.id,
        {bounded("authz_apitoken t", "t.project_id = p.id")},
        {bounded("authz_grantclient g", "g.project_id = p.id")},
        {bounded("memory_scope s", "s.project_id = p.id")},
        {bounded("conversations_conversation v", "v.project_id = p.id")}
    FROM unnest(%(ids)s::bigint[]) AS p(id)
"""


def of_projects(ids: Iterable[int], cap: int) -> dict[int, dict[str, str]]:
    """What each of these projects holds: clients, grants, scopes, conversations."""
    names = ("clients", "grants", "scopes", "conversations")
    return {
        number: dict(zip(names, (shown(figure, cap) for figure in figures), strict=True))
        for number, *figures in sql.rows(_PROJECTS, {"ids": list(ids), "most": cap + 1})
    }
