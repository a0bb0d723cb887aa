"""Writing a store to an archive, unit by unit."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authz.caller import Caller
from conversations.errors import ConversationOccupied
from conversations.operations import export as conversation_export
from conversations.operations import store as conversation_store
from memory.errors import MemoryFormatUnsupported, ScopeOccupied
from memory.operations import export as scope_export
from memory.operations import store as scope_store
from neosian_site.core.errors import InvalidValue
from neosian_site.workflows.archive import text
from neosian_site.workflows.archive.layout import UNFINISHED, ArchiveRefused, Unit, locked, make_directory, open_new

Progress = Callable[[int, int], None]


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

    @property
    def empty(self) -> bool:
        return not (self.documents or self.versions or self.redactions or self.turns or self.projections)


class MoveFailed(Exception):
    """A move broke off; what landed before it did."""

    def __init__(self, moved: list[Moved], cause: Exception) -> None:
        super().__init__(str(cause))
        self.moved, self.cause = moved, cause


def named_or_all(caller: Caller, scopes: Iterable[str], conversations: Iterable[str]) -> list[Unit]:
    """The named units, or every one where none of either kind is named; scopes first, each kind sorted."""
    named = [Unit("scope", name) for name in sorted(set(scopes))]
    named += [Unit("conversation", name) for name in sorted(set(conversations))]
    if named:
        return named
    return [
        *(Unit("scope", name) for name in scope_store.scopes(caller)),
        *(Unit("conversation", name) for name in conversation_store.conversations(caller)),
    ]


def export(caller: Caller, root: Path, units: list[Unit], progress: Progress = quiet) -> list[Moved]:
    """Write the units to the archive at ``root``; the ones that hold something.

    :raises ScopeOccupied, ConversationOccupied: a unit is in the directory already; nothing was written
    :raises ArchiveRefused: the directory is in use, or an earlier export into it did not finish
    :raises MoveFailed: it broke off; the directory is marked as unfinished and no restore takes it
    """
    if root.exists() and not root.is_dir():
        raise ArchiveRefused(f"{root} is not a directory")
    refuse_unfinished(root)
    for unit in units:
        directory = unit.directory(root)
        if any((directory / part).exists() for part in _PARTS[unit.kind]):
            raise (ScopeOccupied if unit.kind == "scope" else ConversationOccupied)(unit.name)
    make_directory(root)
    moved: list[Moved] = []
    with locked(root, write=True):
        mark = root / UNFINISHED
        os.close(open_new(mark))
        try:
            for place, unit in enumerate(units):
                progress(place, len(units))
                found = write_unit(caller, root, unit)
                if not found.empty:
                    moved.append(found)
        except (OSError, InvalidValue, MemoryFormatUnsupported) as error:
            raise MoveFailed(moved, error) from error
        progress(len(units), len(units))
        mark.unlink()
    return moved


_PARTS = {
    "scope": ("documents", "versions", "redactions.jsonl"),
    "conversation": ("turns.jsonl", "projections.jsonl", "redactions.jsonl"),
}


def refuse_unfinished(root: Path) -> None:
    """:raises ArchiveRefused: the export that wrote the archive did not finish"""
    if (root / UNFINISHED).exists():
        raise ArchiveRefused(f"{root} holds an export that did not finish; export again into another directory")


def write_unit(caller: Caller, root: Path, unit: Unit) -> Moved:
    """Write one unit's files and say what they hold; nothing where the unit holds nothing."""
    directory = unit.directory(root)
    if unit.kind == "conversation":
        name = unit.name
        return Moved(
            unit,
            turns=_lines(directory / "turns.jsonl", conversation_export.turns(caller, conversation_id=name)),
            projections=_lines(
                directory / "projections.jsonl", conversation_export.projections(caller, conversation_id=name)
            ),
            redactions=_lines(
                directory / "redactions.jsonl", conversation_export.redactions(caller, conversation_id=name)
            ),
        )
    return Moved(
        unit,
        documents=_documents(directory / "documents", unit, scope_export.documents(caller, scope=unit.name)),
        versions=_versions(directory / "versions", scope_export.versions(caller, scope=unit.name)),
        redactions=_lines(
            directory / "redactions.jsonl", scope_export.redactions(caller, scope=unit.name), formatted=False
        ),
    )


def _documents(directory: Path, unit: Unit, rows: Iterable[scope_export.DocumentRow]) -> int:
    count = 0
    for row in rows:
        count += 1
        try:
            data = text.document(row.head, row.extra, row.content)
        except text.Unreadable as error:
            raise MemoryFormatUnsupported(unit.name, row.path, str(error)) from error
        with _file(directory / f"{row.path}.md") as file:
            _write(file, data)
    return count


def _versions(directory: Path, rows: Iterable[dict[str, Any]]) -> int:
    """One file for each path: rows come by path."""
    count, open_path, file = 0, None, -1
    try:
        for row in rows:
            count += 1
            if row["path"] != open_path:
                if file >= 0:
                    os.close(file)
                open_path = row["path"]
                file = open_new(directory / f"{open_path}.jsonl")
            _write(file, text.line({text.FORMAT_KEY: text.FORMAT, **row}))
    finally:
        if file >= 0:
            os.close(file)
    return count


def _lines(path: Path, rows: Iterable[dict[str, Any]], *, formatted: bool = True) -> int:
    """A file of rows; none where there are no rows."""
    stream = iter(rows)
    first = next(stream, None)
    if first is None:
        return 0
    count = 0
    lead: dict[str, Any] = {text.FORMAT_KEY: text.FORMAT} if formatted else {}
    with _file(path) as file:
        for row in itertools.chain([first], stream):
            _write(file, text.line({**lead, **row}))
            count += 1
    return count


@contextmanager
def _file(path: Path) -> Iterator[int]:
    handle = open_new(path)
    try:
        yield handle
    finally:
        os.close(handle)


def _write(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
