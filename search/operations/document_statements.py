"""The statements of a document search. What they find is exact; they differ in what they read on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.models.document import INDEXED_BYTES
from neosian_site.core import sql

EXCERPT_LEAD = 40
EXCERPT_CHARS = 240
# How much of a scope the first look reads: enough that a term of every twentieth document fills a page, little enough
# to be no loss where it does not.
PROBE_DOCUMENTS = 500
PROBE_BYTES = 4 * 1024 * 1024
# pg_trgm knows nothing of shorter terms.
TRIGRAM = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a page of a search looks for."""

    project_id: int
    scope: str
    # Folded, distinct.
    terms: tuple[str, ...]
    after: str
    prefix: str
    path: bool
    content: bool
    policy: str
    now: datetime
    limit: int


@dataclass(frozen=True, slots=True)
class MetadataMatch:
    """The first metadata string a term matches: its top-level key and its excerpt."""

    key: str
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A hit as the database tells it."""

    path: str
    version: int
    created_at: datetime
    updated_at: datetime
    actor: str | None
    format: int
    path_matches: bool
    # Where the excerpt of the content starts; None where no term matches it.
    content_at: int | None
    content_text: str | None
    metadata: MetadataMatch | None = None


# U+0130 is the one scalar that folds to two. In ``padded`` it takes two places, as in the folded text, so that a place
# in the one is a place in the other; the number of them before a match is how far the content lags behind.
DETAILS = f"""
    d.path, d.version, d.created_at, d.updated_at, d.actor, d.format, o.in_path, e.start,
    CASE WHEN e.start IS NOT NULL THEN substr(d.content, e.start + 1, {EXCERPT_CHARS}) END
"""
# OFFSET 0 keeps each step a step: folded into the next, an expression would be worked out once for each mention.
DETAILED = f"""
    memory_document d
    CROSS JOIN LATERAL (
        SELECT %(path)s AND EXISTS (
                   SELECT 1 FROM unnest(%(terms)s::text[]) t WHERE strpos(lower(d.path), t) > 0
               ) AS in_path,
               CASE WHEN %(content)s THEN (
                   SELECT min(nullif(strpos(b.body, t), 0)) - 1
                   FROM (SELECT substr(d.search_text, octet_length(d.path) + 2) AS body OFFSET 0) b,
                        unnest(%(terms)s::text[]) t
               ) END AS folded_at
        OFFSET 0
    ) o
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN o.folded_at IS NULL THEN NULL
            WHEN strpos(d.content, U&'\\0130') = 0 THEN o.folded_at
            ELSE o.folded_at - (
                SELECT length(p.before) - length(replace(p.before, U&'\\0130', ''))
                FROM (
                    SELECT left(replace(d.content, U&'\\0130', U&'\\0130\\0001'), o.folded_at::int) AS before OFFSET 0
                ) p
            ) END AS place
        OFFSET 0
    ) m
    CROSS JOIN LATERAL (
        SELECT CASE WHEN m.place IS NOT NULL THEN greatest(0, m.place - {EXCERPT_LEAD})::int END AS start OFFSET 0
    ) e
"""


def details(paths: str) -> str:
    """The hits among the paths a subquery answers, in order."""
    return f"""
        SELECT {DETAILS} FROM {DETAILED}
        WHERE d.project_id = %(project)s AND d.scope = %(scope)s AND d.path IN ({paths})
        ORDER BY d.path
    """


def candidates(wanted: Wanted) -> str:
    """The condition on ``d`` of what takes part in the search, before matching."""
    conditions = [
        "d.project_id = %(project)s",
        "d.scope = %(scope)s",
        "d.search_text <> ''",
        "d.path > %(after)s",
    ]
    if wanted.prefix:
        conditions += ["d.path >= %(prefix)s", "d.path < %(below)s"]
    if wanted.policy != "all":
        approved = (
            "d.governance = 'approved' AND (d.effective_at IS NULL OR d.effective_at <= %(now)s)"
            " AND (d.expires_at IS NULL OR d.expires_at > %(now)s)"
        )
        unmanaged = "d.governance = 'unmanaged' OR " if wanted.policy == "effective" else ""
        conditions.append(f"({unmanaged}({approved}))")
    return " AND ".join(conditions)


def parameters(wanted: Wanted) -> dict[str, Any]:
    """What the statements' fragments name."""
    prefix = wanted.prefix
    return {
        "project": wanted.project_id,
        "scope": wanted.scope,
        "after": wanted.after,
        "prefix": prefix,
        # Prefixes are ASCII by now; U+0080, which follows the last of them, is above every path.
        "below": prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix else "",
        "now": wanted.now,
        "path": wanted.path,
        "content": wanted.content,
        "terms": list(wanted.terms),
        "more": wanted.limit + 1,
        **{f"term{place}": term for place, term in enumerate(longest_first(wanted.terms))},
    }


