"""What units are read from and what they land in. This installation's own database is one; others may follow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from authz.caller import Caller
from conversations.archive import ConversationArchive
from conversations.operations import export as conversation_export
from conversations.operations import store as conversation_store
from memory.archive import ScopeArchive
from memory.operations import export as scope_export
from memory.operations import store as scope_store
from memory.operations.export import DocumentRow
from neosian_site.workflows.archive.layout import Unit

Row = dict[str, Any]


class Source(Protocol):
    """A store that archives are written from.

    Rows are the archive's without its format key. They may be read from the store while they are iterated over, one
    listing at a time.
    """

    def units(self) -> list[Unit]:
        """Every unit that holds something: scopes, then conversations, each kind sorted by code point."""

    def documents(self, scope: str) -> Iterator[DocumentRow]:
        """Live documents, each path once."""

    def versions(self, scope: str) -> Iterator[Row]:
        """Version rows, path after path, each path's oldest first."""

    def redactions(self, scope: str) -> Iterator[Row]:
        """Acts of erasing documents, oldest first."""

    def turns(self, conversation_id: str) -> Iterator[Row]:
        """Turns, ascending."""

    def projections(self, conversation_id: str) -> Iterator[Row]:
        """Projections, by turn, span and arrival."""

    def turn_redactions(self, conversation_id: str) -> Iterator[Row]:
        """Acts of erasing turns, oldest first."""


class Target(Source, Protocol):
    """A store that archives land in, and that says what landed."""

    def occupied(self, units: list[Unit]) -> set[Unit]:
        """Those of the units that hold something already."""

    def restore_scope(self, name: str, archive: ScopeArchive) -> None:
        """Fill an empty scope, whole or not at all.

        :raises ScopeOccupied: it is not empty
        """

    def restore_conversation(self, name: str, archive: ConversationArchive) -> None:
        """Fill an empty conversation, whole or not at all.

        :raises ConversationOccupied: it is not empty
        """


@dataclass(frozen=True, slots=True)
class LocalStore:
    """One project of this installation, as ``caller`` may reach it: a source and a target."""

    caller: Caller

    def units(self) -> list[Unit]:
        return [
            *(Unit("scope", name) for name in scope_store.scopes(self.caller)),
            *(Unit("conversation", name) for name in conversation_store.conversations(self.caller)),
        ]

    def documents(self, scope: str) -> Iterator[DocumentRow]:
        return scope_export.documents(self.caller, scope=scope)

    def versions(self, scope: str) -> Iterator[Row]:
        return scope_export.versions(self.caller, scope=scope)

    def redactions(self, scope: str) -> Iterator[Row]:
        return scope_export.redactions(self.caller, scope=scope)

    def turns(self, conversation_id: str) -> Iterator[Row]:
        return conversation_export.turns(self.caller, conversation_id=conversation_id)

    def projections(self, conversation_id: str) -> Iterator[Row]:
        return conversation_export.projections(self.caller, conversation_id=conversation_id)

    def turn_redactions(self, conversation_id: str) -> Iterator[Row]:
        return conversation_export.redactions(self.caller, conversation_id=conversation_id)

    def occupied(self, units: list[Unit]) -> set[Unit]:
        return set(self.units()).intersection(units)

    def restore_scope(self, name: str, archive: ScopeArchive) -> None:
        scope_store.restore_scope(self.caller, scope=name, archive=archive)

    def restore_conversation(self, name: str, archive: ConversationArchive) -> None:
        conversation_store.restore_conversation(self.caller, conversation_id=name, archive=archive)
