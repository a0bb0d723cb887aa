"""Who asks: what a presented token makes of a request."""

from __future__ import annotations

from dataclasses import dataclass

from authz.grants import Permissions


@dataclass(frozen=True, slots=True)
class Allowance:
    """Two literal prefixes a constrained token may not leave (seeds/wire "Auth").

    ``None`` closes that half altogether, ``""`` opens it.
    """

    scope_prefix: str | None
    conversation_prefix: str | None

    def covers_scope(self, scope: str) -> bool:
        return self.scope_prefix is not None and scope.startswith(self.scope_prefix)

    def covers_conversation(self, conversation_id: str) -> bool:
        return self.conversation_prefix is not None and conversation_id.startswith(self.conversation_prefix)


@dataclass(frozen=True, slots=True)
class Caller:
    """An authenticated client of one project. Every operation takes it first."""

    project_id: int
    client: str
    # None: the token reaches everything in its project.
    allowance: Allowance | None = None
    # None: grants are off in its project.
    grants: Permissions | None = None

    def recorded_as(self, actor: str | None) -> str:
        """What a write by this caller is recorded under; ``actor`` is opaque and can only extend the client's name."""
        return self.client if actor is None else f"{self.client}/{actor}"
