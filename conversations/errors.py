"""What the conversation operations refuse (codes of seeds/wire "The envelope")."""

from __future__ import annotations

from typing import Any

from neosian_site.core.errors import DomainError, quoted


class _ConversationError(DomainError):
    def __init__(self, conversation_id: str, reason: str, message: str) -> None:
        super().__init__(message.format(id=quoted(conversation_id), reason=reason))
        self.conversation_id, self.reason = conversation_id, reason

    def details(self) -> dict[str, Any]:
        return {"conversation_id": self.conversation_id, "reason": self.reason}


class ConversationIdInvalid(_ConversationError):
    """The conversation id is outside its grammar."""

    def __init__(self, conversation_id: str, reason: str) -> None:
        super().__init__(conversation_id, reason, "Invalid conversation id {id}: {reason}")


class ConversationOccupied(_ConversationError):
    """A restore needs a conversation without a turn or projection."""

    def __init__(self, conversation_id: str) -> None:
        super().__init__(conversation_id, "target_occupied", "Conversation conflict on {id}: {reason}")


class ConversationFormatUnsupported(_ConversationError):
    """A stored row is of a newer format, or damaged, and cannot be read."""

    def __init__(self, conversation_id: str, reason: str) -> None:
        super().__init__(conversation_id, reason, "Unsupported turn format in conversation {id}: {reason}")
