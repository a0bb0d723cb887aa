"""The environment's token table: ``NEOSIAN_SERVE_TOKEN``.

One bare token for ``client:default``, or ``actor[@scope-prefix][+id-prefix]=token`` entries joined by commas
(seeds/wire "Auth"). The one-sided allowances keep the table's published meaning: only ``+prefix`` leaves every scope
open, only ``@prefix`` closes every conversation.
"""

from __future__ import annotations

from dataclasses import dataclass

from authz.caller import Allowance
from authz.names import check_actor
from neosian_site.core.errors import InvalidValue

DEFAULT_ACTOR = "client:default"


class TableRefused(InvalidValue):
    """The table cannot be used; the process must not serve. The message never holds a token."""


@dataclass(frozen=True, slots=True)
class TableEntry:
    actor: str
    token: str
    allowance: Allowance | None


def parse(value: str) -> tuple[TableEntry, ...]:
    """The entries of a token table.

    :raises TableRefused: empty, or an entry that cannot be read, naming it by its place (from 1)
    """
    if not value:
        raise TableRefused("NEOSIAN_SERVE_TOKEN is empty: unset it, or give a token or a table of actor=token entries")
    if "=" not in value:
        return (TableEntry(DEFAULT_ACTOR, value, None),)
    entries: list[TableEntry] = []
    for place, text in enumerate(value.split(","), start=1):
        entry = _entry(text, place)
        if any(other.actor == entry.actor for other in entries):
            raise _refused(place, f"the actor {entry.actor} is listed twice")
        if any(other.token == entry.token for other in entries):
            raise _refused(place, "its token is listed twice")
        entries.append(entry)
    return tuple(entries)


def _entry(text: str, place: int) -> TableEntry:
    left, equals, token = text.partition("=")
    if not equals or not token:
        raise _refused(place, "write actor=token")
    # The first "+" ends the scope half, so an "@" behind it belongs to the id prefix.
    left, plus, id_prefix = left.partition("+")
    actor, at, scope_prefix = left.partition("@")
    if (plus and not id_prefix) or (at and not scope_prefix):
        raise _refused(place, "a prefix after '@' or '+' is empty")
    try:
        check_actor(actor)
    except InvalidValue:
        # Not quoted: a bare token that holds "=" is read as an entry, and this would be most of it.
        raise _refused(
            place, "what stands before '=' is no actor: write kind:id segments joined by '/', for example client:alice"
        ) from None
    return TableEntry(actor, token, _allowance(scope_prefix if at else None, id_prefix if plus else None))


def _allowance(scope_prefix: str | None, id_prefix: str | None) -> Allowance | None:
    if scope_prefix is None and id_prefix is None:
        return None
    return Allowance(scope_prefix="" if scope_prefix is None else scope_prefix, conversation_prefix=id_prefix)


def _refused(place: int, why: str) -> TableRefused:
    return TableRefused(f"NEOSIAN_SERVE_TOKEN entry {place}: {why}")
