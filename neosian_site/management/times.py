"""Times as a person writes them on a command line."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import click

from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue

_DURATION = re.compile(r"([1-9][0-9]*)([dh])")


def moment_of(text: str) -> datetime:
    """An ISO 8601 time with an offset.

    :raises UsageError: anything else
    """
    try:
        return clock.parse(text)
    except InvalidValue as error:
        raise click.UsageError(str(error)) from error


def duration(text: str) -> timedelta:
    """``30d`` or ``12h``.

    :raises UsageError: anything else, or longer than there is time
    """
    found = _DURATION.fullmatch(text)
    if found is None:
        raise click.UsageError(f"not a duration: {text!r} (e.g. 30d or 12h)")
    number, unit = int(found[1][:12]), found[2]
    try:
        length = timedelta(days=number) if unit == "d" else timedelta(hours=number)
        clock.now() - length
    except OverflowError as error:
        raise click.UsageError(f"{text!r} is longer than there is time") from error
    return length
