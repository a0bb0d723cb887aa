"""The one place where refusals become wire answers (seeds/wire "The envelope")."""

from __future__ import annotations

from django.db import InterfaceError, OperationalError
from django.http import HttpResponse

from conversations.errors import ConversationFormatUnsupported, ConversationIdInvalid, ConversationOccupied
from memory.errors import DocumentNotFound, MemoryConflict, MemoryFormatUnsupported, PathInvalid, ScopeInvalid
from neosian_site.api.http import Answer, json_answer, plain_answer
from neosian_site.api.wire.auth import Unauthenticated
from neosian_site.core import jsonio, logs
from neosian_site.core.errors import DomainError, InvalidValue, NotPermitted, TooLarge, presentable

# Looked up along the class's bases, so that a kind of conflict answers as its family.
TABLE: dict[type[DomainError], tuple[str, int]] = {
    InvalidValue: ("value_error", 400),
    TooLarge: ("value_error", 413),
    NotPermitted: ("forbidden", 403),
    ScopeInvalid: ("memory_scope_invalid", 400),
    PathInvalid: ("memory_path_invalid", 400),
    DocumentNotFound: ("memory_document_not_found", 400),
    MemoryConflict: ("memory_conflict", 400),
    MemoryFormatUnsupported: ("memory_format_unsupported", 400),
    ConversationIdInvalid: ("agent_conversation_id_invalid", 400),
    ConversationOccupied: ("agent_conversation_conflict", 400),
    ConversationFormatUnsupported: ("agent_conversation_format_unsupported", 400),
}

RETRY_AFTER_SECONDS = 1


class NoSuchRoute(Exception):
    """An authenticated request for a path that is no route."""


class MethodRefused(Exception):
    """A route asked with a method it does not have."""

    def __init__(self, allowed: list[str]) -> None:
        super().__init__(", ".join(allowed).upper())


_log = logs.logger(__name__)


def answer(error: Exception) -> HttpResponse:
    """The answer a refusal gives; anything unforeseen is a bare 500, and logged without its values."""
    if isinstance(error, OperationalError | InterfaceError):
        return _unavailable(error)
    if isinstance(error, DomainError):
        return _envelope(error)
    if isinstance(error, Unauthenticated):
        stranger = Answer(b"unauthorized", None, 401)
        stranger["WWW-Authenticate"] = "Bearer"
        return stranger
    if isinstance(error, NoSuchRoute):
        return plain_answer("Not Found", 404)
    if isinstance(error, MethodRefused):
        refused = plain_answer("Method Not Allowed", 405)
        refused["Allow"] = str(error)
        return refused
    _log.error("request failed", error=type(error).__name__, where=_where(error))
    return plain_answer("Internal Server Error", 500)


def _envelope(error: DomainError) -> HttpResponse:
    code, status = next(TABLE[kind] for kind in type(error).__mro__ if kind in TABLE)
    body = {"error": {"code": code, "message": str(error), "details": error.details()}}
    return json_answer(jsonio.text(presentable(body)), status)


def _unavailable(error: Exception) -> HttpResponse:
    """The database is away or has no connection free: an honest refusal, at once, with a hint when to try again."""
    _log.warning("database unavailable", error=type(error).__name__, where=_where(error))
    refused = plain_answer("Service Unavailable", 503)
    refused["Retry-After"] = str(RETRY_AFTER_SECONDS)
    return refused


def _where(error: BaseException) -> list[str]:
    """The frames of the failure as file, line and function: a traceback without a single value."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-12:]
