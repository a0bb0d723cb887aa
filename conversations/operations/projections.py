"""Projections: append and read (seeds/wire "Conversation", "Paging")."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from authz import access
from authz.caller import Caller
from conversations.names import check_id
from conversations.operations.reading import PROJECTION_JSON, check_after, check_format
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import EMPTY_NUMBERED_PAGE, MAX_PAGE_ROWS, NumberedPage, page_size
from neosian_site.core.values import check_stored_integer, check_text

KINDS = ("digest", "epoch", "log")


@dataclass(frozen=True, slots=True)
class ProjectionEntry:
    """A text for ``turn``, or for the ``span`` turns that end with it; checked when made.

    :raises InvalidValue: a number out of range, an unknown kind, text no store can hold
    """

    turn: int
    kind: str
    text: str
    span: int = 1

    def __post_init__(self) -> None:
        check_stored_integer("turn", self.turn, least=1)
        if not 1 <= self.span <= self.turn:
            raise InvalidValue(f"span must satisfy 1 <= span <= turn, got span={self.span} for turn={self.turn}")
        if self.kind not in KINDS:
            raise InvalidValue(f"kind must be one of {list(KINDS)}, got {quoted(self.kind)}")
        check_text("text", self.text)


_TAKE_POSITIONS = """
    INSERT INTO conversations_conversation AS c (project_id, id, last_turn, entries, acts, created_at)
    VALUES (%(project)s, %(conversation)s, 0, %(count)s, 0, %(now)s)
    ON CONFLICT (project_id, id) DO UPDATE SET entries = c.entries + excluded.entries
    RETURNING c.entries
"""
_ADD = """
    INSERT INTO conversations_projection (project_id, conversation, position, turn, span, kind, text, format)
    SELECT %(project)s, %(conversation)s, %(first)s + e.place, e.turn, e.span, e.kind, e.text, 1
    FROM unnest(%(turns)s::bigint[], %(spans)s::bigint[], %(kinds)s::text[], %(texts)s::text[])
         WITH ORDINALITY AS e (turn, span, kind, text, place)
"""


def _read(within: str) -> str:
    return f"""
        SELECT {PROJECTION_JSON}, p.turn, p.format
        FROM conversations_projection p
        WHERE p.project_id = %(project)s AND p.conversation = %(conversation)s AND {within}
        ORDER BY p.turn, p.span, p.position
        LIMIT %(limit)s
    """


_READ_AFTER = _read("p.turn > %(after)s")
_READ_TURN = _read("p.turn = %(turn)s")


def append(caller: Caller, *, conversation_id: str, entries: list[ProjectionEntry]) -> None:
    """Add entries after what is there; none overwrites another, and the turns need not exist."""
    access.append_conversation(caller, conversation_id)
    check_id(conversation_id)
    if not entries:
        return
    params = {
        "project": caller.project_id,
        "conversation": conversation_id,
        "count": len(entries),
        "now": clock.now(),
        "turns": [entry.turn for entry in entries],
        "spans": [entry.span for entry in entries],
        "kinds": [entry.kind for entry in entries],
        "texts": [entry.text for entry in entries],
    }
    with transaction.atomic():
        taken = sql.row(_TAKE_POSITIONS, params)
        assert taken is not None, "an upsert answers its row"
        sql.execute(_ADD, {**params, "first": taken[0] - len(entries)})


def read(caller: Caller, *, conversation_id: str, after: int | None = None, limit: int | None = None) -> NumberedPage:
    """Entries of turns above ``after``, by turn, span and arrival.

    A limit up to 500 is a total bound and may cut a turn. Without one, or above, a page ends on a whole turn: it
    stops before the turn that would not fit, or widens until its only turn is whole.
    """
    access.read_conversation(caller, conversation_id)
    check_id(conversation_id)
    number = check_after(after)
    size = page_size(limit)
    if size == 0:
        return EMPTY_NUMBERED_PAGE
    params = {"project": caller.project_id, "conversation": conversation_id, "after": number}
    pages = limit is None or limit > MAX_PAGE_ROWS
    # One row beyond the page tells whether anything is left, and of which turn.
    found = sql.rows(_READ_AFTER, {**params, "limit": size + 1 if pages else size})
    next_after = None
    if pages and len(found) > size:
        last = found[size][1]
        whole = [row for row in found[:size] if row[1] < last]
        found = whole or sql.rows(_READ_TURN, {**params, "turn": last, "limit": None})
        next_after = found[-1][1]
    for _, _, row_format in found:
        check_format(row_format, conversation_id)
    return NumberedPage([JsonBytes(entry) for entry, _, _ in found], next_after)
