"""Refusals an operation may give.

They carry typed fields and know nothing of HTTP: each contract's package under ``api`` has a table that turns a
class into its own code and status.
"""

from __future__ import annotations

from typing import Any


class DomainError(Exception):
    """The operation refuses; nothing was changed."""

    def details(self) -> dict[str, Any]:
        """The typed fields a caller may act on, in the contract's order."""
        return {}


class InvalidValue(DomainError, ValueError):
    """A parameter has the wrong type, is missing, or holds a value no store takes.

    A ``ValueError`` too, so that a model's validator may raise it and the models' errors keep their order.
    """


class TooLarge(DomainError):
    """The request body is longer than the contract's ceiling."""


class NotPermitted(DomainError):
    """The caller's token does not reach what the request names."""


def quoted(text: str) -> str:
    """``text`` in quotes for a message: control characters and half characters escaped, printable text left alone.

    Python's ``repr`` is what published clients show, so it is kept.
    """
    return repr(text)


def presentable(value: Any) -> Any:
    """``value`` with lone surrogates spelled out, so that no half character ever leaves the server."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, dict):
        return {presentable(key): presentable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [presentable(item) for item in value]
    return value
