"""Parameters of the optional routes, which refuse what they do not know (seeds/wire "Memory search version 1").

Fields stand in the order in which the contract checks them; each is judged whole, its bounds with its type. Only a
cursor may be null.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo

from memory.operations import change_cursors, changes
from neosian_site.core.errors import InvalidValue
from neosian_site.core.text import has_surrogate, split_white_space
from neosian_site.core.validation import Closed
from search import limits


def _judged(check: Callable[[Any, ValidationInfo], None]) -> AfterValidator:
    """A bound of a field whose type is right already; the refusal is the check's own."""

    def judge(value: Any, info: ValidationInfo) -> Any:
        check(value, info)
        return value

    return AfterValidator(judge)


def _refuse_unless(holds: bool, refusal: str) -> None:
    if not holds:
        raise InvalidValue(refusal)


def _whole(value: Any, info: ValidationInfo) -> None:
    _refuse_unless(value is None or not has_surrogate(value), f"parameter '{info.field_name}' holds a lone surrogate")


def _between(least: int, most: int) -> AfterValidator:
    return _judged(
        lambda value, info: _refuse_unless(least <= value <= most, f"{info.field_name} must be {least} to {most}")
    )


def _query(value: str, info: ValidationInfo) -> None:
    _whole(value, info)
    _refuse_unless(1 <= len(value) <= limits.MAX_QUERY_CHARS, f"query must be 1 to {limits.MAX_QUERY_CHARS} characters")
    terms = len(split_white_space(value))
    _refuse_unless(1 <= terms <= limits.MAX_TERMS, f"query must hold 1 to {limits.MAX_TERMS} terms")


def _prefix(value: str, info: ValidationInfo) -> None:
    _whole(value, info)
    _refuse_unless(
        len(value.encode()) <= limits.MAX_PREFIX_BYTES, f"prefix must be at most {limits.MAX_PREFIX_BYTES} bytes"
    )


def _fields(value: list[str], info: ValidationInfo) -> None:
    _refuse_unless(
        bool(value) and len(set(value)) == len(value) and set(value) <= set(limits.FIELDS),
        f"fields must be a nonempty list of {', '.join(limits.FIELDS)}",
    )


def _metadata_keys(value: list[str], info: ValidationInfo) -> None:
    # Fields that were refused are not there; their refusal comes first whatever is said here.
    if "metadata" not in info.data.get("fields", ()):
        _refuse_unless(not value, "metadata_keys needs the metadata field")
        return
    _refuse_unless(
        1 <= len(value) <= limits.MAX_METADATA_KEYS and len(set(value)) == len(value),
        f"metadata needs 1 to {limits.MAX_METADATA_KEYS} distinct metadata_keys",
    )
    for key in value:
        _whole(key, info)
        _refuse_unless(
            1 <= len(key) <= limits.MAX_METADATA_KEY_CHARS,
            f"a metadata key must be 1 to {limits.MAX_METADATA_KEY_CHARS} characters",
        )


def _cursor(what: str, most: int) -> AfterValidator:
    """Bounded before it is decoded; anything but ASCII is no cursor, so characters are bytes."""

    def check(value: str | None, info: ValidationInfo) -> None:
        _refuse_unless(value is None or (value.isascii() and 1 <= len(value) <= most), f"malformed {what} cursor")

    return _judged(check)


def _policy(value: str, info: ValidationInfo) -> None:
    _refuse_unless(
        value in limits.POLICIES, f"knowledge_policy must be {', '.join(limits.POLICIES[:-1])} or {limits.POLICIES[-1]}"
    )


_SEARCH_CURSOR = _cursor("search", limits.MAX_CURSOR_BYTES)
_CHANGES_CURSOR = _cursor("changes", change_cursors.MAX_BYTES)


class Search(Closed):
    scope: Annotated[str, _judged(_whole)]
    query: Annotated[str, _judged(_query)]
    prefix: Annotated[str, _judged(_prefix)] = ""
    fields: Annotated[list[str], _judged(_fields)] = ["path", "content"]
    # Judged where it is left out, too: the field ``metadata`` needs some.
    metadata_keys: Annotated[list[str], _judged(_metadata_keys)] = Field(default=[], validate_default=True)
    limit: Annotated[int, _between(1, limits.MAX_HITS)] = limits.DEFAULT_HITS
    cursor: Annotated[str | None, _SEARCH_CURSOR] = None
    knowledge_policy: Annotated[str, _judged(_policy)] = "all"


class Changes(Closed):
    scope: Annotated[str, _judged(_whole)]
    cursor: Annotated[str | None, _CHANGES_CURSOR] = None
    limit: Annotated[int, _between(1, changes.MAX_EVENTS)] = changes.DEFAULT_EVENTS


class PruneChanges(Closed):
    scope: Annotated[str, _judged(_whole)]
    through: Annotated[str, _CHANGES_CURSOR]
    write: bool = False
