"""Scalars of the YAML that knowledge headers may be written in (memory.knowledge.yaml_subset)."""

from __future__ import annotations

import re

MAX_INTEGER = 2**53 - 1

# What stands for something in a file, but for no character of a plain scalar.
_UNPRINTABLE = re.compile(r"[\x7f-\x84\x86-\x9f]")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*+)")
# What readers of YAML 1.1 or 1.2 take for a number; times of day (1.1's base 60) are left to be text.
_NUMERIC = re.compile(
    r"""[-+]?(?: [0-9][0-9_]*+(?:\.[0-9_]*+)?+(?:[eE][-+]?[0-9]++)?+ | \.[0-9][0-9_]*+(?:[eE][-+]?[0-9]++)?+
    | 0x[0-9a-fA-F_]++ | 0o[0-7_]++ | 0b[01_]++ | \.(?:inf|Inf|INF) ) | \.(?:nan|NaN|NAN)""",
    re.VERBOSE,
)

# A run of blanks is taken at once, with its line breaks or without, so that no run is looked at twice.
_BREAK = r"[ \t]*+(?P<break>\n(?:[ \t]*+\n)*+)[ \t]*+|[ \t]++"
_FOLD = re.compile(_BREAK)
_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|U(?P<U>[0-9a-fA-F]{8})"
    r"|(?P<join>\n(?:[ \t]*+\n)*+)[ \t]*+|(?P<one>.))|" + _BREAK
)
_ESCAPED = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotAccepted(ValueError):
    """The text is outside the accepted syntax; the message says why."""


def resolve(plain: str) -> str | int | bool | None:
    """The value of a plain scalar.

    :raises NotAccepted: it looks like a number and is no integer within ±:data:`MAX_INTEGER`, or holds a control
    """
    if plain in ("", "~", "null"):
        return None
    if plain in ("true", "false"):
        return plain == "true"
    if not _NUMERIC.fullmatch(plain):
        if _UNPRINTABLE.search(plain):
            raise NotAccepted("a control character")
        return plain
    # 17 characters hold every integer in range, and int() refuses thousands of digits in words of its own.
    if len(plain) <= 17 and _INTEGER.fullmatch(plain) and abs(int(plain)) <= MAX_INTEGER:
        return int(plain)
    raise NotAccepted("a number must be an integer within 2^53-1, or be quoted")


def unquote(spelled: str) -> str:
    """The text of a quoted scalar, quotes included in ``spelled``.

    :raises NotAccepted: an escape no YAML knows, or half a surrogate pair
    """
    inner = spelled[1:-1]
    if spelled[0] == "'":
        return _FOLD.sub(_fold, inner).replace("''", "'")
    if "\\" not in inner and "\n" not in inner:
        return inner
    text = _ESCAPE.sub(_unescape, inner)
    if not _SURROGATE.search(text):
        return text
    # JSON spells a character beyond U+FFFF as two halves, which belong together or nowhere.
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        raise NotAccepted("half a surrogate pair") from error


def folded(breaks: int) -> str:
    """What consecutive line breaks inside a scalar stand for: one is a blank, of several the first is dropped."""
    return " " if breaks == 1 else "\n" * (breaks - 1)


def _fold(found: re.Match[str]) -> str:
    breaks = found["break"]
    return found[0] if breaks is None else folded(breaks.count("\n"))


def _unescape(found: re.Match[str]) -> str:
    if code := found["x"] or found["u"] or found["U"]:
        if (number := int(code, 16)) > 0x10FFFF:
            raise NotAccepted("an unknown escape")
        return chr(number)
    if (join := found["join"]) is not None:
        return "\n" * (join.count("\n") - 1)
    if (one := found["one"]) is None:
        return _fold(found)
    if one not in _ESCAPED:
        raise NotAccepted("an unknown escape")
    return _ESCAPED[one]
