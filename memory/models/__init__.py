from memory.models.document import Document, DocumentVersion
from memory.models.scope import Redaction, Scope

__all__ = ["Document", "DocumentVersion", "Redaction", "Scope"]
