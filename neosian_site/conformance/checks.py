"""What a case says when something is not as the contract has it."""

from __future__ import annotations

import json
from typing import Any

_SHOWN = 160
_hidden: set[str] = set()


def hide(*secrets: str) -> None:
    """From now on these texts, and no others, are never shown, in whatever spelling JSON gives them."""
    _hidden.clear()
    for secret in filter(None, secrets):
        _hidden.update((secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]))


def scrub(text: str) -> str:
    """The text without any hidden one; servers may repeat what they were sent."""
    for secret in sorted(_hidden, key=len, reverse=True):
        text = text.replace(secret, "[token]")
    return text


class Failed(Exception):
    """The server broke the contract; the text says where."""


class NoAnswer(Failed):
    """The server did not answer a request at all, or not in time."""


class Skipped(Exception):
    """The case does not apply to this server or these tokens; the text says why."""


def show(value: Any) -> str:
    """Text as it is, anything else as JSON, cut where it grows long."""
    # Before it is cut: half a token is no better than a whole one.
    return _cut(scrub(value if isinstance(value, str) else _json(value)))


def literal(value: Any) -> str:
    """The same, with text in quotes: ``"6"`` is not ``6``."""
    return _cut(scrub(_json(value)))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def check(holds: bool, reason: str) -> None:
    if not holds:
        raise Failed(reason)


def same(found: Any, expected: Any, what: str) -> None:
    """The two are one JSON value; ``1``, ``1.0`` and ``true`` are three.

    :raises Failed: naming the first place where they part
    """
    apart = difference(found, expected)
    if apart is not None:
        raise Failed(f"{what}{apart}")


def difference(found: Any, expected: Any) -> str | None:
    """Where two JSON values part: a place within them, what was expected and what is there."""
    if isinstance(found, tuple):
        found = list(found)
    if isinstance(expected, tuple):
        expected = list(expected)
    if type(found) is not type(expected):
        return f": expected {literal(expected)}, got {literal(found)}"
    if isinstance(expected, dict):
        for key in expected:
            if key not in found:
                return f": no {key!r}"
            if (apart := difference(found[key], expected[key])) is not None:
                return f".{key}{apart}"
        surplus = sorted(set(found) - set(expected))
        return f": unexpected {surplus[0]!r}" if surplus else None
    if isinstance(expected, list):
        for place, (one, other) in enumerate(zip(found, expected, strict=False)):
            if (apart := difference(one, other)) is not None:
                return f"[{place}]{apart}"
        return None if len(found) == len(expected) else f": expected {len(expected)} items, got {len(found)}"
    return None if found == expected else f": expected {literal(expected)}, got {literal(found)}"
