"""The server a run is pointed at: its handshake, and what the tokens reach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from neosian_site.conformance.checks import Failed, NoAnswer, hide
from neosian_site.conformance.http import Answer, Wire

WIRE_VERSION = 6
# Objects with a version in the handshake, and the version whose rules are known here.
VERSIONED = ("memory_search", "knowledge_policy", "change_feed", "authorization")
FLAGS = ("supports_optimistic_concurrency", "pageable", "erasable")


class Unusable(Exception):
    """The run cannot begin: nobody answers, or a token is not taken."""


@dataclass
class Target:
    wire: Wire
    fenced: Wire | None = None
    scope_prefix: str | None = None
    id_prefix: str | None = None
    handshake: dict[str, Any] | None = None
    # Why the handshake cannot be gone by; then nothing but itself is held to the contract.
    fault: str | None = None
    reaches_scopes: bool = True
    reaches_conversations: bool = True
    # Why whole-store portability is not asked for.
    unportable: str | None = None

    @property
    def scoped(self) -> bool:
        """Whether exact-scope grants are enforced."""
        return self.lacks("authorization") is None

    def lacks(self, need: str) -> str | None:
        """Why a case that needs this is skipped, or ``None`` where it runs."""
        if need == "portable":
            return self.unportable
        if need == "constrained":
            return None if self.fenced is not None else "no constrained token was given"
        if need == "scoped":
            return self.lacks("authorization")
        declared = (self.handshake or {}).get(need)
        if need in FLAGS:
            return None if declared is True else f"{need} is not declared"
        version = declared.get("version") if isinstance(declared, dict) else None
        if declared is None:
            return f"{need} is not declared"
        return None if type(version) is int and version == 1 else f"{need} is not declared in version 1"

    def close(self) -> None:
        self.wire.close()
        if self.fenced is not None:
            self.fenced.close()


def connect(
    base_url: str,
    token: str,
    *,
    constrained_token: str | None = None,
    scope_prefix: str | None = None,
    id_prefix: str | None = None,
    transport: httpx.BaseTransport | None = None,
) -> Target:
    """A server that answers and takes the tokens; what it declares is known afterwards.

    :raises Unusable: nobody answers, a token is refused, or the token reaches a part of the store only
    """
    hide(token, constrained_token or "")
    fenced = None if constrained_token is None else Wire(base_url, constrained_token, transport=transport)
    target = Target(Wire(base_url, token, transport=transport), fenced, scope_prefix, id_prefix)
    try:
        _shake(target)
        if target.fault is None:
            _probe(target)
    except NoAnswer as error:
        target.close()
        raise Unusable(f"cannot reach the server: {error}") from error
    except Unusable:
        target.close()
        raise
    return target


def _shake(target: Target) -> None:
    answer = target.wire.send("GET", "/v1/capabilities")
    if answer.status == 401:
        raise Unusable("the server does not take the token")
    if target.fenced is not None and target.fenced.send("GET", "/v1/capabilities").status == 401:
        raise Unusable("the server does not take the constrained token")
    if answer.status != 200:
        target.fault = f"{answer}"
        return
    try:
        value = answer.json()
    except Failed as error:
        target.fault = str(error)
        return
    if not isinstance(value, dict):
        target.fault = "the handshake is not an object"
        return
    target.handshake = value
    version = value.get("wire_version")
    if type(version) is not int or version != WIRE_VERSION:
        target.fault = f"wire_version is {version!r}, not {WIRE_VERSION}"


def _probe(target: Target) -> None:
    name = f"conf{uuid4().hex[:20]}"
    wire = target.wire
    wire.start_clock()
    target.reaches_scopes = _reaches(wire.post("memory/read", {"scope": f"user:{name}", "path": "x"}))
    target.reaches_conversations = _reaches(wire.post("conversation/last_turn_number", {"conversation_id": name}))
    if not target.scoped and not (target.reaches_scopes and target.reaches_conversations):
        raise Unusable("the token reaches a part of the store only; give an unconstrained one as --token")
    store = wire.post("store/scopes", {})
    if not _reaches(store):
        target.unportable = "the token does not reach the whole store"
    elif _code(store) == "agent_configuration_error":
        target.unportable = "the backend cannot be moved whole"


def _reaches(answer: Answer) -> bool:
    return answer.status != 403


def _code(answer: Answer) -> Any:
    try:
        value = answer.json()
        return value["error"]["code"]
    except (Failed, KeyError, TypeError):
        return None
