"""Structured logs: one JSON object a line, with the request's id, project and operation, never content or a token."""

from __future__ import annotations

import logging
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import uuid4

import structlog


@dataclass
class RequestContext:
    """What every line written while a request is answered says of it."""

    operation: str
    project: int | None = None

    @cached_property
    def request_id(self) -> str:
        """Made when a line is written: most requests write none."""
        return uuid4().hex


current: ContextVar[RequestContext | None] = ContextVar("request", default=None)


def _add_request(_: Any, __: str, event: dict[str, Any]) -> dict[str, Any]:
    context = current.get()
    if context is not None:
        event["request_id"] = context.request_id
        event["operation"] = context.operation
        if context.project is not None:
            event["project"] = context.project
    return event


_SHARED: list[Any] = [
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _add_request,
]


def configure(level: str) -> None:
    """Send every logger, the libraries' too, to standard error as JSON lines.

    Tracebacks are printed without the values of variables: those may hold content.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    # A database error's text may quote a row: the request's own line says what failed, without values.
    logging.getLogger("django.request").setLevel(logging.CRITICAL)
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )


def logger(name: str) -> Any:
    """A structured logger."""
    return structlog.stdlib.get_logger(name)
