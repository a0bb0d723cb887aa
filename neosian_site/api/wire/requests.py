"""The routes' parameters, each model's fields in the order in which the contract checks them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, PlainValidator

from conversations import archive as conversation_archive
from conversations.archive import ArchivedTurn, ArchivedTurnRedaction
from conversations.messages import Messages
from conversations.messages import decode as decode_messages
from conversations.operations.projections import ProjectionEntry
from memory import archive as scope_archive
from memory.archive import ArchivedDocument, ArchivedRedaction, ArchivedVersion
from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue
from neosian_site.core.paging import MAX_PAGE_ROWS
from neosian_site.core.validation import Strict


def _objects(name: str, decode: Callable[[list[Any]], Any], *, optional: bool = False) -> PlainValidator:
    """A list of objects, each read by ``decode``; ``None`` stays where the list may be left out."""

    def read(value: Any) -> Any:
        if value is None and optional:
            return None
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise InvalidValue(f"parameter '{name}' must be a list of objects")
        return decode(value)

    return PlainValidator(read)


def _time(name: str) -> PlainValidator:
    def read(value: Any) -> datetime | None:
        if value is None:
            return None
        if not isinstance(value, str):
            raise InvalidValue(f"parameter '{name}' must be a string")
        return clock.parse(value)

    return PlainValidator(read)


def _at_most(refusal: str) -> AfterValidator:
    def check(value: int | None) -> int | None:
        if value is not None and value > MAX_PAGE_ROWS:
            raise InvalidValue(refusal)
        return value

    return AfterValidator(check)


Since = Annotated[datetime | None, _time("since")]


class Scoped(Strict):
    scope: str


class Document(Scoped):
    path: str


class Write(Document):
    content: str
    actor: str | None = None
    expected_version: int | None = None


class Delete(Document):
    actor: str | None = None


class Rename(Scoped):
    src: str
    dst: str
    actor: str | None = None


class ListDocuments(Scoped):
    prefix: str | None = None
    cursor: str | None = None
    limit: int | None = None


class Versions(Document):
    cursor: str | None = None
    limit: int | None = None


class Redact(Scoped):
    path: str | None = None
    actor: str | None = None


class Ledger(Scoped):
    """History and the redaction trail of a scope."""

    since: Since = None
    cursor: str | None = None
    limit: int | None = None


class Conversation(Strict):
    conversation_id: str


class AppendTurn(Conversation):
    messages: Annotated[Messages, _objects("messages", decode_messages)]
    actor: str | None = None


class ReadConversation(Conversation):
    """Turns and projections."""

    after: int | None = None
    limit: int | None = None


class SearchTurns(Strict):
    limit: Annotated[int | None, _at_most("a search answers at most 500 turns; narrow the query")] = None
    query: str
    conversations: list[str] | None = None


class AppendProjections(Conversation):
    entries: Annotated[
        list[ProjectionEntry], _objects("entries", lambda rows: conversation_archive.projections(rows, "entries"))
    ]


class RedactTurns(Conversation):
    through: int | None = None
    turns: list[int] | None = None
    actor: str | None = None


class TurnRedactions(Strict):
    limit: Annotated[int | None, _at_most("the trail answers at most 500 acts; narrow the window")] = None
    conversations: list[str] | None = None
    since: Since = None


class Nothing(Strict):
    """Any object; its keys are ignored."""


class RestoreScope(Scoped):
    documents: Annotated[list[ArchivedDocument], _objects("documents", scope_archive.documents)]
    versions: Annotated[list[ArchivedVersion], _objects("versions", scope_archive.versions)]
    redactions: Annotated[list[ArchivedRedaction], _objects("redactions", scope_archive.redactions)]


class RestoreConversation(Conversation):
    turns: Annotated[list[ArchivedTurn], _objects("turns", conversation_archive.turns)]
    projections: Annotated[list[ProjectionEntry], _objects("projections", conversation_archive.projections)]
    redactions: Annotated[
        list[ArchivedTurnRedaction] | None,
        _objects("redactions", conversation_archive.redactions, optional=True),
    ] = None
