"""The one gate: may this caller do this to this name?

Every operation asks it before its first query. A token's allowance and, where they are on, its client's grants must
both allow. A refusal names what was out of reach and nothing else, so that names that exist and names that do not
answer alike. Where several apply: no entry, the allowance, the operator grant, the name. Sources: seeds/wire "Auth",
"Exact-scope grants".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from authz.caller import Caller
from neosian_site.core.errors import NotPermitted, quoted


def read_scope(caller: Caller, name: str) -> None:
    """The caller may read, list and search this memory scope, its history and its changes."""
    _scope(caller, name, "read")


def write_scope(caller: Caller, name: str) -> None:
    """The caller may write, delete and rename in this memory scope."""
    _scope(caller, name, "write")


def erase_scope(caller: Caller, name: str) -> None:
    """The caller may redact in this memory scope and prune its change feed."""
    _scope(caller, name, "write", as_operator=True)


def read_conversation(caller: Caller, conversation_id: str) -> None:
    """The caller may read this conversation."""
    _conversation(caller, conversation_id, "read")


def append_conversation(caller: Caller, conversation_id: str) -> None:
    """The caller may append turns and projections to this conversation."""
    _conversation(caller, conversation_id, "append")


def erase_conversation(caller: Caller, conversation_id: str) -> None:
    """The caller may blank turns of this conversation."""
    _conversation(caller, conversation_id, "append", as_operator=True)


def read_conversations(caller: Caller, ids: Iterable[str] | None) -> None:
    """The caller may search or read the trail of these conversations; ``None`` is every one the store holds.

    Under grants nobody may ask for every one, operators neither.
    """
    entry(caller)
    if ids is not None:
        for conversation_id in ids:
            read_conversation(caller, conversation_id)
    elif caller.allowance is not None:
        raise NotPermitted("this token's allowance does not reach the whole store")
    elif caller.grants is not None:
        raise NotPermitted("this token's grants do not permit read on the whole store")


def whole_store(caller: Caller) -> None:
    """The caller may enumerate and restore the project's whole store."""
    entry(caller)
    if caller.allowance is not None:
        raise NotPermitted("this token's allowance does not reach the whole store")
    operator(caller)


def mounted_memory(caller: Caller) -> None:
    """The caller may use the mounts served at ``/mcp``."""
    if caller.grants is not None:
        raise NotPermitted("grants are enabled: /mcp is not served, use a local stdio bridge")
    if caller.allowance is not None:
        raise NotPermitted("this token's allowance does not reach /mcp — its mounts are not held to prefixes")


def entry(caller: Caller) -> None:
    """Grants are off, or the caller's client has an entry."""
    if caller.grants is not None and not caller.grants.listed:
        raise NotPermitted("this token holds no grants")


def operator(caller: Caller) -> None:
    """Grants are off, or the caller's client is an operator."""
    if caller.grants is not None and not caller.grants.operator:
        raise NotPermitted("this operation needs the operator grant")


def reach_scope(caller: Caller, name: str) -> None:
    """The token's allowance covers the scope."""
    if caller.allowance is not None and not caller.allowance.covers_scope(name):
        raise NotPermitted(f"this token's allowance does not reach scope {quoted(name)}")


def reach_conversation(caller: Caller, conversation_id: str) -> None:
    """The token's allowance covers the conversation."""
    if caller.allowance is not None and not caller.allowance.covers_conversation(conversation_id):
        raise NotPermitted(f"this token's allowance does not reach conversation {quoted(conversation_id)}")


def _scope(caller: Caller, name: str, permission: Literal["read", "write"], *, as_operator: bool = False) -> None:
    grants = caller.grants
    if grants is None:
        reach_scope(caller, name)
        return
    entry(caller)
    reach_scope(caller, name)
    if as_operator:
        operator(caller)
    if name not in (grants.read_scopes if permission == "read" else grants.write_scopes):
        raise NotPermitted(f"this token's grants do not permit {permission} on scope {quoted(name)}")


def _conversation(
    caller: Caller, conversation_id: str, permission: Literal["read", "append"], *, as_operator: bool = False
) -> None:
    grants = caller.grants
    if grants is None:
        reach_conversation(caller, conversation_id)
        return
    entry(caller)
    reach_conversation(caller, conversation_id)
    if as_operator:
        operator(caller)
    allowed = grants.reads_conversation if permission == "read" else grants.appends_to
    if not allowed(conversation_id):
        raise NotPermitted(f"this token's grants do not permit {permission} on conversation {quoted(conversation_id)}")
