from memory.models.change import ChangeEvent, PendingChange
from memory.models.document import Document, DocumentVersion
from memory.models.scope import Redaction, Scope

__all__ = ["ChangeEvent", "Document", "DocumentVersion", "PendingChange", "Redaction", "Scope"]
