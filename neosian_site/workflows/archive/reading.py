"""From an archive's files to the rows a restore takes; nothing that cannot be read is passed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conversations import archive as conversation_archive
from conversations.archive import ConversationArchive
from conversations.errors import ConversationFormatUnsupported
from memory import archive as scope_archive
from memory.archive import ScopeArchive
from memory.errors import MemoryFormatUnsupported
from neosian_site.core.errors import DomainError, InvalidValue
from neosian_site.workflows.archive import text
from neosian_site.workflows.archive.layout import Unit, named_files, refuse_link
from neosian_site.workflows.archive.text import Unreadable

Refuse = Callable[[str], DomainError]


def scope(root: Path, unit: Unit) -> ScopeArchive:
    """A scope's rows.

    :raises MemoryFormatUnsupported: a file of another format, or damaged
    """
    directory = unit.directory(root)
    documents = []
    for path, file in named_files(directory / "documents", ".md"):
        refuse = _memory(unit, path)
        with _refused(refuse):
            row = text.read_document(_content(file))
        documents += _decoded(scope_archive.documents, {"scope": unit.name, "path": path, **row}, refuse)
    versions = []
    for path, file in named_files(directory / "versions", ".jsonl"):
        refuse = _memory(unit, path)
        for line in _lines(file):
            with _refused(refuse):
                row = text.checked_row(line)
                if row.get("path") != path:
                    raise Unreadable(f"a row of {row.get('path')!r} in the file of {path!r}")
            versions += _decoded(scope_archive.versions, row, refuse)
    redactions = []
    refuse = _memory(unit, None)
    for line in _lines(directory / "redactions.jsonl"):
        with _refused(refuse):
            row = text.row(line)
        row["created_at"] = row.pop("ts", None)
        redactions += _decoded(scope_archive.redactions, row, refuse)
    return ScopeArchive(documents, versions, redactions)


def conversation(root: Path, unit: Unit) -> ConversationArchive:
    """A conversation's rows.

    :raises ConversationFormatUnsupported: a file of another format, or damaged
    """
    directory = unit.directory(root)

    def refuse(reason: str) -> DomainError:
        return ConversationFormatUnsupported(unit.name, reason)

    def rows(part: str, decode: Callable[[list[Any]], list[Any]], **more: Any) -> list[Any]:
        found: list[Any] = []
        for line in _lines(directory / f"{part}.jsonl"):
            with _refused(refuse):
                row = text.checked_row(line)
            found += _decoded(decode, {**row, **more}, refuse)
        return found

    return ConversationArchive(
        rows("turns", conversation_archive.turns, conversation_id=unit.name),
        rows("projections", conversation_archive.projections),
        rows("redactions", conversation_archive.redactions, conversation_id=unit.name),
    )


def _memory(unit: Unit, path: str | None) -> Refuse:
    return lambda reason: MemoryFormatUnsupported(unit.name, path, reason)


@contextmanager
def _refused(refuse: Refuse) -> Iterator[None]:
    """Unreadable text becomes the unit's own refusal."""
    try:
        yield
    except Unreadable as error:
        raise refuse(str(error)) from error


def _decoded(decode: Callable[[list[Any]], list[Any]], row: dict[str, Any], refuse: Refuse) -> list[Any]:
    try:
        return decode([row])
    except InvalidValue as error:
        raise refuse(str(error)) from error


def _content(file: Path) -> bytes:
    refuse_link(file)
    return file.read_bytes()


def _lines(file: Path) -> Iterator[bytes]:
    refuse_link(file)
    if not file.exists():
        return
    with file.open("rb") as lines:
        yield from (line for line in lines if line.strip())
