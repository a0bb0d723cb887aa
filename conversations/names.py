"""Grammar of conversation ids."""

from __future__ import annotations

import re

from conversations.errors import ConversationIdInvalid

MAX_ID_CHARS = 128

_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def check_id(conversation_id: str) -> None:
    """One flat segment of letters, digits, ``_``, ``.`` and ``-``.

    :raises ConversationIdInvalid: with the first reason that applies
    """
    if len(conversation_id) > MAX_ID_CHARS:
        raise ConversationIdInvalid(conversation_id, f"longer than {MAX_ID_CHARS} characters")
    if not _ID.fullmatch(conversation_id):
        raise ConversationIdInvalid(conversation_id, "must match [A-Za-z0-9_.-]{1,128}, one flat segment")
    if conversation_id in (".", ".."):
        raise ConversationIdInvalid(conversation_id, f"id '{conversation_id}' is reserved")
