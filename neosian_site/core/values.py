"""Checks of plain values that every operation makes before it stores them."""

from __future__ import annotations

from neosian_site.core.errors import InvalidValue
from neosian_site.core.text import storable

# Numbers are stored as bigint but accepted up to 32 bits, so that what follows a restored number always fits.
MAX_STORED_INTEGER = 2**31 - 1


def check_text(name: str, text: str | None) -> None:
    """Refuse text no store can give back verbatim.

    :raises InvalidValue: a NUL character or a lone surrogate
    """
    if text is not None and not storable(text):
        raise InvalidValue(f"parameter '{name}' holds a NUL character or a lone surrogate")


def check_stored_integer(name: str, value: int, *, least: int) -> None:
    """Refuse a number that could not be stored, or counted on from.

    :raises InvalidValue: below ``least`` or beyond 32 bits
    """
    if value < least:
        raise InvalidValue(f"{name} must be >= {least}, got {value}")
    if value > MAX_STORED_INTEGER:
        raise InvalidValue(f"{name} must be <= {MAX_STORED_INTEGER}")
