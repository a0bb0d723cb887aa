"""Grants as a file: format 1 of ``NEOSIAN_SERVE_GRANTS`` (seeds/wire "Exact-scope grants").

Read strictly and whole before anything is served; a refusal names the place and the key, never a token.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from authz.grants import ClientEntry, ConversationGrant, Grants, ScopeGrant, permissions
from authz.names import check_actor
from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.names import conversation_fault, conversation_prefix_fault, scope_fault

FORMAT = 1
MAX_BYTES = 1024 * 1024

_Made = TypeVar("_Made")


class GrantsRefused(InvalidValue):
    """The file cannot be used; a process that names it must not serve."""


def load(path: str, actors: Collection[str]) -> Grants:
    """The grants of the file at ``path``.

    :param actors: the actors that exist; an entry for any other is refused
    :raises GrantsRefused: unreadable, too long, no TOML, or anything the format does not allow
    """
    try:
        # One byte beyond the bound tells that it is exceeded, however long the file is.
        with Path(path).open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise GrantsRefused(f"grants file {path}: {error.strerror or 'cannot be read'}") from error
    try:
        entries = parse(content)
        for place, entry in enumerate(entries, start=1):
            if entry.actor not in actors:
                raise GrantsRefused(f"clients entry {place}: actor: {entry.actor} is not in the token table")
    except GrantsRefused as refused:
        raise GrantsRefused(f"grants file {path}: {refused}") from refused.__cause__
    return Grants({entry.actor: permissions(entry) for entry in entries})


def parse(content: bytes) -> tuple[ClientEntry, ...]:
    """The entries of a grants file.

    :raises GrantsRefused: with the first fault, its place counted from 1
    """
    if len(content) > MAX_BYTES:
        raise GrantsRefused(f"longer than {MAX_BYTES} bytes")
    try:
        document = tomllib.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise GrantsRefused("not a TOML file in UTF-8") from error
    _known(document, ("grant_format", "clients"), "")
    if "grant_format" not in document:
        raise GrantsRefused("grant_format is missing; write grant_format = 1")
    if type(document["grant_format"]) is not int or document["grant_format"] != FORMAT:
        raise GrantsRefused("grant_format must be the integer 1")
    entries: list[ClientEntry] = []
    for place, table in _tables(document, "clients", ""):
        entry = _client(table, place)
        if any(other.actor == entry.actor for other in entries):
            raise GrantsRefused(f"{place}actor: {entry.actor} has an entry already")
        entries.append(entry)
    return tuple(entries)


def _client(table: dict[str, Any], place: str) -> ClientEntry:
    _known(table, ("actor", "operator", "scopes", "conversations"), place)
    actor = _text(table, "actor", place)
    if actor is None:
        raise GrantsRefused(f"{place}actor is missing")
    try:
        check_actor(actor)
    except InvalidValue:
        # Not quoted: a person may have pasted a line of the token table.
        raise GrantsRefused(f"{place}actor must be kind:id segments joined by '/', for example client:alice") from None
    scopes = tuple(_scope(row, where) for where, row in _tables(table, "scopes", place))
    conversations = tuple(_conversation(row, where) for where, row in _tables(table, "conversations", place))
    operator = _flag(table, "operator", place)
    return _made(place, lambda: ClientEntry(actor, operator, scopes, conversations))


def _scope(table: dict[str, Any], place: str) -> ScopeGrant:
    _known(table, ("scope", "read", "write"), place)
    scope = _text(table, "scope", place)
    if scope is None:
        raise GrantsRefused(f"{place}scope is missing")
    _named(f"{place}scope", scope, scope_fault)
    read, write = _flag(table, "read", place), _flag(table, "write", place)
    return _made(place, lambda: ScopeGrant(scope, read, write))


def _conversation(table: dict[str, Any], place: str) -> ConversationGrant:
    _known(table, ("prefix", "ids", "read", "append"), place)
    prefix = _text(table, "prefix", place)
    ids = table.get("ids")
    if ids is not None and not (isinstance(ids, list) and all(isinstance(name, str) for name in ids)):
        raise GrantsRefused(f"{place}ids must be a list of strings")
    if prefix is not None:
        _named(f"{place}prefix", prefix, conversation_prefix_fault)
    for number, name in enumerate(ids or (), start=1):
        _named(f"{place}ids entry {number}", name, conversation_fault)
    read, append = _flag(table, "read", place), _flag(table, "append", place)
    names = None if ids is None else tuple(ids)
    return _made(place, lambda: ConversationGrant(prefix, names, read, append))


def _named(place: str, name: str, fault: Callable[[str], str | None]) -> None:
    # What is no name is not quoted: it may be anything, a token among them.
    if (found := fault(name)) is not None:
        raise GrantsRefused(f"{place}: {found}")


def _made(place: str, make: Callable[[], _Made]) -> _Made:
    try:
        return make()
    except InvalidValue as error:
        raise GrantsRefused(f"{place}{error}") from error


def _known(table: dict[str, Any], keys: Sequence[str], place: str) -> None:
    for key in sorted(table):
        if key not in keys:
            # The key alone: its value may be anything, a token among them.
            raise GrantsRefused(f"{place}unknown key {quoted(key[:100])} (known: {', '.join(keys)})")


def _tables(table: dict[str, Any], key: str, place: str) -> Iterable[tuple[str, dict[str, Any]]]:
    rows = table.get(key, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise GrantsRefused(f"{place}{key} must be an array of tables: write [[{key}]] entries")
    return ((f"{place}{key} entry {number}: ", row) for number, row in enumerate(rows, start=1))


def _text(table: dict[str, Any], key: str, place: str) -> str | None:
    value = table.get(key)
    if value is not None and not isinstance(value, str):
        raise GrantsRefused(f"{place}{key} must be a string")
    return value


def _flag(table: dict[str, Any], key: str, place: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        raise GrantsRefused(f"{place}{key} must be true or false")
    return value


def render(entries: Iterable[ClientEntry]) -> str:
    """The entries as a file that :func:`parse` reads back to the same values."""
    lines = [f"grant_format = {FORMAT}"]
    for entry in entries:
        lines += ["", "[[clients]]", f"actor = {_quote(entry.actor)}"]
        lines += _flags(operator=entry.operator)
        for scope in entry.scopes:
            lines += ["[[clients.scopes]]", f"scope = {_quote(scope.scope)}"]
            lines += _flags(read=scope.read, write=scope.write)
        for grant in entry.conversations:
            lines.append("[[clients.conversations]]")
            if grant.prefix is not None:
                lines.append(f"prefix = {_quote(grant.prefix)}")
            else:
                lines.append(f"ids = [{', '.join(map(_quote, grant.ids or ()))}]")
            lines += _flags(read=grant.read, append=grant.append)
    return "\n".join(lines) + "\n"


def _flags(**flags: bool) -> list[str]:
    return [f"{name} = true" for name, value in flags.items() if value]


def _quote(text: str) -> str:
    # Names are ASCII of a checked grammar, for which JSON's strings are TOML's.
    return json.dumps(text)
