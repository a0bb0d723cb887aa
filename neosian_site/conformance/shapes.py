"""What JSON shapes are made of: exact keys, exact types, times that end in Z."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from neosian_site.conformance.checks import Failed, literal

# Refuses a value at the place it is given.
Shape = Callable[[Any, str], None]

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", re.ASCII)


def _refuse(at: str, wanted: str, value: Any) -> None:
    raise Failed(f"{at}: expected {wanted}, got {literal(value)}")


def text(value: Any, at: str) -> None:
    if not isinstance(value, str):
        _refuse(at, "a string", value)


def boolean(value: Any, at: str) -> None:
    if not isinstance(value, bool):
        _refuse(at, "true or false", value)


def mapping(value: Any, at: str) -> None:
    if not isinstance(value, dict):
        _refuse(at, "an object", value)


def at_least(least: int) -> Shape:
    def integer(value: Any, at: str) -> None:
        if type(value) is not int or value < least:
            _refuse(at, f"an integer from {least}", value)

    return integer


def time(value: Any, at: str) -> None:
    if not isinstance(value, str) or not _TIME.fullmatch(value):
        _refuse(at, "an ISO-8601 time with a Z suffix", value)
    try:
        datetime.fromisoformat(value)
    except ValueError:
        _refuse(at, "a real time", value)


def instant(value: str) -> datetime:
    """The moment a time means, whatever its spelling."""
    return datetime.fromisoformat(value)


def one_of(*words: str) -> Shape:
    def word(value: Any, at: str) -> None:
        if not isinstance(value, str) or value not in words:
            _refuse(at, f"one of {', '.join(words)}", value)

    return word


def exactly(wanted: Any) -> Shape:
    def constant(value: Any, at: str) -> None:
        if type(value) is not type(wanted) or value != wanted:
            _refuse(at, literal(wanted), value)

    return constant


def or_null(shape: Shape) -> Shape:
    def nullable(value: Any, at: str) -> None:
        if value is not None:
            shape(value, at)

    return nullable


def many(shape: Shape) -> Shape:
    def items(value: Any, at: str) -> None:
        if not isinstance(value, list):
            _refuse(at, "a list", value)
        for place, item in enumerate(value):
            shape(item, f"{at}[{place}]")

    return items


def record(keys: dict[str, Shape], optional: dict[str, Shape] | None = None) -> Shape:
    """An object of exactly these keys; those of ``optional`` may be missing."""
    known = keys | (optional or {})

    def fields(value: Any, at: str) -> None:
        mapping(value, at)
        missing = [key for key in keys if key not in value]
        surplus = sorted(key for key in value if key not in known)
        if missing or surplus:
            raise Failed(f"{at}: " + (f"no {missing[0]!r}" if missing else f"unexpected {surplus[0]!r}"))
        for key, item in value.items():
            known[key](item, f"{at}.{key}")

    return fields
