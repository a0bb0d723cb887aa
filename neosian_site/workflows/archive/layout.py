"""Where a unit's files are, and how a directory becomes an archive.

One directory for each scope segment, percent-encoded, so that every scope component holds ``%3A`` and nothing else of
an archive does; conversations under ``conversations``.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import quote, unquote

from neosian_site.core.errors import DomainError
from neosian_site.core.names import conversation_fault, path_fault, scope_fault

LOCK = ".store.lock"
# Stands in the directory while an export writes it; an archive that holds it is not whole.
UNFINISHED = ".unfinished-export"
_CONVERSATIONS = "conversations"
# What a unit's directory may hold of the unit; a nested scope's directory stands beside them.
_PARTS = {
    "scope": ("documents", "versions", "redactions.jsonl"),
    "conversation": ("turns.jsonl", "projections.jsonl", "redactions.jsonl"),
}

Kind = Literal["scope", "conversation"]


# A document of 64 MiB whose every character is escaped fills six times as much of a line.
MAX_FILE_BYTES = 512 * 1024 * 1024


class ArchiveRefused(DomainError):
    """The directory cannot be used as an archive, or no longer."""


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

    def parts(self, root: Path) -> list[Path]:
        """The files and directories of the unit that are there."""
        directory = self.directory(root)
        return [path for part in _PARTS[self.kind] if os.path.lexists(path := directory / part)]

    def files(self, root: Path) -> dict[str, Path]:
        """The unit's files by their places below its directory, whatever their names."""
        directory = self.directory(root)
        found = [path for part in self.parts(root) for path in ([part] if part.is_file() else part.rglob("*"))]
        return {path.relative_to(directory).as_posix(): path for path in found if path.is_file()}

    def discard(self, root: Path) -> None:
        """Remove what is there of the unit; other units and their directories stay."""
        for part in self.parts(root):
            with contextlib.suppress(OSError):
                shutil.rmtree(part) if part.is_dir() else part.unlink()
        directory = self.directory(root)
        while directory != root:
            with contextlib.suppress(OSError):
                directory.rmdir()
            directory = directory.parent


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
        if _holds_files(entry):
            yield name
        yield from _scopes(entry, name)


def _holds_files(directory: Path) -> bool:
    return (
        (directory / "redactions.jsonl").exists()
        or next(_walk(directory / "documents", ".md"), None) is not None
        or next(_walk(directory / "versions", ".jsonl"), None) is not None
    )


def _holds_rows(directory: Path) -> bool:
    return any((directory / part).exists() for part in _PARTS["conversation"])


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


def named_files(directory: Path, suffix: str) -> list[tuple[str, Path]]:
    """Document paths and their files below ``directory``, sorted by path; other names are passed over."""
    return sorted(_walk(directory, suffix))


def _walk(directory: Path, suffix: str) -> Iterator[tuple[str, Path]]:
    refuse_link(directory)
    if not directory.is_dir():
        return
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
                yield path, entry


def open_existing(path: Path) -> int | None:
    """A file of the archive to read; ``None`` where there is none.

    :raises ArchiveRefused: no ordinary file
    """
    refuse_link(path)
    try:
        # Opening a pipe must not wait for a writer; nor may a link be put there meanwhile.
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise ArchiveRefused(f"{path} is no file")


def make_directory(path: Path) -> None:
    """The directory and the parents it lacks, for its owner alone."""
    if path.is_dir():
        return
    # ``mkdir(parents=True)`` would make the parents readable by others.
    for missing in reversed([directory for directory in (path, *path.parents) if not directory.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def open_new(path: Path) -> int:
    """A new file for its owner alone.

    :raises ArchiveRefused: its place is taken, by a name that differs in case or that ends as files do
    """
    try:
        make_directory(path.parent)
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except (FileExistsError, NotADirectoryError) as error:
        raise ArchiveRefused(f"there is no room for {path} beside another name of the archive") from error


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