def holds(wanted: Wanted, term: str) -> str:
    """SQL for whether a selected text holds the parameter ``term``."""
    if wanted.path and wanted.content:
        return f"strpos(d.search_text, %({term})s) > 0"
    if wanted.content:
        return f"strpos(substr(d.search_text, octet_length(d.path) + 2), %({term})s) > 0"
    return f"strpos(lower(d.path), %({term})s) > 0"


def find(wanted: Wanted) -> list[Found]:
    """The first ``limit`` + 1 hits in path or content."""
    params = parameters(wanted)
    base = candidates(wanted)
    matches = " AND ".join(holds(wanted, f"term{place}") for place in range(len(wanted.terms)))
    complete, found = _probe(base, matches, params)
    if complete or len(found) > wanted.limit:
        return found
    long = [place for place, term in enumerate(longest_first(wanted.terms)) if len(term) >= TRIGRAM]
    if wanted.content and long:
        return _narrowed(base, matches, long, params)
    return _read_on(base, matches, params)


def _probe(base: str, matches: str, params: dict[str, Any]) -> tuple[bool, list[Found]]:
    """The hits among the scope's next documents, and whether there are no others.

    Bounded in documents and in bytes: ``octet_length`` of a stored text does not read it.
    """
    statement = f"""
        WITH first AS MATERIALIZED (
            SELECT w.path, w.before, CASE WHEN w.before <= {PROBE_BYTES} THEN ({matches.replace("d.", "w.")}) END AS hit
            FROM (
                SELECT d.path, d.search_text,
                       sum(octet_length(d.search_text)) OVER (ORDER BY d.path) - octet_length(d.search_text) AS before
                FROM (
                    SELECT d.path, d.search_text FROM memory_document d
                    WHERE {base} ORDER BY d.path LIMIT {PROBE_DOCUMENTS}
                ) d
            ) w
        )
        SELECT c.complete, h.*
        FROM (
            SELECT count(*) < {PROBE_DOCUMENTS} AND coalesce(max(before), 0) <= {PROBE_BYTES} AS complete FROM first
        ) c
        LEFT JOIN ({details("SELECT path FROM first WHERE hit ORDER BY path LIMIT %(more)s")}) h ON true
        ORDER BY h.path
    """
    found = sql.rows_planned_afresh(statement, params)
    return found[0][0], [Found(*row[1:]) for row in found if row[1] is not None]


def _narrowed(base: str, matches: str, long: Iterable[int], params: dict[str, Any]) -> list[Found]:
    """Through the trigrams of the long terms; texts too long to be indexed are read."""
    patterns = {f"like{place}": _pattern(params[f"term{place}"]) for place in long}
    like = " AND ".join(f"d.search_text LIKE %({name})s" for name in patterns)
    # Materialised, so that the planner does not walk the whole scope in path order, hoping for an early end.
    statement = f"""
        WITH hit AS MATERIALIZED (
            SELECT d.path FROM memory_document d
            WHERE {base} AND octet_length(d.search_text) <= {INDEXED_BYTES} AND {like} AND {matches}
            UNION ALL
            SELECT d.path FROM memory_document d
            WHERE {base} AND octet_length(d.search_text) > {INDEXED_BYTES} AND {matches}
        )
        {details("SELECT path FROM hit ORDER BY path LIMIT %(more)s")}
    """
    return [Found(*row) for row in sql.rows_planned_afresh(statement, {**params, **patterns})]


def _read_on(base: str, matches: str, params: dict[str, Any]) -> list[Found]:
    """In path order until the page is full. ``strpos`` has no index, so the order's index is the way."""
    first = f"SELECT d.path FROM memory_document d WHERE {base} AND {matches} ORDER BY d.path LIMIT %(more)s"
    statement = f"WITH hit AS MATERIALIZED ({first}) {details('SELECT path FROM hit')}"
    return [Found(*row) for row in sql.rows_planned_afresh(statement, params)]


def longest_first(terms: Iterable[str]) -> list[str]:
    """The terms in the order of the parameters ``term0``, ``term1``, ...: the longest are the rarest."""
    return sorted(terms, key=len, reverse=True)


def _pattern(term: str) -> str:
    """A LIKE pattern that holds ``term`` literally."""
    escaped = term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
