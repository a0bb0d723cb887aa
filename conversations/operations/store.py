"""Moving conversations whole: enumerate and restore (seeds/wire "Store")."""

from __future__ import annotations

from django.db import transaction

from authz import access
from authz.caller import Caller
from conversations.archive import ConversationArchive
from conversations.errors import ConversationOccupied
from conversations.names import check_id
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue

# A restored trail alone does not make a conversation.
_CONVERSATIONS = """
    SELECT id FROM conversations_conversation
    WHERE project_id = %s AND (last_turn > 0 OR entries > 0)
    ORDER BY id
"""

# Making or taking the row is the emptiness check: a racing restore waits here and then finds it occupied.
_OCCUPY = """
    INSERT INTO conversations_conversation AS c (project_id, id, last_turn, entries, acts, created_at)
    VALUES (%(project)s, %(conversation)s, %(last_turn)s, %(entries)s, %(acts)s, %(now)s)
    ON CONFLICT (project_id, id) DO UPDATE
        SET last_turn = excluded.last_turn, entries = excluded.entries, acts = c.acts + excluded.acts
        WHERE c.last_turn = 0 AND c.entries = 0
    RETURNING c.acts
"""
_OCCUPIED = """
    SELECT 1 FROM conversations_conversation
    WHERE project_id = %(project)s AND id = %(conversation)s AND (last_turn > 0 OR entries > 0)
"""


def conversations(caller: Caller) -> list[str]:
    """Every conversation with a turn or a projection, sorted by code point."""
    access.whole_store(caller)
    return [name for (name,) in sql.rows(_CONVERSATIONS, (caller.project_id,))]


def restore_conversation(caller: Caller, *, conversation_id: str, archive: ConversationArchive) -> None:
    """Fill an empty conversation with an archive's rows, verbatim, in one transaction.

    Appends number on from the highest restored turn. An empty archive makes nothing.

    :raises ConversationOccupied: the conversation holds a turn or a projection
    :raises InvalidValue: rows that contradict each other or the conversation
    """
    access.whole_store(caller)
    check_id(conversation_id)
    _check(conversation_id, archive)
    params = {
        "project": caller.project_id,
        "conversation": conversation_id,
        "last_turn": max((row.turn for row in archive.turns), default=0),
        "entries": len(archive.projections),
        "acts": len(archive.redactions),
        "now": clock.now(),
    }
    if archive.empty:
        if sql.row(_OCCUPIED, params) is not None:
            raise ConversationOccupied(conversation_id)
        return
    with transaction.atomic():
        taken = sql.row(_OCCUPY, params)
        if taken is None:
            raise ConversationOccupied(conversation_id)
        _fill((caller.project_id, conversation_id), archive, first_act=taken[0] - len(archive.redactions) + 1)


def _check(conversation_id: str, archive: ConversationArchive) -> None:
    """What a row says must be what it can be read back as."""
    numbers: set[int] = set()
    for turn in archive.turns:
        if turn.redacted != turn.messages.empty:
            wrong = "carries messages" if turn.redacted else "carries no messages and is not marked redacted"
            raise InvalidValue(f"turn {turn.turn} {wrong}")
        if turn.turn in numbers:
            raise InvalidValue(f"two turns numbered {turn.turn}")
        numbers.add(turn.turn)
    named = {turn.conversation_id for turn in archive.turns} | {act.conversation_id for act in archive.redactions}
    if named - {conversation_id}:
        raise InvalidValue(f"a row's conversation_id is not {conversation_id!r}")


_KEY = ("project_id", "conversation")
_TURN_COLUMNS = (*_KEY, "turn", "messages", "search_text", "actor", "redacted", "created_at", "format")
_PROJECTION_COLUMNS = (*_KEY, "position", "turn", "span", "kind", "text", "format")
_REDACTION_COLUMNS = (*_KEY, "position", "turns", "actor", "created_at")


def _fill(key: tuple[int, str], archive: ConversationArchive, first_act: int) -> None:
    sql.copy(
        "conversations_turn",
        _TURN_COLUMNS,
        (
            (*key, t.turn, t.messages.json, t.messages.search_text, t.actor, t.redacted, t.created_at, 1)
            for t in archive.turns
        ),
    )
    sql.copy(
        "conversations_projection",
        _PROJECTION_COLUMNS,
        ((*key, place, p.turn, p.span, p.kind, p.text, 1) for place, p in enumerate(archive.projections, start=1)),
    )
    sql.copy(
        "conversations_turnredaction",
        _REDACTION_COLUMNS,
        (
            (*key, place, act.turns, act.actor, act.created_at)
            for place, act in enumerate(archive.redactions, start=first_act)
        ),
    )
