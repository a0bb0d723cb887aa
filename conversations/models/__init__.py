from conversations.models.conversation import Conversation, TurnRedaction
from conversations.models.turn import Projection, Turn

__all__ = ["Conversation", "Projection", "Turn", "TurnRedaction"]
