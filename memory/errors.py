"""What the memory operations refuse (codes of seeds/wire "The envelope")."""

from __future__ import annotations

from typing import Any

from neosian_site.core.errors import DomainError, quoted


class ScopeInvalid(DomainError):
    """The scope is outside its grammar."""

    def __init__(self, scope: str, reason: str) -> None:
        super().__init__(f"Invalid memory scope {quoted(scope)}: {reason}")
        self.scope, self.reason = scope, reason

    def details(self) -> dict[str, Any]:
        return {"scope": self.scope, "reason": self.reason}


class PathInvalid(DomainError):
    """The document path is outside its grammar."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"Invalid memory document path {quoted(path)}: {reason}")
        self.path, self.reason = path, reason

    def details(self) -> dict[str, Any]:
        return {"path": self.path, "reason": self.reason}


class DocumentNotFound(DomainError):
    """A rename's source is not there."""

    def __init__(self, scope: str, path: str) -> None:
        super().__init__(f"Memory document not found: {quoted(path)} in scope {quoted(scope)}")
        self.scope, self.path = scope, path

    def details(self) -> dict[str, Any]:
        return {"scope": self.scope, "path": self.path}


class MemoryConflict(DomainError):
    """The store is not in the state the request needs. ``reason`` says how."""

    reason = ""

    def __init__(
        self,
        scope: str,
        path: str | None = None,
        *,
        expected_version: int | None = None,
        actual_version: int | None = None,
    ) -> None:
        place = f"in scope {quoted(scope)}" if path is None else f"on {quoted(path)} in scope {quoted(scope)}"
        super().__init__(f"Memory conflict {place}: {self.reason}")
        self.scope, self.path = scope, path
        self.expected_version, self.actual_version = expected_version, actual_version

    def details(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "path": self.path,
            "reason": self.reason,
            "expected_version": self.expected_version,
            "actual_version": self.actual_version,
        }


class VersionMismatch(MemoryConflict):
    """The document moved on since the version the caller read."""

    reason = "version_mismatch"


class DocumentAbsent(MemoryConflict):
    """A version was expected of a document that is not there."""

    reason = "document_absent"


class DestinationExists(MemoryConflict):
    """A rename's destination holds a live document."""

    reason = "destination_exists"


class ScopeOccupied(MemoryConflict):
    """A restore needs a scope without a document, history or redaction."""

    reason = "target_occupied"


class MemoryFormatUnsupported(DomainError):
    """A stored row is of a newer format, or damaged, and cannot be read."""

    def __init__(self, scope: str, path: str | None, reason: str) -> None:
        super().__init__(f"Unsupported memory format for {path!r} in scope {quoted(scope)}: {reason}")
        self.scope, self.path, self.reason = scope, path, reason

    def details(self) -> dict[str, Any]:
        return {"scope": self.scope, "path": self.path, "reason": self.reason}
