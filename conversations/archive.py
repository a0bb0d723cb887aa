"""The rows a conversation is moved with (seeds/wire "The JSON shapes"), read strictly and kept verbatim."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from conversations import messages
from conversations.messages import Messages
from conversations.operations.projections import ProjectionEntry
from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue
from neosian_site.core.validation import MISSING_PARAMETER, Strict, decode_all
from neosian_site.core.values import check_stored_integer, check_text


def _actor(value: str | None) -> str | None:
    check_text("actor", value)
    return value


def _turn_number(value: int) -> int:
    check_stored_integer("turn", value, least=1)
    return value


def _acted_turns(value: list[int]) -> list[int]:
    if not value:
        raise InvalidValue("a redaction must name at least one turn")
    for number in value:
        check_stored_integer("turns", number, least=1)
    if any(later <= earlier for earlier, later in itertools.pairwise(value)):
        raise InvalidValue("the turns of a redaction must ascend")
    return value


Actor = Annotated[str | None, AfterValidator(_actor)]
Time = Annotated[datetime, BeforeValidator(clock.parse)]


class _TurnRow(Strict):
    conversation_id: str
    turn: Annotated[int, AfterValidator(_turn_number)]
    messages: list[dict[str, Any]]
    created_at: Time
    actor: Actor = None
    redacted: bool = False


class ArchivedTurnRedaction(Strict):
    conversation_id: str
    turns: Annotated[list[int], AfterValidator(_acted_turns)]
    created_at: Time
    actor: Actor = None


class ProjectionRow(Strict):
    """A projection as it travels; :meth:`entry` judges its numbers."""

    span: int | None = None
    turn: int
    kind: str
    text: str

    def entry(self) -> ProjectionEntry:
        return ProjectionEntry(self.turn, self.kind, self.text, 1 if self.span is None else self.span)


@dataclass(frozen=True, slots=True)
class ArchivedTurn:
    conversation_id: str
    turn: int
    messages: Messages
    created_at: datetime
    actor: str | None
    redacted: bool


@dataclass(frozen=True, slots=True)
class ConversationArchive:
    """One conversation, whole. Rows may stand in any order."""

    turns: list[ArchivedTurn]
    projections: list[ProjectionEntry]
    redactions: list[ArchivedTurnRedaction]

    @property
    def empty(self) -> bool:
        return not (self.turns or self.projections or self.redactions)


def turns(rows: list[Any]) -> list[ArchivedTurn]:
    """:raises InvalidValue: the first row that cannot come back verbatim"""
    return [
        ArchivedTurn(
            row.conversation_id, row.turn, messages.decode(row.messages), row.created_at, row.actor, row.redacted
        )
        for row in decode_all(_TurnRow, rows, "turns")
    ]


def projections(rows: list[Any], name: str = "projections") -> list[ProjectionEntry]:
    """:raises InvalidValue: the first row that is no projection"""
    return [row.entry() for row in decode_all(ProjectionRow, rows, name, absent=MISSING_PARAMETER)]


def redactions(rows: list[Any]) -> list[ArchivedTurnRedaction]:
    """:raises InvalidValue: the first row that is no act"""
    return decode_all(ArchivedTurnRedaction, rows, "redactions", absent=MISSING_PARAMETER)
