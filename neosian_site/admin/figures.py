"""Counting for pages: one statement for all rows shown, and never further than a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from neosian_site.core import sql

CAP = 10_000
# In a list of projects, where each row has four figures of its own.
LIST_CAP = 1_000


def bounded(source: str, conditions: str, order: str) -> str:
    """SQL that counts the rows of ``source``, ``%(most)s`` of them at most.

    The order is an index's: without it a few projects that hold most of a table make PostgreSQL expect every project
    to, and read the whole table for one that holds nothing.
    """
    return f"(SELECT count(*) FROM (SELECT 1 FROM {source} WHERE {conditions} ORDER BY {order} LIMIT %(most)s) c)"


def count(source: str, conditions: str, order: str, params: Mapping[str, Any]) -> str:
    """How many rows a list has, as it is shown."""
    found = sql.row(f"SELECT {bounded(source, conditions, order)}", {**params, "most": CAP + 1})
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


# Clients are made one by one, by people: they are counted to their end, in one pass.
_PROJECTS = f"""
    WITH clients AS (
        SELECT t.project_id, count(*) AS number FROM authz_apitoken t WHERE t.project_id = ANY(%(ids)s) GROUP BY 1
    )
    SELECT p.id,
        coalesce((SELECT number FROM clients WHERE project_id = p.id), 0),
        {bounded("authz_grantclient g", "g.project_id = p.id", "g.actor")},
        {bounded("memory_scope s", "s.project_id = p.id", "s.name")},
        {bounded("conversations_conversation v", "v.project_id = p.id", "v.id")}
    FROM unnest(%(ids)s::bigint[]) AS p(id)
"""


def of_projects(ids: Iterable[int], cap: int) -> dict[int, dict[str, str]]:
    """What each of these projects holds: clients, grants, scopes, conversations."""
    names = ("clients", "grants", "scopes", "conversations")
    return {
        number: dict(zip(names, (f"{clients:,}", *(shown(figure, cap) for figure in figures)), strict=True))
        for number, clients, *figures in sql.rows(_PROJECTS, {"ids": list(ids), "most": cap + 1})
    }
