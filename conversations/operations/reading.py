"""SQL and checks the conversation operations share."""

from __future__ import annotations

from conversations.errors import ConversationFormatUnsupported
from conversations.models.turn import FORMAT
from neosian_site.core import sql
from neosian_site.core.errors import InvalidValue

TURN_JSON = sql.json_object(
    conversation_id=sql.json_plain("t.conversation"),
    turn="t.turn",
    messages="t.messages",
    created_at=sql.json_time("t.created_at"),
    actor=sql.json_string("t.actor"),
    redacted=sql.json_bool("t.redacted"),
)

PROJECTION_JSON = sql.json_object(
    turn="p.turn",
    kind=sql.json_plain("p.kind"),
    text=sql.json_string("p.text"),
    span="p.span",
)

TURN_REDACTION_JSON = sql.json_object(
    conversation_id=sql.json_plain("r.conversation"),
    turns="to_json(r.turns)::text",
    actor=sql.json_string("r.actor"),
    created_at=sql.json_time("r.created_at"),
)

LOCK_CONVERSATION = """
    SELECT acts FROM conversations_conversation
    WHERE project_id = %(project)s AND id = %(conversation)s FOR UPDATE
"""


def check_format(found: int, conversation_id: str) -> None:
    """Refuse a row this version cannot read; it is never skipped.

    :raises ConversationFormatUnsupported: the row is of another format
    """
    if found != FORMAT:
        raise ConversationFormatUnsupported(
            conversation_id, f"the row is of format {found}; this server reads {FORMAT}"
        )


def check_after(after: int | None) -> int:
    """The turn number a read goes on after.

    :raises InvalidValue: negative
    """
    if after is None:
        return 0
    if after < 0:
        raise InvalidValue(f"after must be >= 0, got {after}")
    return min(after, sql.MAX_BIGINT)
