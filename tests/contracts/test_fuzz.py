"""Requests made from the frozen contract, the same ones every run: whatever comes, the answer is one it describes.

Described requests must be answered as documented and, once at least, with success. Others must be refused: no
undescribed request passes, none is a fault of the server.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import APIOperation, Case, Config, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from neosian_site import contracts
from neosian_site.api.http import json_answer, plain_answer
from neosian_site.api.wire import views_memory
from neosian_site.wsgi import application
from tests.clients import WireClient

# Per route. Bounded and derandomized: about twenty seconds in all.
DESCRIBED, UNDESCRIBED = 10, 8

WIRE = contracts.load("wire")
POSTS = [path for path, item in WIRE["paths"].items() if "post" in item]
GETS = [path for path, item in WIRE["paths"].items() if "get" in item]
CONFORMANCE = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

SCOPES = ("user:alice", "user:bob")
PATHS = ("notes/a", "notes/b", "absent")
CONVERSATIONS = ("alice-1", "bob-1", "absent")


@functools.cache
def operations() -> dict[str, APIOperation]:
    schema = schemathesis.openapi.from_path(Path(contracts.__file__).parent / contracts.FILES["wire"], config=Config())
    # The token is ours: guesses at it would all be 401.
    schema.config.generation.with_security_parameters = False
    return {found.ok().path: found.ok() for found in schema.get_all_operations()}


@pytest.fixture
def furnished(wire: WireClient) -> dict[str, str]:
    """Something to find under the familiar names; where its change feed ends."""
    for scope in SCOPES:
        for path in PATHS[:2]:
            wire.ok("memory/write", scope=scope, path=path, content="the window opens on Tuesday", actor="me")
        wire.ok("memory/redact", scope=scope, path="notes/b")
    for conversation in CONVERSATIONS[:2]:
        for text in ("one", "two"):
            wire.ok(
                "conversation/append_turn", conversation_id=conversation, messages=[{"role": "user", "content": text}]
            )
        entries = [{"turn": 2, "kind": "log", "text": "one and two", "span": 2}]
        wire.ok("conversation/append_projections", conversation_id=conversation, entries=entries)
        wire.ok("conversation/redact_turns", conversation_id=conversation, turns=[1])
    return {scope: wire.ok("memory/changes", scope=scope)["head_cursor"] for scope in SCOPES}


def familiar(path: str, body: dict[str, Any], heads: dict[str, str]) -> dict[str, Any]:
    """The body with names that mean something; a restore keeps its own, and its rows are of it."""
    body = dict(body)
    if path == "/v1/store/restore_scope":
        body["documents"] = [{**row, "scope": body["scope"]} for row in body["documents"]]
        return body
    if path == "/v1/store/restore_conversation":
        for key in ("turns", "redactions"):
            if body.get(key) is not None:
                body[key] = [{**row, "conversation_id": body["conversation_id"]} for row in body[key]]
        return body
    for key, names in (("scope", SCOPES), ("path", PATHS), ("conversation_id", CONVERSATIONS)):
        if isinstance(body.get(key), str):
            body[key] = names[len(body[key]) % len(names)]
    if "src" in body:
        body["src"] = PATHS[0]
    if body.get("conversations"):
        body["conversations"] = list(CONVERSATIONS)
    for key in ("through", "cursor"):
        if path.endswith("changes") and isinstance(body.get(key), str):
            body[key] = heads[body["scope"]]
    return body


def fuzz(
    wire: WireClient, path: str, mode: GenerationMode, change: Callable[[Any], Any] = lambda body: body
) -> set[int]:
    """The statuses that requests made from the contract met, each answer checked."""
    statuses = set()
    described = mode is GenerationMode.POSITIVE
    checks = CONFORMANCE if described else [*CONFORMANCE, negative_data_rejection]

    @settings(
        max_examples=DESCRIBED if described else UNDESCRIBED,
        derandomize=True,
        database=None,
        deadline=None,
        # A failing request is shown as it was found: looking for a smaller one has no bound.
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operations()[path].as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        case.body = change(case.body)
        response = case.call(app=application, headers={"Authorization": f"Bearer {wire.token}"})
        case.validate_response(response, checks=checks)
        statuses.add(response.status_code)

    ask()
    return statuses


def snapshot(wire: WireClient) -> list[Any]:
    """What the store holds: its names and their histories."""
    scopes = wire.ok("store/scopes")["scopes"]
    conversations = wire.ok("store/conversations")["conversations"]
    return [
        [wire.ok("memory/history", scope=scope) for scope in scopes],
        [wire.ok("conversation/read_turns", conversation_id=name) for name in conversations],
        [wire.ok("conversation/read_projections", conversation_id=name) for name in conversations],
        wire.ok("conversation/turn_redactions"),
    ]


@pytest.mark.parametrize("path", POSTS)
def test_a_described_request_is_answered_as_described(wire: WireClient, furnished: dict[str, str], path: str):
    statuses = fuzz(wire, path, GenerationMode.POSITIVE, lambda body: familiar(path, body, furnished))
    assert 200 in statuses
    assert statuses <= {200, 400}


@pytest.mark.parametrize("path", POSTS)
def test_an_undescribed_request_is_refused_and_changes_nothing(wire: WireClient, furnished: dict[str, str], path: str):
    before = snapshot(wire)
    assert fuzz(wire, path, GenerationMode.NEGATIVE) == {400}
    assert snapshot(wire) == before


@pytest.mark.parametrize("path", GETS)
def test_a_get_route_is_answered_as_described(wire: WireClient, path: str):
    assert fuzz(wire, path, GenerationMode.POSITIVE) == {200}


SPOILT = [
    (GenerationMode.POSITIVE, json_answer('{"document":null,"surplus":1}')),
    (GenerationMode.POSITIVE, json_answer("{}")),
    (GenerationMode.POSITIVE, json_answer('{"document":null}', 201)),
    (GenerationMode.POSITIVE, plain_answer("null", 200)),
    (GenerationMode.POSITIVE, plain_answer("Internal Server Error", 500)),
    (GenerationMode.POSITIVE, json_answer('{"error":{"code":"memory_conflict","message":"","details":{}}}', 400)),
    # Fine, but not for a request that is not described.
    (GenerationMode.NEGATIVE, json_answer('{"document":null}')),
]


@pytest.mark.parametrize(("mode", "answer"), SPOILT, ids=range(len(SPOILT)))
def test_an_answer_outside_the_contract_is_found(wire: WireClient, monkeypatch, mode, answer):
    monkeypatch.setattr(views_memory.Read, "handle", lambda *_: answer)
    with pytest.raises(FailureGroup):
        fuzz(wire, "/v1/memory/read", mode)
