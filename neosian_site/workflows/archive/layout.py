"""Where a unit's files are, and how a directory becomes an archive.

One directory for each scope segment, percent-encoded, so that every scope component holds ``%3A`` and nothing else of
an archive does; conversations under ``conversations``.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from neosian_site.core.errors import InvalidValue
from neosian_site.core.names import conversation_fault, path_fault, scope_fault

LOCK = ".store.lock"
# Stands in the directory while an export writes it; an archive that holds it is not whole.
UNFINISHED = ".unfinished-export"
_CONVERSATIONS = "conversations"

Kind = Literal["scope", "conversation"]


class ArchiveRefused(InvalidValue):
    """The directory cannot be used as an archive."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One scope or one conversation, by its name."""

    kind: Kind
    name: str

    def directory(self, root: Path) -> Path:
        """Where the unit's files are in the archive at ``root``."""
        if self.kind == "conversation":
            return root / _CONVERSATIONS / self.name
        return root.joinpath(*(quote(segment, safe="") for segment in self.name.split("/")))


def units(root: Path) -> list[Unit]:
    """Every unit of the archive: scopes before conversations, each kind sorted; other names are passed over.

    :raises ArchiveRefused: a symbolic link, which may lead anywhere
    """
    scopes = sorted(_scopes(root, ""))
    found = [Unit("scope", name) for name in scopes]
    conversations = root / _CONVERSATIONS
    if conversations.is_dir():
        names = sorted(entry.name for entry in _directories(conversations) if conversation_fault(entry.name) is None)
        found += [Unit("conversation", name) for name in names if _holds_rows(conversations / name)]
    return found


def _scopes(directory: Path, parent: str) -> Iterator[str]:
    for entry in _directories(directory):
        segment = unquote(entry.name)
        name = f"{parent}/{segment}" if parent else segment
        if ":" not in segment or scope_fault(name) is not None or quote(segment, safe="") != entry.name:
            continue
        if any((entry / part).exists() for part in ("documents", "versions", "redactions.jsonl")):
            yield name
        yield from _scopes(entry, name)


def _holds_rows(directory: Path) -> bool:
    return any((directory / f"{part}.jsonl").exists() for part in ("turns", "projections", "redactions"))


def _directories(directory: Path) -> list[Path]:
    found = []
    for entry in sorted(directory.iterdir()):
        refuse_link(entry)
        if entry.is_dir():
            found.append(entry)
    return found


def refuse_link(path: Path) -> None:
    """:raises ArchiveRefused: a symbolic link, which may lead anywhere"""
    if path.is_symlink():
        raise ArchiveRefused(f"{path} is a symbolic link; an archive holds files and directories only")


def named_files(directory: Path, suffix: str) -> Iterator[tuple[str, Path]]:
    """Document paths and their files below ``directory``, sorted by path; other names are passed over."""
    if not directory.is_dir():
        return
    found: list[tuple[str, Path]] = []
    waiting = [directory]
    while waiting:
        for entry in waiting.pop().iterdir():
            refuse_link(entry)
            if entry.is_dir():
                waiting.append(entry)
                continue
            name = entry.relative_to(directory).as_posix()
            path = name[: -len(suffix)]
            if name.endswith(suffix) and path_fault(path) is None:
                found.append((path, entry))
    yield from sorted(found)


def make_directory(path: Path) -> None:
    """The directory and its parents, for its owner alone."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)


def open_new(path: Path) -> int:
    """A new file for its owner alone."""
    make_directory(path.parent)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)


@contextlib.contextmanager
def locked(root: Path, *, write: bool) -> Iterator[None]:
    """Hold the archive: alone to write it, with other readers to read it.

    :raises ArchiveRefused: another process holds it
    """
    lock = root / LOCK
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600) if write else os.open(lock, os.O_RDONLY)
    except FileNotFoundError:
        yield  # An archive that was copied without its lock can be read.
        return
    try:
        if write and os.fstat(handle).st_size == 0:
            os.write(handle, b"\0")
        try:
            fcntl.flock(handle, (fcntl.LOCK_EX if write else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ArchiveRefused(f"{root} is in use by another process") from error
        yield
    finally:
        os.close(handle)
