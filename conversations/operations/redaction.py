"""Blanking turns, and the trail of it (seeds/wire "Conversation")."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from authz import access
from authz.caller import Caller
from conversations.names import check_id
from conversations.operations.reading import LOCK_CONVERSATION, TURN_REDACTION_JSON
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import bounded
from neosian_site.core.values import check_text

DEFAULT_ACTS = 50

_MATCHED = """
    SELECT coalesce(array_agg(turn ORDER BY turn), '{{}}') FROM conversations_turn
    WHERE project_id = %(project)s AND conversation = %(conversation)s {selection}
"""
_BLANK_TURNS = """
    UPDATE conversations_turn SET messages = '[]', search_text = '', redacted = true
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND turn = ANY(%(matched)s::bigint[])
      AND NOT redacted
"""
# An entry is blanked when the turns it stands for hold one that was matched, whenever that one was blanked.
_BLANK_PROJECTIONS = """
    UPDATE conversations_projection p SET text = ''
    WHERE p.project_id = %(project)s AND p.conversation = %(conversation)s AND p.text <> ''
      AND EXISTS (
          SELECT 1 FROM unnest(%(matched)s::bigint[]) AS m (turn)
          WHERE m.turn BETWEEN p.turn - p.span + 1 AND p.turn
      )
"""
_RECORD = """
    WITH counted AS (
        UPDATE conversations_conversation SET acts = acts + 1
        WHERE project_id = %(project)s AND id = %(conversation)s
        RETURNING project_id, id, acts
    )
    INSERT INTO conversations_turnredaction (project_id, conversation, position, turns, actor, created_at)
    SELECT project_id, id, acts, %(matched)s::bigint[], %(actor)s, %(now)s FROM counted
"""


def _trail(within: str) -> str:
    return f"""
        SELECT {TURN_REDACTION_JSON}
        FROM conversations_turnredaction r
        WHERE r.project_id = %(project)s AND r.created_at >= %(since)s {within}
        ORDER BY r.created_at DESC, r.conversation DESC, r.position DESC
        LIMIT %(limit)s
    """


_TRAIL_ALL = _trail("")
_TRAIL_NAMED = _trail("AND r.conversation = ANY(%(conversations)s)")


def redact(
    caller: Caller,
    *,
    conversation_id: str,
    through: int | None = None,
    turns: list[int] | None = None,
    actor: str | None = None,
) -> int:
    """Blank every turn, turns 1 to ``through``, or the numbers in ``turns``; the number of turns matched.

    Numbers, times and authors stay; projections over a matched turn lose their text; matched turns that were blank
    already count again. An act that matched anything leaves a row in the trail.
    """
    access.erase_conversation(caller, conversation_id)
    check_id(conversation_id)
    if through is not None and turns is not None:
        raise InvalidValue("give through= or turns=, not both")
    if through is not None and through < 1:
        raise InvalidValue(f"through must be >= 1, got {through}")
    if turns and min(turns) < 1:
        raise InvalidValue(f"turn numbers start at 1, got {min(turns)}")
    check_text("actor", actor)
    selection = ""
    params = {
        "project": caller.project_id,
        "conversation": conversation_id,
        "actor": caller.recorded_as(actor),
        "now": clock.now(),
    }
    if through is not None:
        selection = "AND turn <= %(through)s"
        params["through"] = min(through, sql.MAX_BIGINT)
    elif turns is not None:
        # A number beyond what can be stored names no turn.
        selection = "AND turn = ANY(%(turns)s::bigint[])"
        params["turns"] = [turn for turn in turns if turn <= sql.MAX_BIGINT]
    with transaction.atomic():
        if sql.row(LOCK_CONVERSATION, params) is None:
            return 0
        found = sql.row(_MATCHED.format(selection=selection), params)
        matched: list[int] = found[0] if found is not None else []
        if not matched:
            return 0
        params["matched"] = matched
        sql.execute(_BLANK_TURNS, params)
        sql.execute(_BLANK_PROJECTIONS, params)
        sql.execute(_RECORD, params)
    return len(matched)


def trail(
    caller: Caller,
    *,
    conversations: list[str] | None = None,
    since: datetime | None = None,
    limit: int | None = None,
) -> list[JsonBytes]:
    """Acts of the whole store or of the named conversations, newest first; bounded, never paged."""
    access.read_conversations(caller, conversations)
    # Contract order: the ids, then the limit (its upper bound is judged with the types already).
    for conversation_id in conversations or ():
        check_id(conversation_id)
    size = bounded(limit, DEFAULT_ACTS, "the trail answers at most 500 acts; narrow the window")
    if conversations == []:
        return []
    found = sql.rows(
        _TRAIL_ALL if conversations is None else _TRAIL_NAMED,
        {
            "project": caller.project_id,
            "since": since or "-infinity",
            "conversations": conversations,
            "limit": size,
        },
    )
    return [JsonBytes(act) for (act,) in found]
