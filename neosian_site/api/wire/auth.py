"""The bearer gate, and what a request's own names open (seeds/wire "Auth", "Exact-scope grants")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest

from authz import access, tokens
from authz.caller import Caller
from neosian_site.core.errors import NotPermitted

_SCHEME = "Bearer "


class Unauthenticated(Exception):
    """No token, or one that makes nobody; every kind of stranger looks alike."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a route needs: the one parameter that can open it, and the gate that judges its value."""

    # None: the whole store.
    parameter: str | None
    allow: Callable[[Caller, Any], None]
    operator: bool = False

    @property
    def kind(self) -> type:
        return list if self.parameter == "conversations" else str


READ_SCOPE = Need("scope", access.read_scope)
WRITE_SCOPE = Need("scope", access.write_scope)
ERASE_SCOPE = Need("scope", access.erase_scope, operator=True)
READ_CONVERSATION = Need("conversation_id", access.read_conversation)
APPEND_CONVERSATION = Need("conversation_id", access.append_conversation)
ERASE_CONVERSATION = Need("conversation_id", access.erase_conversation, operator=True)
READ_CONVERSATIONS = Need("conversations", lambda caller, ids: access.read_conversations(caller, _strings(ids)))
WHOLE_STORE = Need(None, lambda caller, _: access.whole_store(caller), operator=True)


def authenticate(request: HttpRequest) -> Caller:
    """The caller of a request whose whole ``Authorization`` value is ``Bearer `` and a token, byte for byte.

    :raises Unauthenticated: anything else
    """
    presented = request.META.get("HTTP_AUTHORIZATION", "")
    if not presented.startswith(_SCHEME):
        raise Unauthenticated
    # WSGI hands header bytes over as Latin-1.
    caller = tokens.caller_for(presented[len(_SCHEME) :].encode("latin-1", "replace"))
    if caller is None:
        raise Unauthenticated
    return caller


def admit(caller: Caller, body: dict[str, Any], need: Need) -> None:
    """Hold a caller to its allowance and its grants, before any type or grammar is looked at.

    The route's own parameter must be there with its right type. An allowance judges every name the body gives,
    whatever the route does with it: a key the route ignores can refuse but never authorize. Grants judge the route's
    own parameter alone.

    :raises NotPermitted: something named, or the whole store, is out of reach
    """
    if caller.allowance is None and caller.grants is None:
        return
    access.entry(caller)
    own = None if need.parameter is None else body.get(need.parameter)
    if need.parameter is None:
        need.allow(caller, None)
    if caller.allowance is not None:
        _hold_to_allowance(caller, body)
        if not isinstance(own, need.kind):
            raise NotPermitted("this token's allowance does not reach the whole store")
    if caller.grants is not None and need.parameter is not None:
        if need.operator:
            access.operator(caller)
        if not isinstance(own, need.kind):
            raise NotPermitted("this token's grants do not permit read on the whole store")
        need.allow(caller, own)


def _hold_to_allowance(caller: Caller, body: dict[str, Any]) -> None:
    scope, conversation_id, ids = (body.get(key) for key in ("scope", "conversation_id", "conversations"))
    if isinstance(scope, str):
        access.reach_scope(caller, scope)
    if isinstance(conversation_id, str):
        access.reach_conversation(caller, conversation_id)
    if isinstance(ids, list):
        for name in _strings(ids):
            access.reach_conversation(caller, name)


def _strings(items: list[Any]) -> list[str]:
    # Anything else is left to the type check, which answers 400.
    return [item for item in items if isinstance(item, str)]
