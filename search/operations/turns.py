"""Searching turns (seeds/wire ``conversation/search_turns``).

Exact and indexed: the folded text beside each turn holds every term or the turn is no hit. Nothing is a wildcard, no
ranking, newest first.
"""

from __future__ import annotations

from typing import Any

from authz import access
from authz.caller import Caller
from conversations.names import check_id
from conversations.operations.reading import TURN_JSON, check_format
from neosian_site.core import sql
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import bounded
from neosian_site.core.text import fold, split_terms, storable

DEFAULT_HITS = 50
# Terms that get a condition of their own, which the trigram index can answer; the rest are tested on what is left.
MAX_PLANNED_TERMS = 8


def search(
    caller: Caller,
    *,
    query: str,
    conversations: list[str] | None = None,
    limit: int | None = None,
) -> list[JsonBytes]:
    """The newest turns whose text holds every term of ``query``, in the store or in the named conversations.

    :raises InvalidValue: a blank query, or a limit above 500 or below 1
    """
    access.read_conversations(caller, conversations)
    # Contract order: the query, the ids, then the limit (its upper bound is judged with the types already).
    terms = list(dict.fromkeys(fold(term) for term in split_terms(query)))
    if not terms:
        raise InvalidValue("query must contain at least one term")
    for conversation_id in conversations or ():
        check_id(conversation_id)
    size = _bound(limit)
    if conversations == [] or not all(storable(term) for term in terms):
        return []  # No stored text holds a NUL or half a character.
    run = sql.rows if conversations is not None else sql.rows_planned_afresh
    found = run(*_statement(caller, terms, conversations, size))
    for _, conversation_id, row_format in found:
        check_format(row_format, conversation_id)
    return [JsonBytes(turn) for turn, _, _ in found]


def _bound(limit: int | None) -> int:
    return bounded(limit, DEFAULT_HITS, "a search answers at most 500 turns; narrow the query")


def _search(source: str) -> str:
    return f"""
        {source}
        ORDER BY t.created_at DESC, t.conversation DESC, t.turn DESC
        LIMIT %(limit)s
    """


def _in_store(matches: str) -> str:
    return _search(f"""
        SELECT {TURN_JSON}, t.conversation, t.format
        FROM conversations_turn t
        WHERE t.project_id = %(project)s AND NOT t.redacted AND {matches}
    """)


def _in_conversations(matches: str) -> str:
    # Matched first and sorted afterwards: left to itself the planner walks the whole project's turns newest first.
    return _search(f"""
        WITH t AS MATERIALIZED (
            SELECT * FROM conversations_turn t
            WHERE t.project_id = %(project)s AND t.conversation = ANY(%(conversations)s)
              AND NOT t.redacted AND {matches}
        )
        SELECT {TURN_JSON}, t.conversation, t.format FROM t
    """)


def _statement(
    caller: Caller, terms: list[str], conversations: list[str] | None, size: int
) -> tuple[str, dict[str, Any]]:
    params: dict[str, Any] = {"project": caller.project_id, "limit": size}
    conditions = []
    # The longest terms are the rarest.
    terms = sorted(terms, key=len, reverse=True)
    for place, term in enumerate(terms[:MAX_PLANNED_TERMS]):
        if conversations is None:
            params[f"term{place}"] = _pattern(term)
            conditions.append(f"t.search_text LIKE %(term{place})s")
        else:
            params[f"term{place}"] = term
            conditions.append(f"strpos(t.search_text, %(term{place})s) > 0")
    if len(terms) > MAX_PLANNED_TERMS:
        params["rest"] = [_pattern(term) for term in terms[MAX_PLANNED_TERMS:]]
        conditions.append("t.search_text LIKE ALL(%(rest)s::text[])")
    matches = " AND ".join(conditions)
    if conversations is None:
        return _in_store(matches), params
    return _in_conversations(matches), {**params, "conversations": conversations}


def _pattern(term: str) -> str:
    """A LIKE pattern that holds ``term`` literally."""
    escaped = term.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
