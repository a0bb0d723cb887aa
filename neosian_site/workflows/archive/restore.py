"""Reading an archive into a store, unit by unit; each lands whole or not at all."""

from __future__ import annotations

import filecmp
import tempfile
from collections.abc import Iterable
from pathlib import Path

from conversations.archive import ConversationArchive
from memory.archive import ScopeArchive
from neosian_site.workflows.archive import export, layout, reading
from neosian_site.workflows.archive.export import BREAKS, Moved, MoveFailed, Progress, occupied, quiet
from neosian_site.workflows.archive.layout import ArchiveRefused, Unit
from neosian_site.workflows.archive.stores import Target

Archive = ScopeArchive | ConversationArchive


def restore(
    target: Target,
    root: Path,
    *,
    scopes: Iterable[str] = (),
    conversations: Iterable[str] = (),
    resume: bool = False,
    checked: Progress = quiet,
    progress: Progress = quiet,
) -> list[Moved]:
    """Fill the store from the archive at ``root``: the named units, or all of them.

    Every unit is read before the first is written, so that a damaged archive leaves the store as it was.

    :param resume: a unit that the store holds already, the same as in the archive, is passed over
    :raises ScopeOccupied, ConversationOccupied: the store holds a unit already; nothing was written
    :raises MemoryFormatUnsupported, ConversationFormatUnsupported: a file cannot be read; nothing was written
    :raises ArchiveRefused: the directory is no archive, in use, or not whole
    :raises MoveFailed: it broke off; the units before it are in the store
    """
    if not root.is_dir():
        raise ArchiveRefused(f"{root} is not a directory")
    export.refuse_unfinished(root)
    with layout.locked(root, write=False):
        units = export.named_units(scopes, conversations) or layout.units(root)
        present = _preflight(target, root, units, resume=resume, progress=checked)
        moved: list[Moved] = []
        for place, unit in enumerate(units):
            progress(place, len(units))
            try:
                moved.append(_move(target, root, unit, present=unit in present))
            except BREAKS as error:
                raise MoveFailed(moved, error) from error
        progress(len(units), len(units))
    return moved


def _preflight(target: Target, root: Path, units: list[Unit], *, resume: bool, progress: Progress) -> set[Unit]:
    """Read every unit and look for it in the store, before anything is written; the ones that are there, the same."""
    stored = target.occupied(units)
    if not resume:
        for unit in units:
            if unit in stored:
                raise occupied(unit)
    present: set[Unit] = set()
    for place, unit in enumerate(units):
        progress(place, len(units))
        if _present(target, root, unit, stored=unit in stored, resume=resume):
            present.add(unit)
    progress(len(units), len(units))
    return present


def _present(target: Target, root: Path, unit: Unit, *, stored: bool, resume: bool) -> bool:
    archived = reading.unit(root, unit)
    if not stored and not (resume and _trail_only(archived)):
        return False
    same = _same(target, root, unit, archived)
    if stored and not same:
        raise occupied(unit)
    return same


def _trail_only(archived: Archive) -> bool:
    """A conversation of erasing acts alone does not occupy its place, and must not land twice."""
    return (
        isinstance(archived, ConversationArchive)
        and bool(archived.redactions)
        and not (archived.turns or archived.projections)
    )


def _same(target: Target, root: Path, unit: Unit, archived: Archive) -> bool:
    """Whether the store's unit, written out, reads as the archive's."""
    with tempfile.TemporaryDirectory(prefix="neosian-resume-") as folder:
        export.write_unit(target, Path(folder), unit)
        # Most often it is the same to the byte, and need not be held a second time.
        return _same_files(unit.files(root), unit.files(Path(folder))) or (
            _in_order(reading.unit(Path(folder), unit)) == _in_order(archived)
        )


def _same_files(one: dict[str, Path], other: dict[str, Path]) -> bool:
    return one.keys() == other.keys() and all(filecmp.cmp(one[name], other[name], shallow=False) for name in one)


def _in_order(archive: Archive) -> Archive:
    """The rows as a store keeps them: an archive may hold them in any order."""
    if isinstance(archive, ScopeArchive):
        return ScopeArchive(
            sorted(archive.documents, key=lambda row: row.path),
            sorted(archive.versions, key=lambda row: (row.path, row.version)),
            archive.redactions,
        )
    return ConversationArchive(
        sorted(archive.turns, key=lambda row: row.turn),
        sorted(archive.projections, key=lambda row: (row.turn, row.span)),
        sorted(archive.redactions, key=lambda row: row.created_at),
    )


def _move(target: Target, root: Path, unit: Unit, *, present: bool) -> Moved:
    archived = reading.unit(root, unit)
    if isinstance(archived, ScopeArchive):
        if not (present or archived.empty):
            target.restore_scope(unit.name, archived)
        return Moved(
            unit,
            documents=len(archived.documents),
            versions=len(archived.versions),
            redactions=len(archived.redactions),
            present=present,
        )
    if not (present or archived.empty):
        target.restore_conversation(unit.name, archived)
    return Moved(
        unit,
        turns=len(archived.turns),
        projections=len(archived.projections),
        redactions=len(archived.redactions),
        present=present,
    )
