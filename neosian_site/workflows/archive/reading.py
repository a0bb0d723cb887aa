"""From an archive's files to the rows a restore takes; nothing that cannot be read is passed over."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from conversations import archive as conversation_archive
from conversations.archive import ConversationArchive
from conversations.errors import ConversationFormatUnsupported
from memory import archive as scope_archive
from memory.archive import ScopeArchive
from memory.errors import MemoryFormatUnsupported
from neosian_site.core.errors import DomainError, InvalidValue
from neosian_site.workflows.archive import layout, text
from neosian_site.workflows.archive.layout import ArchiveRefused, Unit, named_files, open_existing, refuse_link
from neosian_site.workflows.archive.text import Unreadable

Refuse = Callable[[str], DomainError]
Rows = list[Any]


def unit(root: Path, wanted: Unit) -> ScopeArchive | ConversationArchive:
    """One unit's rows; empty where the archive does not hold it.

    :raises MemoryFormatUnsupported, ConversationFormatUnsupported: a file of another format, or damaged
    :raises ArchiveRefused: a link, a pipe, or more in one piece than a store takes
    """
    directory = wanted.directory(root)
    for on_the_way in (directory, *directory.parents):
        if on_the_way == root:
            break
        refuse_link(on_the_way)
    return _scope(root, wanted) if wanted.kind == "scope" else _conversation(root, wanted)


def _scope(root: Path, wanted: Unit) -> ScopeArchive:
    directory, name = wanted.directory(root), wanted.name
    documents: Rows = []
    for path, file in named_files(directory / "documents", ".md"):
        with _refused(_memory(name, path)):
            row = text.read_document(_content(file))
            documents += scope_archive.documents([{"scope": name, "path": path, **row}])
    versions: Rows = []
    for path, file in named_files(directory / "versions", ".jsonl"):
        versions += _rows(file, partial(_version, path), _memory(name, path))
    redactions = _rows(directory / "redactions.jsonl", _redaction, _memory(name, "redactions.jsonl"))
    return ScopeArchive(documents, versions, redactions)


def _memory(name: str, path: str) -> Refuse:
    return lambda reason: MemoryFormatUnsupported(name, path, reason)


def _version(path: str, line: bytes) -> Rows:
    row = text.checked_row(line)
    if row.get("path") != path:
        raise Unreadable(f"a row of {row.get('path')!r}")
    return scope_archive.versions([row])


def _redaction(line: bytes) -> Rows:
    """The trail's rows carry no format key and a time of another name."""
    row = text.row(line)
    return scope_archive.redactions([{**row, "created_at": row.get("ts")}])


def _conversation(root: Path, wanted: Unit) -> ConversationArchive:
    directory, name = wanted.directory(root), wanted.name

    def rows(part: str, decode: Callable[[Rows], Rows]) -> Rows:
        return _rows(
            directory / f"{part}.jsonl",
            lambda line: decode([{**text.checked_row(line), "conversation_id": name}]),
            lambda reason: ConversationFormatUnsupported(name, f"{part}.jsonl, {reason}"),
        )

    return ConversationArchive(
        rows("turns", conversation_archive.turns),
        rows("projections", conversation_archive.projections),
        rows("redactions", conversation_archive.redactions),
    )


def _rows(file: Path, decode: Callable[[bytes], Rows], refuse: Refuse) -> Rows:
    found: Rows = []
    for number, line in enumerate(_lines(file), start=1):
        with _refused(refuse, f"line {number}: "):
            found += decode(line)
    return found


@contextmanager
def _refused(refuse: Refuse, where: str = "") -> Iterator[None]:
    """Text that cannot be read, or rows no store takes, become the unit's own refusal."""
    try:
        yield
    except (Unreadable, InvalidValue) as error:
        raise refuse(f"{where}{error}") from error


def _content(file: Path) -> bytes:
    handle = open_existing(file)
    if handle is None:
        raise ArchiveRefused(f"{file} went away")
    with os.fdopen(handle, "rb") as opened:
        data = opened.read(layout.MAX_FILE_BYTES + 1)
    if len(data) > layout.MAX_FILE_BYTES:
        raise ArchiveRefused(f"{file} is longer than {layout.MAX_FILE_BYTES} bytes, which no store takes")
    return data


def _lines(file: Path) -> Iterator[bytes]:
    handle = open_existing(file)
    if handle is None:
        return
    with os.fdopen(handle, "rb") as opened:
        while line := opened.readline(layout.MAX_FILE_BYTES + 1):
            if len(line) > layout.MAX_FILE_BYTES:
                raise ArchiveRefused(f"{file} has a line of more than {layout.MAX_FILE_BYTES} bytes")
            yield line
