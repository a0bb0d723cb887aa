"""Conversations nobody continued for a while, for retention."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from authz import access
from authz.caller import Caller
from conversations.operations.reading import LOCK_CONVERSATION
from neosian_site.core import sql

PAGE = 200

_IDLE = """
    SELECT c.id, t.turns, t.last_at
    FROM conversations_conversation c
    CROSS JOIN LATERAL (
        SELECT count(*) AS turns, max(t.created_at) AS last_at, bool_and(t.redacted) AS blank
        FROM conversations_turn t WHERE t.project_id = c.project_id AND t.conversation = c.id
    ) t
    WHERE c.project_id = %(project)s AND c.id > %(after)s AND t.last_at < %(before)s AND NOT t.blank
    ORDER BY c.id LIMIT %(page)s
"""
_NEWEST = """
    SELECT max(created_at) FROM conversations_turn WHERE project_id = %(project)s AND conversation = %(conversation)s
"""


@dataclass(frozen=True, slots=True)
class IdleConversation:
    """A conversation, how many turns it holds, and when the newest was made."""

    conversation_id: str
    turns: int
    last_at: datetime


def idle(caller: Caller, *, before: datetime, after: str = "") -> list[IdleConversation]:
    """The next conversations, by id, whose newest turn is older than ``before`` and that are not blank already."""
    access.whole_store(caller)
    params = {"project": caller.project_id, "before": before, "after": after, "page": PAGE}
    return [IdleConversation(*row) for row in sql.rows(_IDLE, params)]


def hold_if_idle(caller: Caller, *, conversation_id: str, before: datetime) -> bool:
    """Whether the conversation is still idle; if so nobody continues it until the caller's transaction ends."""
    access.whole_store(caller)
    params = {"project": caller.project_id, "conversation": conversation_id}
    if sql.row(LOCK_CONVERSATION, params) is None:
        return False
    newest = sql.row(_NEWEST, params)
    return newest is not None and newest[0] is not None and newest[0] < before
