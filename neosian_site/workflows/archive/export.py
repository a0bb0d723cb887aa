"""Writing a store to an archive, unit by unit."""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.db import DatabaseError

from conversations.errors import ConversationOccupied
from memory.errors import MemoryFormatUnsupported, ScopeOccupied
from memory.operations.export import DocumentRow
from neosian_site.core.errors import DomainError
from neosian_site.workflows.archive import text
from neosian_site.workflows.archive.layout import (
    LOCK,
    UNFINISHED,
    ArchiveRefused,
    Unit,
    locked,
    make_directory,
    open_new,
)
from neosian_site.workflows.archive.stores import Row, Source

Progress = Callable[[int, int], None]

# What may end a move in its middle and is told with what landed before it.
BREAKS = (OSError, DomainError, DatabaseError)


def quiet(done: int, total: int) -> None:
    """No progress is told."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A unit that was moved, and what of it."""

    unit: Unit
    documents: int = 0
    versions: int = 0
    redactions: int = 0
    turns: int = 0
    projections: int = 0
    # In the target already, the same as in the source.
    present: bool = False


class MoveFailed(Exception):
    """A move broke off; what landed before it did."""

    def __init__(self, moved: list[Moved], cause: Exception) -> None:
        super().__init__(str(cause))
        self.moved, self.cause = moved, cause


def named_units(scopes: Iterable[str], conversations: Iterable[str]) -> list[Unit]:
    """Units by their names: scopes first, each kind sorted, none twice."""
    return [
        *(Unit("scope", name) for name in sorted(set(scopes))),
        *(Unit("conversation", name) for name in sorted(set(conversations))),
    ]


def occupied(unit: Unit) -> DomainError:
    """The refusal to move something where something is."""
    return ScopeOccupied(unit.name) if unit.kind == "scope" else ConversationOccupied(unit.name)


def export(source: Source, root: Path, units: list[Unit], progress: Progress = quiet) -> list[Moved]:
    """Write the units to the archive at ``root``, next to those that are in it; ones that hold nothing leave no file.

    :raises ScopeOccupied, ConversationOccupied: a unit is in the directory already; nothing was written
    :raises ArchiveRefused: the directory is in use, or an earlier export into it did not finish
    :raises MoveFailed: it broke off. Units that landed stay, nothing of the one it broke off in does, and the
        directory is marked so that no restore takes it for whole; where none landed, the directory is as before
    """
    if root.exists() and not root.is_dir():
        raise ArchiveRefused(f"{root} is not a directory")
    refuse_unfinished(root)
    for unit in units:
        if unit.parts(root):
            raise occupied(unit)
    moved: list[Moved] = []
    if not units:
        return moved
    was_there, was_locked = root.exists(), (root / LOCK).exists()
    make_directory(root)
    with locked(root, write=True):
        mark = root / UNFINISHED
        os.close(open_new(mark))
        for place, unit in enumerate(units):
            progress(place, len(units))
            try:
                moved.append(write_unit(source, root, unit))
            except BaseException as error:
                unit.discard(root)
                if not moved:
                    _leave_as_before(root, was_there=was_there, was_locked=was_locked)
                if isinstance(error, BREAKS):
                    raise MoveFailed(moved, error) from error
                raise
        progress(len(units), len(units))
        mark.unlink()
    return moved


def _leave_as_before(root: Path, *, was_there: bool, was_locked: bool) -> None:
    with contextlib.suppress(OSError):
        (root / UNFINISHED).unlink()
        if not was_locked:
            (root / LOCK).unlink()
        if not was_there:
            root.rmdir()


def refuse_unfinished(root: Path) -> None:
    """:raises ArchiveRefused: the export that wrote the archive did not finish"""
    if (root / UNFINISHED).exists():
        raise ArchiveRefused(f"{root} holds an export that did not finish; export again into another directory")


def write_unit(source: Source, root: Path, unit: Unit) -> Moved:
    """Write one unit's files and say what they hold; no file where there is nothing."""
    directory, name = unit.directory(root), unit.name
    if unit.kind == "conversation":
        return Moved(
            unit,
            turns=_lines(directory / "turns.jsonl", source.turns(name)),
            projections=_lines(directory / "projections.jsonl", source.projections(name)),
            redactions=_lines(directory / "redactions.jsonl", source.turn_redactions(name)),
        )
    return Moved(
        unit,
        documents=_documents(directory / "documents", unit, source.documents(name)),
        versions=_versions(directory / "versions", source.versions(name)),
        redactions=_lines(directory / "redactions.jsonl", source.redactions(name), formatted=False),
    )


def _documents(directory: Path, unit: Unit, rows: Iterable[DocumentRow]) -> int:
    count = 0
    for row in rows:
        count += 1
        try:
            data = text.document(row.head, row.extra, row.content)
        except text.Unreadable as error:
            raise MemoryFormatUnsupported(unit.name, row.path, str(error)) from error
        with _new_file(directory / f"{row.path}.md") as write:
            write(data)
    return count


def _versions(directory: Path, rows: Iterable[Row]) -> int:
    """One file for each path: rows come path after path."""
    return sum(
        _lines(directory / f"{path}.jsonl", rows_of_path)
        for path, rows_of_path in itertools.groupby(rows, key=lambda row: row["path"])
    )


def _lines(path: Path, rows: Iterable[Row], *, formatted: bool = True) -> int:
    """A file of rows, and their number; no file where there are no rows."""
    stream = iter(rows)
    first = next(stream, None)
    if first is None:
        return 0
    count = 0
    lead: Row = {text.FORMAT_KEY: text.FORMAT} if formatted else {}
    with _new_file(path) as write:
        for row in itertools.chain([first], stream):
            write(text.line({**lead, **row}))
            count += 1
    return count


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[Callable[[bytes], object]]:
    with os.fdopen(open_new(path), "wb") as file:

        def write(data: bytes) -> None:
            with _told(path):
                file.write(data)

        yield write
        with _told(path):
            file.flush()


@contextlib.contextmanager
def _told(path: Path) -> Iterator[None]:
    """A full disk names the file it happened in; the system does not."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise
