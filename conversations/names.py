"""Conversation ids, refused with the contract's own code."""

from __future__ import annotations

from conversations.errors import ConversationIdInvalid
from neosian_site.core.names import conversation_fault


def check_id(conversation_id: str) -> None:
    """One flat segment of letters, digits, ``_``, ``.`` and ``-``.

    :raises ConversationIdInvalid: with the first reason that applies
    """
    if (fault := conversation_fault(conversation_id)) is not None:
        raise ConversationIdInvalid(conversation_id, fault)
