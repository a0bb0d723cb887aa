#!/usr/bin/env python
"""Every command of the product; with no DATABASE_URL the private database runs as long as the command does."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "neosian_site.settings")
    from django.core.management import execute_from_command_line

    from neosian_site.core import embedded

    if os.environ.get("DATABASE_URL") or os.environ.get("DATABASE_URL_FILE") or _needs_no_database(sys.argv):
        execute_from_command_line(sys.argv)
        return
    from neosian_site.settings import NEOSIAN_DATA_DIR

    # A command that is told to end leaves the way it came: the database it started is stopped.
    signal.signal(signal.SIGTERM, _end)
    try:
        with embedded.running(NEOSIAN_DATA_DIR):
            execute_from_command_line(sys.argv)
    except embedded.EmbeddedError as error:
        sys.exit(f"error: {error}")


def _end(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(128 + number)


def _needs_no_database(argv: list[str]) -> bool:
    return (
        len(argv) < 2
        or argv[1] in {"help", "version", "check", "conformance", "schema"}
        or bool({"--help", "-h", "--version"} & set(argv))
    )


if __name__ == "__main__":
    main()
