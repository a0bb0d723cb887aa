"""The part of a document search that reads ``extra``: its strings are folded here, document by document."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db import transaction

from neosian_site.core import sql
from neosian_site.core.text import fold
from search.operations import document_statements as statements
from search.operations.document_statements import EXCERPT_CHARS, EXCERPT_LEAD, Found, MetadataMatch, Wanted

# Documents fetched at once; one by one where the metadata of any of the next ones is longer (compressed).
BATCH = 50
SMALL_BYTES = 16 * 1024

_CURSOR = "documents_with_metadata"


def find(wanted: Wanted, keys: Sequence[str]) -> list[Found]:
    """The first ``limit`` + 1 hits where metadata is among the selected fields; one snapshot for all of it.

    :param keys: ascending
    """
    with transaction.atomic():
        sql.execute_spelled_out(_declaration(wanted), statements.parameters(wanted))
        found = list(itertools.islice(_hits(wanted, keys), wanted.limit + 1))
        sql.execute(f"CLOSE {_CURSOR}")
    return found


def _declaration(wanted: Wanted) -> str:
    """A cursor over what may be a hit, in path order: its snapshot is that of the moment it is declared."""
    fields = wanted.path or wanted.content
    held = [statements.holds(wanted, f"term{place}") if fields else "false" for place in range(len(wanted.terms))]
    return f"""
        DECLARE {_CURSOR} NO SCROLL CURSOR FOR
        SELECT {statements.DETAILS}, ARRAY[{", ".join(held)}], d.extra::text,
               max(pg_column_size(d.extra)) OVER (
                   ORDER BY d.path ROWS BETWEEN 1 FOLLOWING AND {BATCH} FOLLOWING
               )
        FROM {statements.DETAILED}
        WHERE {statements.candidates(wanted)} AND (d.extra::text <> '{{}}' OR ({" AND ".join(held)}))
        ORDER BY d.path
    """


def _hits(wanted: Wanted, keys: Sequence[str]) -> Iterator[Found]:
    terms = statements.longest_first(wanted.terms)
    size = 1
    while rows := sql.rows(f"FETCH {size} FROM {_CURSOR}"):
        for *details, held, extra, _ in rows:
            missing = {term for term, there in zip(terms, held, strict=True) if not there}
            hit, match = _judge(json.loads(extra), keys, terms, missing)
            if hit:
                yield replace(Found(*details), metadata=match)
        ahead = rows[-1][-1]
        size = BATCH if ahead is None or ahead <= SMALL_BYTES else 1


def _judge(
    extra: dict[str, Any], keys: Sequence[str], terms: Sequence[str], missing: set[str]
) -> tuple[bool, MetadataMatch | None]:
    """Whether no term is missing once the metadata is read, and the first string of it that any term matches."""
    match: MetadataMatch | None = None
    for key, text in strings(extra, keys):
        folded = fold(text)
        places = [place for place in (folded.find(term) for term in terms) if place >= 0]
        if not places:
            continue
        missing = {term for term in missing if term not in folded}
        if match is None:
            start = max(0, _unfolded(text, min(places)) - EXCERPT_LEAD)
            match = MetadataMatch(key, start, text[start : start + EXCERPT_CHARS])
    return not missing, match


def strings(extra: dict[str, Any], keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every string value below the given top-level keys, in the contract's order; the keys are never values."""
    for key in keys:
        waiting = [extra[key]] if key in extra else []
        while waiting:
            value = waiting.pop()
            if isinstance(value, str):
                yield key, value
            elif isinstance(value, list):
                waiting += reversed(value)
            elif isinstance(value, dict):
                waiting += [value[name] for name in sorted(value, reverse=True)]


def _unfolded(text: str, place: int) -> int:
    """The index of the scalar that produced the folded text's scalar at ``place``."""
    if "\u0130" not in text:
        return place
    before = text.replace("\u0130", "\u0130\x01")[:place]
    return place - before.count("\u0130")
