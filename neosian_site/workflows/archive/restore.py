"""Reading an archive into a store, unit by unit; each lands in one transaction."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path

from authz.caller import Caller
from conversations.archive import ConversationArchive
from conversations.errors import ConversationOccupied
from conversations.operations import store as conversation_store
from memory.archive import ScopeArchive
from memory.errors import ScopeOccupied
from memory.operations import store as scope_store
from neosian_site.core.errors import DomainError
from neosian_site.workflows.archive import export, layout, reading
from neosian_site.workflows.archive.export import Moved, MoveFailed, Progress, quiet
from neosian_site.workflows.archive.layout import ArchiveRefused, Unit


def restore(
    caller: Caller,
    root: Path,
    *,
    scopes: Iterable[str] = (),
    conversations: Iterable[str] = (),
    resume: bool = False,
    progress: Progress = quiet,
) -> list[Moved]:
    """Fill the store from the archive at ``root``: the named units, or all of them.

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
        units = _wanted(root, set(scopes), set(conversations))
        present = _preflight(caller, root, units, resume=resume)
        moved: list[Moved] = []
        for place, unit in enumerate(units):
            progress(place, len(units))
            try:
                archived = _read(root, unit)
                found = _moved(unit, archived, present=unit in present)
                if not found.empty and unit not in present:
                    _land(caller, unit, archived)
            except (OSError, DomainError) as error:
                raise MoveFailed(moved, error) from error
            if not found.empty:
                moved.append(found)
        progress(len(units), len(units))
    return moved


def _wanted(root: Path, scopes: set[str], conversations: set[str]) -> list[Unit]:
    found = layout.units(root)
    if not scopes and not conversations:
        return found
    named = {"scope": scopes, "conversation": conversations}
    missing = [
        f"{kind} {name}"
        for kind, names in named.items()
        for name in sorted(names - {u.name for u in found if u.kind == kind})
    ]
    if missing:
        raise ArchiveRefused(f"the archive holds no {missing[0]}")
    return [unit for unit in found if unit.name in named[unit.kind]]


def _preflight(caller: Caller, root: Path, units: list[Unit], *, resume: bool) -> set[Unit]:
    """Read every unit and look for it in the store, before anything is written; the ones that are there, the same."""
    stored = {
        "scope": set(scope_store.scopes(caller)),
        "conversation": set(conversation_store.conversations(caller)),
    }
    present: set[Unit] = set()
    for unit in units:
        archived = _read(root, unit)
        if unit.name not in stored[unit.kind] or archived.empty:
            continue
        if not resume or not _same(caller, unit, archived):
            raise (ScopeOccupied if unit.kind == "scope" else ConversationOccupied)(unit.name)
        present.add(unit)
    return present


def _same(caller: Caller, unit: Unit, archived: ScopeArchive | ConversationArchive) -> bool:
    """Whether the store's unit, written out, reads as the archive's."""
    with tempfile.TemporaryDirectory(prefix="neosian-resume-") as folder:
        export.write_unit(caller, Path(folder), unit)
        return _read(Path(folder), unit) == archived


def _read(root: Path, unit: Unit) -> ScopeArchive | ConversationArchive:
    return reading.scope(root, unit) if unit.kind == "scope" else reading.conversation(root, unit)


def _moved(unit: Unit, archived: ScopeArchive | ConversationArchive, *, present: bool) -> Moved:
    if isinstance(archived, ScopeArchive):
        return Moved(
            unit,
            documents=len(archived.documents),
            versions=len(archived.versions),
            redactions=len(archived.redactions),
            present=present,
        )
    return Moved(
        unit,
        turns=len(archived.turns),
        projections=len(archived.projections),
        redactions=len(archived.redactions),
        present=present,
    )


def _land(caller: Caller, unit: Unit, archived: ScopeArchive | ConversationArchive) -> None:
    if isinstance(archived, ScopeArchive):
        scope_store.restore_scope(caller, scope=unit.name, archive=archived)
    else:
        conversation_store.restore_conversation(caller, conversation_id=unit.name, archive=archived)
