"""Strict JSON in, compact JSON out.

The standard library's reader guesses UTF-16 and UTF-32 from bytes, takes ``NaN`` and ``Infinity`` for numbers and
recurses without a bound of its own; a contract body is UTF-8, standard JSON and bounded.
"""

from __future__ import annotations

import json
import re
from typing import Any, NewType

from neosian_site.core.errors import InvalidValue

# JSON that an encoder of ours spelled, ready to be stored.
JsonText = NewType("JsonText", str)
# JSON that the database spelled, in UTF-8; answers embed it as it stands. Bytes, because a document of 64 MiB that
# holds one emoji would take four times its size as text.
JsonBytes = NewType("JsonBytes", bytes)

# Containers inside each other. Below the interpreter's recursion limit with room for the frames of a request, so
# that what was read can always be written again.
MAX_DEPTH = 900

# Possessive, so that a string of 60 MB leaves no trail of places to come back to.
_BRACKETS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[{]|[\]}]', re.DOTALL)


class NotJson(InvalidValue):
    """The bytes are not one complete JSON document."""


def _refuse_constant(name: str) -> Any:
    raise NotJson(f"{name} is no JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
_encode_finite = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), check_circular=False, allow_nan=False
).encode


def read(body: bytes) -> Any:
    """The value of one JSON document.

    A repeated key keeps its last value. Numbers with a fraction or an exponent become doubles, integers keep every
    digit (up to the interpreter's limit of 4,300).

    :raises NotJson: not UTF-8, not JSON, ``NaN`` or ``Infinity``, nested deeper than :data:`MAX_DEPTH`
    """
    if too_deep(body):
        raise NotJson(f"JSON nested deeper than {MAX_DEPTH}")
    try:
        text = body.decode("utf-8")
        del body  # A body may be 64 MiB: hold one copy at a time.
        return _decoder.decode(text)
    except (ValueError, RecursionError) as error:
        raise NotJson("not JSON") from error


def too_deep(body: bytes, limit: int = MAX_DEPTH) -> bool:
    """Whether containers nest deeper than ``limit``; strings are skipped, anything else malformed is not judged."""
    # Counting is a scan in C and settles every ordinary body; only suspicious ones are walked.
    if body.count(b"[") + body.count(b"{") <= limit:
        return False
    depth = 0
    for match in _BRACKETS.finditer(body):
        mark = body[match.start()]
        if mark in b"[{":
            depth += 1
            if depth > limit:
                return True
        elif mark in b"]}":
            depth -= 1
    return False


def text(value: Any) -> JsonText:
    """``value`` as compact JSON, keys in their own order, non-ASCII unescaped."""
    return JsonText(_encode(value))


def storable(value: Any) -> JsonText:
    """``value`` as compact JSON fit to be stored and given back verbatim.

    :raises InvalidValue: it holds a NUL character, a lone surrogate, or a number no JSON can spell
    """
    try:
        encoded = _encode_finite(value)
    except ValueError as error:
        raise InvalidValue("a number is out of range for JSON") from error
    # The encoder escapes a NUL and leaves a surrogate as it is; PostgreSQL's json type would take the escape, but
    # the text could not be searched or compared, so both are refused at the entrance.
    if "\\u0000" in encoded and _holds_nul(value):
        raise InvalidValue("text holds a NUL character")
    if not encoded.isascii():
        try:
            encoded.encode("utf-8")
        except UnicodeEncodeError as error:
            raise InvalidValue("text holds a lone surrogate") from error
    return JsonText(encoded)


def _holds_nul(value: Any) -> bool:
    """The slow look, for text that merely spells out the escape (a backslash, ``u0000``)."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any("\0" in key or _holds_nul(item) for key, item in value.items())
    if isinstance(value, list):
        return any(_holds_nul(item) for item in value)
    return False
