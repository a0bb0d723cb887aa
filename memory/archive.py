"""The rows a scope is moved with (seeds/wire "The JSON shapes"), read strictly and kept verbatim."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator

from neosian_site.core import clock, jsonio
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import JsonText
from neosian_site.core.validation import Strict, decode_all
from neosian_site.core.values import MAX_STORED_INTEGER, check_stored_integer, check_text

ACTIONS = ("created", "modified", "deleted")


def _text(name: str) -> AfterValidator:
    def check(value: str | None) -> str | None:
        check_text(name, value)
        return value

    return AfterValidator(check)


def _number(name: str, least: int) -> AfterValidator:
    def check(value: int) -> int:
        check_stored_integer(name, value, least=least)
        return value

    return AfterValidator(check)


def _action(value: str) -> str:
    if value not in ACTIONS:
        raise InvalidValue(f"action must be one of {list(ACTIONS)}, got {value!r}")
    return value


def _extra(value: Any) -> JsonText:
    if value is not None and not isinstance(value, dict):
        raise InvalidValue("parameter 'extra' must be an object")
    return jsonio.storable(value or {})


Content = Annotated[str, _text("content")]
Actor = Annotated[str | None, _text("actor")]
Version = Annotated[int, _number("version", 1)]
Time = Annotated[datetime, BeforeValidator(clock.parse)]


class ArchivedDocument(Strict):
    scope: str
    path: str
    content: Content
    version: Version
    created_at: Time
    updated_at: Time
    actor: Actor
    redacted: bool
    extra: Annotated[JsonText, BeforeValidator(_extra)] = JsonText("{}")


class ArchivedVersion(Strict):
    path: str
    version: Version
    action: Annotated[str, AfterValidator(_action)]
    content: Content
    actor: Actor
    created_at: Time
    redacted: bool


class ArchivedRedaction(Strict):
    path: str | None
    actor: Actor
    created_at: Time
    # Acts of any count come back as they were, so no lower bound of ours.
    count: Annotated[int, _number("count", -MAX_STORED_INTEGER)]


@dataclass(frozen=True, slots=True)
class ScopeArchive:
    """One scope, whole. Rows may stand in any order."""

    documents: list[ArchivedDocument]
    versions: list[ArchivedVersion]
    redactions: list[ArchivedRedaction]

    @property
    def empty(self) -> bool:
        return not (self.documents or self.versions or self.redactions)


def documents(rows: list[Any]) -> list[ArchivedDocument]:
    """:raises InvalidValue: the first row that cannot come back verbatim"""
    return decode_all(ArchivedDocument, rows, "documents")


def versions(rows: list[Any]) -> list[ArchivedVersion]:
    """:raises InvalidValue: the first row that cannot come back verbatim"""
    return decode_all(ArchivedVersion, rows, "versions")


def redactions(rows: list[Any]) -> list[ArchivedRedaction]:
    """:raises InvalidValue: the first row that cannot come back verbatim"""
    return decode_all(ArchivedRedaction, rows, "redactions")
