"""The signing key of an installation that was given none: made once, kept in a file of its owner's alone."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

FILE_NAME = "secret-key"
MIN_CHARS = 32


class KeyUnusable(Exception):
    """The file is there and holds no key; the message says what to do."""


def kept_in(folder: Path) -> str:
    """The key of ``folder``, made by whoever asks first; every process gets the same one.

    :raises OSError: the folder or the file cannot be read or written
    :raises KeyUnusable: the file holds something else
    """
    file = folder / FILE_NAME
    if not file.exists():
        _make(file)
    key = file.read_text().strip()
    if len(key) < MIN_CHARS:
        raise KeyUnusable(f"{file} holds no key: remove it, or set NEOSIAN_SECRET_KEY")
    return key


def _make(file: Path) -> None:
    for part in reversed((file.parent, *file.parent.parents)):
        if not part.exists():
            part.mkdir(exist_ok=True)
            # The private database's own account must be able to pass, whatever root's umask (core.embedded).
            part.chmod(0o755)
    # Written whole under another name and then linked: nobody reads half a key, and of two makers one wins.
    fresh = file.with_name(f"{FILE_NAME}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            out.write(secrets.token_urlsafe(50) + "\n")
            out.flush()
            os.fsync(out.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(fresh, file)
    finally:
        fresh.unlink(missing_ok=True)
