"""Canonical JSON: one spelling of a value, so that equal values have equal digests.

UTF-8, keys sorted by code point at every level, no blanks, array order kept, only mandatory escapes, integers only.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False).encode


def text(value: Any) -> str:
    """``value`` as canonical JSON.

    :raises TypeError: a float, which has no canonical spelling, or a key that is no string
    """
    _check(value)
    return _encode(value)


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON in UTF-8, lower-case hexadecimal."""
    return hashlib.sha256(text(value).encode()).hexdigest()


def _check(value: Any) -> None:
    if isinstance(value, float):
        raise TypeError("a float has no canonical spelling")
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError("a key must be a string")
            _check(item)
    elif isinstance(value, list | tuple):
        for item in value:
            _check(item)
