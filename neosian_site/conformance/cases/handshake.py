"""The two GET routes, the bearer gate, and what is no route."""

from __future__ import annotations

import json

from neosian_site.conformance.checks import Skipped, check, same
from neosian_site.conformance.http import Answer
from neosian_site.conformance.registry import case
from neosian_site.conformance.routes import OPTIONAL_ROUTES, ROUTES
from neosian_site.conformance.session import Session, refusal
from neosian_site.conformance.shapes import boolean, mapping, text
from neosian_site.conformance.target import FLAGS, VERSIONED, WIRE_VERSION

MAX_BODY_BYTES = 64 * 1024 * 1024


@case("handshake.health")
def health(session: Session) -> None:
    for authorization in (None, ""):
        answer = session.wire.send("GET", "/health", authorization=authorization)
        check(answer.status == 200, f"{answer}")
        same(answer.json(), {"status": "ok"}, "GET /health")


@case("handshake.fields")
def fields(session: Session) -> None:
    answer = session.wire.send("GET", "/v1/capabilities")
    check(answer.status == 200, f"{answer}")
    found = answer.json()
    mapping(found, "handshake")
    for key in ("wire_version", "neosian_version", "backend", "client", *FLAGS):
        check(key in found, f"handshake: no {key!r}")
    same(found["wire_version"], WIRE_VERSION, "handshake.wire_version")
    for key in ("neosian_version", "backend", "client"):
        text(found[key], f"handshake.{key}")
        check(found[key] != "", f"handshake.{key}: empty")
    for key in FLAGS:
        boolean(found[key], f"handshake.{key}")


@case("handshake.optional_capabilities")
def optional_capabilities(session: Session) -> None:
    found = session.target.handshake or {}
    for key in VERSIONED:
        if key in found:
            mapping(found[key], f"handshake.{key}")
            version = found[key].get("version")
            check(type(version) is int and version >= 1, f"handshake.{key}.version: {version!r}")
    if "knowledge_policy" in found:
        check(session.target.lacks("memory_search") is None, "knowledge_policy is declared without memory_search 1")
    if session.target.scoped:
        same(found["authorization"].get("mode"), "scoped", "handshake.authorization.mode")


def _is_miss(answer: Answer) -> None:
    check(answer.status == 401, f"{answer.asked}: expected 401, got {answer.status}")
    same(answer.headers.get("www-authenticate"), "Bearer", f"{answer.asked}: WWW-Authenticate")
    try:
        json.loads(answer.body)
    except ValueError:
        return
    check(False, f"{answer.asked}: the 401 has a JSON body")


@case("handshake.bearer_gate")
def bearer_gate(session: Session) -> None:
    token = session.wire.token
    _is_miss(session.wire.send("GET", "/v1/capabilities", authorization=None))
    for wrong in (f"Bearer {token}x", f"Bearer {token[:-1]}".strip(), "Bearer", f"Basic {token}", token):
        _is_miss(session.wire.send("GET", "/v1/capabilities", authorization=wrong))


@case("handshake.bearer_gate_of_every_route")
def bearer_gate_of_every_route(session: Session) -> None:
    declared = [name for name, need in OPTIONAL_ROUTES.items() if session.target.lacks(need) is None]
    for name in [*(route.name for route in ROUTES), *declared]:
        for body in (b"{}", b"not JSON"):
            _is_miss(session.wire.send("POST", f"/v1/{name}", body, authorization=None))


@case("handshake.body_ceiling")
def body_ceiling(session: Session) -> None:
    stranger = session.wire.declare("/v1/memory/read", MAX_BODY_BYTES + 1, token=False)
    check(stranger.status == 401, f"without a token: expected 401, got {stranger.status}")
    refusal(session.wire.declare("/v1/memory/read", MAX_BODY_BYTES + 1, token=True), "value_error", status=413)


@case("handshake.no_other_route")
def no_other_route(session: Session) -> None:
    for method, path in (
        ("GET", "/openapi.json"),
        ("GET", "/contracts"),
        ("GET", "/v1/memory/read"),
        ("POST", "/v1/memory/audit"),
        ("POST", "/v1/capabilities"),
    ):
        answer = session.wire.send(method, path, b"{}" if method == "POST" else b"")
        check(400 <= answer.status < 500, f"{method} {path}: expected a refusal, got {answer.status}")


@case("handshake.mcp_behind_the_gate")
def mcp_behind_the_gate(session: Session) -> None:
    if session.wire.send("POST", "/mcp", b"{}").status == 404:
        raise Skipped("/mcp is not served")
    _is_miss(session.wire.send("POST", "/mcp", b"{}", authorization=None))
