"""Turns: append and read (seeds/wire "Conversation")."""

from __future__ import annotations

from authz import access
from authz.caller import Caller
from conversations.messages import Messages
from conversations.names import check_id
from conversations.operations.reading import TURN_JSON, check_after, check_format
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonBytes
from neosian_site.core.paging import EMPTY_NUMBERED_PAGE, MAX_PAGE_ROWS, NumberedPage, page_size
from neosian_site.core.values import check_text

# One statement: the conversation's row gives out the number and stays locked until the turn is committed with it, so
# numbers have no gaps and no repeats whoever races.
_APPEND = f"""
    WITH counted AS (
        INSERT INTO conversations_conversation AS c (project_id, id, last_turn, entries, acts, created_at)
        VALUES (%(project)s, %(conversation)s, 1, 0, 0, %(now)s)
        ON CONFLICT (project_id, id) DO UPDATE SET last_turn = c.last_turn + 1
        RETURNING c.project_id, c.id, c.last_turn
    )
    INSERT INTO conversations_turn AS t (
        project_id, conversation, turn, messages, search_text, actor, redacted, created_at, format
    )
    SELECT counted.project_id, counted.id, counted.last_turn, %(messages)s, %(search_text)s, %(actor)s, false,
           %(now)s, 1
    FROM counted
    RETURNING {TURN_JSON}
"""

_READ = f"""
    SELECT {TURN_JSON}, t.turn, t.format
    FROM conversations_turn t
    WHERE t.project_id = %s AND t.conversation = %s AND t.turn > %s
    ORDER BY t.turn
    LIMIT %s
"""

_LAST = "SELECT last_turn FROM conversations_conversation WHERE project_id = %s AND id = %s"


def append(caller: Caller, *, conversation_id: str, messages: Messages, actor: str | None = None) -> JsonBytes:
    """The turn as stored, under the conversation's next number.

    :raises InvalidValue: no messages
    """
    access.append_conversation(caller, conversation_id)
    check_id(conversation_id)
    if messages.empty:
        raise InvalidValue("a turn must carry at least one message")
    check_text("actor", actor)
    stored = sql.row(
        _APPEND,
        {
            "project": caller.project_id,
            "conversation": conversation_id,
            "messages": messages.json,
            "search_text": messages.search_text,
            "actor": caller.recorded_as(actor),
            "now": clock.now(),
        },
    )
    assert stored is not None, "an insert answers its row"
    return JsonBytes(stored[0])


def read(caller: Caller, *, conversation_id: str, after: int | None = None, limit: int | None = None) -> NumberedPage:
    """Turns numbered above ``after``, ascending; blanked ones as skeletons.

    A limit up to 500 is a total bound; without one, or above, a full page names the turn to go on after.
    """
    access.read_conversation(caller, conversation_id)
    check_id(conversation_id)
    number = check_after(after)
    size = page_size(limit)
    if size == 0:
        return EMPTY_NUMBERED_PAGE
    found = sql.rows(_READ, (caller.project_id, conversation_id, number, size))
    for _, _, row_format in found:
        check_format(row_format, conversation_id)
    pages = limit is None or limit > MAX_PAGE_ROWS
    next_after = found[-1][1] if pages and len(found) == size else None
    return NumberedPage([JsonBytes(turn) for turn, _, _ in found], next_after)


def last_number(caller: Caller, *, conversation_id: str) -> int:
    """The highest turn number ever assigned; 0 when there is none."""
    access.read_conversation(caller, conversation_id)
    check_id(conversation_id)
    found = sql.row(_LAST, (caller.project_id, conversation_id))
    return 0 if found is None else found[0]
