"""The bearer gate and the allowance gate (seeds/wire "Auth")."""

from __future__ import annotations

from typing import Any, Literal

from django.http import HttpRequest

from authz import access, tokens
from authz.caller import Caller
from neosian_site.core.errors import NotPermitted

_SCHEME = "Bearer "

# What a route reads its authority from: the one parameter that can open it.
Reach = Literal["scope", "conversation_id", "conversations", "store"]


class Unauthenticated(Exception):
    """No token, or one that makes nobody; every kind of stranger looks alike."""


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


def admit(caller: Caller, body: dict[str, Any], reach: Reach) -> None:
    """Hold a constrained token to its allowance, before any type or grammar is looked at.

    Every name the body gives is judged, whatever the route does with it: a key the route ignores can refuse but never
    authorize. The route's own parameter must be there with its right type.

    :raises NotPermitted: something named, or the whole store, is out of reach
    """
    if caller.allowance is None:
        return
    if reach == "store":
        access.whole_store(caller)
    scope, conversation_id, ids = (body.get(key) for key in ("scope", "conversation_id", "conversations"))
    if isinstance(scope, str):
        access.scope(caller, scope)
    if isinstance(conversation_id, str):
        access.conversation(caller, conversation_id)
    if isinstance(ids, list):
        access.conversations(caller, [item for item in ids if isinstance(item, str)])
    own = body.get(reach)
    if not isinstance(own, list if reach == "conversations" else str):
        raise NotPermitted("this token's allowance does not reach the whole store")
