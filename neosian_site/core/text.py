"""Folding and splitting of text for search, by Unicode 17.0.0 on every interpreter; what text the database can hold.

The committed tables decide, never the interpreter's: 3.11 knows Unicode 14, 3.13 knows 15.1, and a later one will know
letters that must stay as they are. A stored fold and a query's fold have to agree across such upgrades.
"""

from __future__ import annotations

import re

from neosian_site.core import _unicode17

# What the table must hold: the number of scalars that change, and the SHA-256 of one ASCII line for each of them in
# ascending order, "0130;0069 0307\n": upper-case hexadecimal of at least four digits. A test computes both from `fold`.
FOLD_COUNT = 1488
FOLD_DIGEST = "64db9979cc1177b54ce4a08341c10aee2266d6b85e2c9419abca793c3220eac7"

_LOWER: dict[str, str] = {
    chr(code): chr(code + distance)
    for first, last, step, distance in _unicode17.LOWER_RUNS
    for code in range(first, last + 1, step)
} | {chr(code): "".join(map(chr, lower)) for code, lower in _unicode17.LOWER_EXPANSIONS.items()}

# The characters this interpreter lowers otherwise: 55 on Python 3.11 to 3.13. Only planes 0 and 1 are looked at, which
# costs about 25 ms at import, not 200; the others hold ideographs, tags and private use, and a test looks at them.
_OTHERWISE = [char for char in map(chr, range(0x20000)) if char.lower() != _LOWER.get(char, char)]

_SPACES = "".join(map(chr, _unicode17.WHITE_SPACE))
_SEPARATORS = "\x1c-\x1f"
_BETWEEN_WHITE_SPACE = re.compile(f"[^{_SPACES}]+")
_TERM = re.compile(f"[^{_SPACES}{_SEPARATORS}]+")


def fold(text: str) -> str:
    """Return the text with each scalar replaced by its own Unicode 17.0.0 lowercase: no context, no normalization.

    Capital sigma becomes U+03C3 also at the end of a word; only U+0130 becomes two scalars. A fold folds to itself.
    """
    if text.isascii():
        return text.lower()
    # Capital sigma is the only character for which `str.lower` looks at its neighbours. With it gone, and with none of
    # the characters the interpreter knows otherwise, `str.lower` is the table's mapping at a tenth of the time.
    text = text.replace("\u03a3", "\u03c3")
    if any(char in text for char in _OTHERWISE):
        return "".join([_LOWER.get(char, char) for char in text])
    return text.lower()


def split_white_space(text: str) -> list[str]:
    """Return the non-empty pieces between White_Space of Unicode 17.0.0; U+001C to U+001F are part of a piece."""
    return _BETWEEN_WHITE_SPACE.findall(text)


def split_terms(text: str) -> list[str]:
    """Return the non-empty pieces between White_Space and U+001C to U+001F; a zero-width space is part of a piece."""
    return _TERM.findall(text)


def has_surrogate(text: str) -> bool:
    """Say whether a surrogate code point is in the text, which UTF-8 and so the database and the wire cannot carry."""
    # The encoder needs 0.5 to 2 ns a character; a search with a regular expression needs 4 to 5.
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def has_nul(text: str) -> bool:
    """Say whether U+0000 is in the text, which PostgreSQL refuses."""
    return "\0" in text


def storable(text: str) -> bool:
    """Say whether the database can hold the text as it is: neither U+0000 nor a surrogate."""
    return not has_nul(text) and not has_surrogate(text)
