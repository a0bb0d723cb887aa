"""What the keys of a knowledge header may hold, and the spellings its values share.

Each ``…_fault`` answers the first reason why a value is outside its rules, or ``None``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from memory.knowledge.scalars import MAX_INTEGER
from neosian_site.core.names import path_fault, scope_fault

FORMAT = 1
# The reserved attribute, the only one that holds an object (memory.knowledge.governance).
GOVERNANCE = "governance"

MAX_TITLE_CHARS = 200
MAX_DESCRIPTION_CHARS = 1024
MAX_ATTRIBUTES = 64
MAX_ATTRIBUTE_CHARS = 4096
MAX_ATTRIBUTE_STRINGS = 64
MAX_REFERENCES = 64
MAX_SOURCES = 128

_ATTRIBUTE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TIMESTAMP = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,6})?"
    r"(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)


def header_fault(mapping: dict[str, Any]) -> str | None:
    """Why ``mapping`` is no header of this format. A null stands for a key left out."""
    if not is_integer(mapping.get("knowledge"), FORMAT, FORMAT):
        return f"knowledge must be {FORMAT}"
    for key, judge in _KEYS.items():
        value = mapping.get(key)
        if value is not None and (fault := judge(value)) is not None:
            return fault
    return None


def reference_fault(value: Any) -> str | None:
    """``<document path>`` in the same scope, or ``<scope>#<document path>``."""
    if not isinstance(value, str):
        return "a reference must be a string"
    scope, mark, path = value.rpartition("#")
    fault = path_fault(path) or (scope_fault(scope) if mark else None)
    return None if fault is None else f"a reference must be a document path, or a scope, '#' and a path: {fault}"


def timestamp(value: Any) -> datetime | None:
    """The instant an RFC 3339 text with an offset names, in UTC; ``None`` for anything else.

    ``T`` and ``Z`` are capitals, a fraction has one to six digits, and there are no leap seconds.
    """
    if not isinstance(value, str) or not _TIMESTAMP.fullmatch(value):
        return None
    try:
        return datetime.fromisoformat(value).astimezone(UTC)
    except (ValueError, OverflowError):  # No real date, or outside the years 1 to 9999 once moved to UTC.
        return None


def is_text(value: Any, most: int) -> bool:
    """A string of 1 to ``most`` characters."""
    return isinstance(value, str) and 1 <= len(value) <= most


def is_integer(value: Any, least: int, most: int = MAX_INTEGER) -> bool:
    """An integer, which a boolean is not."""
    return type(value) is int and least <= value <= most


def is_sha256(value: Any) -> bool:
    """Lower-case hexadecimal, as every digest here is written."""
    return isinstance(value, str) and _SHA256.fullmatch(value) is not None


def _title_fault(value: Any) -> str | None:
    return None if is_text(value, MAX_TITLE_CHARS) else f"title must be 1 to {MAX_TITLE_CHARS} characters"


def _description_fault(value: Any) -> str | None:
    if is_text(value, MAX_DESCRIPTION_CHARS):
        return None
    return f"description must be 1 to {MAX_DESCRIPTION_CHARS} characters"


def _attributes_fault(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "attributes must be a mapping"
    if len(value) > MAX_ATTRIBUTES:
        return f"more than {MAX_ATTRIBUTES} attributes"
    for name, item in value.items():
        if not _ATTRIBUTE.fullmatch(name):
            return f"attribute names must match {_ATTRIBUTE.pattern}"
        # The block is judged by itself: a broken one governs nothing, and the header around it stays readable.
        if name != GOVERNANCE and not _is_attribute(item):
            return f"attribute {name} must be a string, an integer, a boolean or a list of strings, within their limits"
    return None


def _is_attribute(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) <= MAX_ATTRIBUTE_STRINGS and all(isinstance(item, str) for item in value)
    if isinstance(value, str):
        return len(value) <= MAX_ATTRIBUTE_CHARS
    return isinstance(value, bool) or is_integer(value, -MAX_INTEGER)


def _references_fault(value: Any) -> str | None:
    if not isinstance(value, list):
        return "references must be a list"
    if len(value) > MAX_REFERENCES:
        return f"more than {MAX_REFERENCES} references"
    for reference in value:
        if (fault := reference_fault(reference)) is not None:
            return fault
    return None if len(set(value)) == len(value) else "a reference stands twice"


def _sources_fault(value: Any) -> str | None:
    if not isinstance(value, list):
        return "sources must be a list"
    if len(value) > MAX_SOURCES:
        return f"more than {MAX_SOURCES} sources"
    for source in value:
        kind = source.get("kind") if isinstance(source, dict) else None
        keys = _SOURCES.get(kind) if isinstance(kind, str) else None
        if keys is None:
            return f"a source must be a mapping whose kind is {', '.join(_SOURCES)}"
        if source.keys() != {"kind", *keys}:
            return f"a {kind} source must hold exactly kind, {', '.join(keys)}"
        for key, is_right in keys.items():
            if not is_right(source[key]):
                return f"a {kind} source holds a wrong {key}"
    return None


def _is_scope(value: Any) -> bool:
    return isinstance(value, str) and scope_fault(value) is None


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and path_fault(value) is None


def _is_count(value: Any) -> bool:
    return is_integer(value, 0)


_KEYS: dict[str, Callable[[Any], str | None]] = {
    "title": _title_fault,
    "description": _description_fault,
    "attributes": _attributes_fault,
    "references": _references_fault,
    "sources": _sources_fault,
}

_REVISION: dict[str, Callable[[Any], bool]] = {
    "scope": _is_scope,
    "path": _is_path,
    "version": _is_count,
    "sha256": is_sha256,
}
_SOURCES: dict[str, dict[str, Callable[[Any], bool]]] = {
    "document": {
        **_REVISION,
        "actor": lambda value: value is None or isinstance(value, str),
        "created_at": lambda value: timestamp(value) is not None,
        "updated_at": lambda value: timestamp(value) is not None,
        "metadata": lambda value: isinstance(value, dict),
    },
    "file": {"name": lambda value: isinstance(value, str), "sha256": is_sha256, "bytes": _is_count},
    "bundle": {"bundle_id": is_sha256, **_REVISION},
}
