"""The one gate: may this caller do this to this name?

Every operation asks it before its first query. A refusal names what was out of reach and nothing else, so that names
that exist and names that do not answer alike. Sources: seeds/wire "Auth".
"""

from __future__ import annotations

from collections.abc import Iterable

from authz.caller import Caller
from neosian_site.core.errors import NotPermitted, quoted


def scope(caller: Caller, name: str) -> None:
    """The caller may use this memory scope."""
    allowance = caller.allowance
    if allowance is not None and not allowance.covers_scope(name):
        raise NotPermitted(f"this token's allowance does not reach scope {quoted(name)}")


def conversation(caller: Caller, conversation_id: str) -> None:
    """The caller may use this conversation."""
    allowance = caller.allowance
    if allowance is not None and not allowance.covers_conversation(conversation_id):
        raise NotPermitted(f"this token's allowance does not reach conversation {quoted(conversation_id)}")


def conversations(caller: Caller, ids: Iterable[str] | None) -> None:
    """The caller may search or read the trail of these conversations; ``None`` is every one the store holds."""
    if ids is None:
        whole_store(caller)
        return
    for conversation_id in ids:
        conversation(caller, conversation_id)


def whole_store(caller: Caller) -> None:
    """The caller may enumerate and restore the project's whole store."""
    if caller.allowance is not None:
        raise NotPermitted("this token's allowance does not reach the whole store")


def mounted_memory(caller: Caller) -> None:
    """The caller may use the mounts served at ``/mcp``."""
    if caller.allowance is not None:
        raise NotPermitted("this token's allowance does not reach /mcp — its mounts are not held to prefixes")
