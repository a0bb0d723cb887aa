"""Knowledge headers: a fenced mapping before a document's text that says what the text is.

    ---
    knowledge: 1
    title: "Deploy window"
    ---
    Body text

A header is ordinary content that a person reads and writes; nothing of it is stored elsewhere (seeds/memory "Import
and structure knowledge"). The length of a document is the writing tools' business: any is read here.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from memory.knowledge import yaml_subset
from memory.knowledge.fields import header_fault
from memory.knowledge.scalars import NotAccepted
from neosian_site.core.errors import InvalidValue

# UTF-8 between the two fences.
MAX_HEADER_BYTES = 64 * 1024

_OPENINGS = ("---\n", "---\r\n")
# From the line break before the fence to the one behind it.
_CLOSING = re.compile(r"\n---\r?(?:\n|\Z)")
_NAMED = "\nknowledge:"

_ORDER = ("knowledge", "title", "name", "description", "skill", "attributes", "references", "sources")
_LEFT_OUT_EMPTY = ("attributes", "references", "sources")
# Spelled without quotes by every reader; ``null``, ``true`` and ``false`` are not.
_BARE_KEY = re.compile(r"(?!(?:null|true|false)\Z)[A-Za-z_][A-Za-z0-9_./-]*")
# What JSON may hold as it is and other readers take for a line break, a mark or a control.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")


class HeaderInvalid(InvalidValue):
    """The document opens a knowledge header that cannot be read or breaks a rule; its body is the whole content."""


@dataclass(frozen=True)
class Header:
    """What stands between the fences, and the text behind them, byte for byte."""

    mapping: dict[str, Any]
    body: str


def read(content: str) -> Header | None:
    """The header ``content`` begins with; ``None`` when it has none (front matter of another kind included).

    :raises HeaderInvalid: the fenced text has a line that starts ``knowledge:`` and is not closed or no mapping; or
        it is a mapping with that key that names another format or breaks a limit
    """
    if not content.startswith(_OPENINGS):
        return None
    opened = content.index("\n")
    closing = _CLOSING.search(content, opened)
    end = len(content) if closing is None else closing.start() + 1
    try:
        if closing is None:
            raise HeaderInvalid("the header is not closed")
        mapping = _mapping(content, opened + 1, end)
    except (HeaderInvalid, NotAccepted) as error:
        if content.find(_NAMED, opened, end) < 0:
            return None
        raise HeaderInvalid(str(error)) from error
    if "knowledge" not in mapping:
        return None
    if (fault := header_fault(mapping)) is not None:
        raise HeaderInvalid(fault)
    return Header(mapping, content[closing.end() :])


def render(mapping: dict[str, Any]) -> str:
    """``mapping`` as a header, both fences included: equal mappings give equal text, whatever their order.

    Nulls and empty ``attributes``, ``references`` and ``sources`` are left out; :func:`read` gives back the rest.

    :raises HeaderInvalid: it is no header of this format, or breaks a limit
    """
    kept = {
        key: value
        for key, value in mapping.items()
        if value is not None and not (key in _LEFT_OUT_EMPTY and value in ({}, []))
    }
    try:
        lines = [f"{_spelled_key(key)}: {_spelled(kept[key])}\n" for key in sorted(kept, key=_place)]
    except ValueError as error:
        raise HeaderInvalid("a number is out of range for JSON") from error
    text = "".join(["---\n", *lines, "---\n"])
    # The reader's own judgement, so that whatever is written can be read again.
    if read(text) is None:
        raise HeaderInvalid("knowledge must be 1")
    return text


def _mapping(content: str, start: int, end: int) -> dict[str, Any]:
    """What stands between the fences, which is not even looked at when it is too long."""
    if end - start > MAX_HEADER_BYTES or len((text := content[start:end]).encode()) > MAX_HEADER_BYTES:
        raise HeaderInvalid(f"the header is longer than {MAX_HEADER_BYTES} bytes")
    mapping = yaml_subset.read(text, first_line=2)
    if not isinstance(mapping, dict):
        raise HeaderInvalid("the header is no mapping")
    return mapping


def _place(key: str) -> tuple[int, str]:
    return (_ORDER.index(key) if key in _ORDER else len(_ORDER), key)


def _spelled_key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _spelled(key)


def _spelled(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
