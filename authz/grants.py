"""What a client may do under exact-scope grants (seeds/wire "Exact-scope grants").

One evaluator for every form a grant is kept in: the environment's file and the database make the same values. A scope
matches as a whole string, a conversation by a literal prefix or by its id; permissions are independent of each other
and default to no.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.names import conversation_fault, conversation_prefix_fault, scope_fault


@dataclass(frozen=True, slots=True)
class ScopeGrant:
    """One scope and what may be done there; checked when made.

    :raises InvalidValue: a scope outside its grammar
    """

    scope: str
    read: bool = False
    write: bool = False

    def __post_init__(self) -> None:
        if (fault := scope_fault(self.scope)) is not None:
            raise InvalidValue(f"scope {quoted(self.scope[:100])}: {fault}")


@dataclass(frozen=True, slots=True)
class ConversationGrant:
    """The conversations that begin with ``prefix``, or those of ``ids``, and what may be done there.

    :raises InvalidValue: both or neither, an empty list, a prefix or an id no conversation can have, an id twice
    """

    prefix: str | None = None
    ids: tuple[str, ...] | None = None
    read: bool = False
    append: bool = False

    def __post_init__(self) -> None:
        if (self.prefix is None) == (self.ids is None):
            raise InvalidValue("give exactly one of prefix and ids")
        if self.prefix is not None and (fault := conversation_prefix_fault(self.prefix)) is not None:
            raise InvalidValue(f"prefix {quoted(self.prefix[:140])}: {fault}")
        if self.ids is not None:
            if not self.ids:
                raise InvalidValue("ids must name at least one conversation")
            for name in self.ids:
                if (fault := conversation_fault(name)) is not None:
                    raise InvalidValue(f"id {quoted(name[:140])}: {fault}")
            if len(set(self.ids)) < len(self.ids):
                raise InvalidValue("an id stands twice in one list")


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """One client as an operator writes it down.

    :raises InvalidValue: a scope or a prefix twice
    """

    actor: str
    operator: bool = False
    scopes: tuple[ScopeGrant, ...] = ()
    conversations: tuple[ConversationGrant, ...] = ()

    def __post_init__(self) -> None:
        _refuse_repeats("scope", [grant.scope for grant in self.scopes])
        _refuse_repeats("prefix", [grant.prefix for grant in self.conversations if grant.prefix is not None])


def _refuse_repeats(what: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InvalidValue(f"{what} {quoted(name)} stands twice for one client")
        seen.add(name)


@dataclass(frozen=True, slots=True)
class Permissions:
    """A client's grants, ready to be asked."""

    # False: grants are on and this client has no entry; it may do nothing.
    listed: bool = True
    operator: bool = False
    read_scopes: frozenset[str] = frozenset()
    write_scopes: frozenset[str] = frozenset()
    read_prefixes: tuple[str, ...] = ()
    append_prefixes: tuple[str, ...] = ()
    read_ids: frozenset[str] = frozenset()
    append_ids: frozenset[str] = frozenset()

    def reads_conversation(self, conversation_id: str) -> bool:
        return conversation_id in self.read_ids or conversation_id.startswith(self.read_prefixes)

    def appends_to(self, conversation_id: str) -> bool:
        return conversation_id in self.append_ids or conversation_id.startswith(self.append_prefixes)


NOTHING = Permissions(listed=False)


def permissions(entry: ClientEntry) -> Permissions:
    """The union of an entry's grants."""
    readable = [grant for grant in entry.conversations if grant.read]
    appendable = [grant for grant in entry.conversations if grant.append]
    return Permissions(
        operator=entry.operator,
        read_scopes=frozenset(grant.scope for grant in entry.scopes if grant.read),
        write_scopes=frozenset(grant.scope for grant in entry.scopes if grant.write),
        read_prefixes=_prefixes(readable),
        append_prefixes=_prefixes(appendable),
        read_ids=_ids(readable),
        append_ids=_ids(appendable),
    )


def _prefixes(grants: Iterable[ConversationGrant]) -> tuple[str, ...]:
    return tuple(grant.prefix for grant in grants if grant.prefix is not None)


def _ids(grants: Iterable[ConversationGrant]) -> frozenset[str]:
    return frozenset(name for grant in grants for name in grant.ids or ())


@dataclass(frozen=True, slots=True)
class Grants:
    """Every client's permissions by its actor; who is not there may do nothing."""

    clients: Mapping[str, Permissions] = field(default_factory=dict)

    def of(self, actor: str) -> Permissions:
        return self.clients.get(actor, NOTHING)
