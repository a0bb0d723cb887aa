"""Erasing conversations and what was noted of them elsewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from django.db import transaction

from authz.caller import Caller
from conversations.operations import idle, redaction
from conversations.operations.idle import IdleConversation
from memory.operations import inventory
from memory.operations import redaction as document_redaction


@dataclass(frozen=True, slots=True)
class SessionDocument:
    """The document a recorder keeps of a conversation."""

    scope: str
    path: str


@dataclass(frozen=True, slots=True)
class Pruned:
    """A conversation that was erased, and the sessions documents erased with it."""

    conversation: IdleConversation
    documents: list[SessionDocument]


def redact(
    caller: Caller, *, conversation_id: str, through: int | None = None, turns: list[int] | None = None
) -> tuple[int, list[SessionDocument]]:
    """Blank turns; with neither ``through`` nor ``turns`` all of them, and the sessions documents in every scope.

    Each conversation and each document is erased in a transaction of its own: repeating finishes what broke off.
    """
    count = redaction.redact(caller, conversation_id=conversation_id, through=through, turns=turns)
    if through is not None or turns is not None:
        return count, []
    return count, _redact_documents(caller, [conversation_id])


def stale(caller: Caller, *, before: datetime) -> Iterator[list[IdleConversation]]:
    """Conversations whose newest turn is older than ``before``, a page at a time."""
    after = ""
    while page := idle.idle(caller, before=before, after=after):
        yield page
        after = page[-1].conversation_id


def prune(caller: Caller, page: list[IdleConversation], *, before: datetime) -> Iterator[Pruned]:
    """Erase a page of stale conversations whole, each with its sessions documents in one transaction.

    A conversation that was continued in the meantime stays, and is not told.
    """
    documents = _documents_by_path(caller, page)
    for row in page:
        own = documents[f"sessions/{row.conversation_id}"]
        with transaction.atomic():
            if not idle.hold_if_idle(caller, conversation_id=row.conversation_id, before=before):
                continue
            turns = redaction.redact(caller, conversation_id=row.conversation_id)
            for document in own:
                document_redaction.redact(caller, scope=document.scope, path=document.path)
        yield Pruned(replace(row, turns=turns), own)


def preview(caller: Caller, page: list[IdleConversation]) -> Iterator[Pruned]:
    """What :func:`prune` would erase of a page."""
    documents = _documents_by_path(caller, page)
    for row in page:
        yield Pruned(row, documents[f"sessions/{row.conversation_id}"])


def session_documents(caller: Caller, conversation_ids: list[str]) -> list[SessionDocument]:
    """The live sessions documents of the conversations, in every scope."""
    found = inventory.holding(caller, paths=[f"sessions/{name}" for name in conversation_ids])
    return [SessionDocument(scope, path) for path, scope in found]


def _documents_by_path(caller: Caller, page: list[IdleConversation]) -> dict[str, list[SessionDocument]]:
    documents: dict[str, list[SessionDocument]] = defaultdict(list)
    for document in session_documents(caller, [row.conversation_id for row in page]):
        documents[document.path].append(document)
    return documents


def _redact_documents(caller: Caller, conversation_ids: list[str]) -> list[SessionDocument]:
    documents = session_documents(caller, conversation_ids)
    for document in documents:
        document_redaction.redact(caller, scope=document.scope, path=document.path)
    return documents
