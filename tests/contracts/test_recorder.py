"""The hook that holds every answer of the suite to the contract lets nothing undocumented pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from neosian_site.api.wire import views_memory
from tests.clients import Answer
from tests.contracts import recorder
from tests.contracts.recorder import OutsideTheContract

READ = "/v1/memory/read"
JSON = {"content-type": "application/json"}
TEXT = {"content-type": "text/plain; charset=utf-8"}
NOTHING = {"document": None}


def envelope(code: str, **details: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": "m", "details": details}}


def answer(status: int, body: Any, headers: dict[str, str] = JSON) -> Answer:
    return Answer(status, dict(headers), body if isinstance(body, bytes) else json.dumps(body).encode())


FINE = [
    ("POST", READ, answer(200, NOTHING)),
    ("POST", READ, answer(400, envelope("value_error"))),
    ("POST", READ, answer(400, envelope("memory_path_invalid", path="/", reason="r"))),
    ("POST", READ, answer(403, envelope("forbidden"))),
    ("POST", READ, answer(413, envelope("value_error"))),
    ("POST", READ, answer(401, b"unauthorized", {"www-authenticate": "Bearer"})),
    ("GET", READ, answer(405, b"Method Not Allowed", {**TEXT, "allow": "POST"})),
    ("HEAD", READ, answer(405, b"", {**TEXT, "allow": "POST"})),
    ("POST", READ, answer(500, b"Internal Server Error", TEXT)),
    ("POST", READ, answer(503, b"Service Unavailable", {**TEXT, "retry-after": "1"})),
    ("POST", "/v1/memory/changes", answer(404, b"Not Found", TEXT)),
    ("GET", "/health", answer(200, {"status": "ok"})),
    ("POST", "/v1/no/route", answer(418, b"anything", {})),
    # Too long to be looked into.
    ("POST", READ, answer(200, b"x" * (recorder.MAX_BODY_BYTES + 1))),
]
FAULTY = [
    ("a status without a place", answer(204, b"", {})),
    ("a status of other routes", answer(404, b"Not Found", TEXT)),
    ("a key too many", answer(200, {**NOTHING, "more": 1})),
    ("a key too few", answer(200, {})),
    ("a wrong type", answer(200, {"document": []})),
    ("a code of other routes", answer(400, envelope("agent_conversation_id_invalid", conversation_id="", reason="r"))),
    ("an unknown code", answer(400, envelope("not_found"))),
    ("details too few", answer(400, envelope("memory_path_invalid", path="/"))),
    ("details too many", answer(400, envelope("value_error", path="/"))),
    ("another code at 403", answer(403, envelope("value_error"))),
    ("another code at 413", answer(413, envelope("forbidden"))),
    ("a charset beside JSON", answer(200, NOTHING, {"content-type": "application/json; charset=utf-8"})),
    ("no content type", answer(200, NOTHING, {})),
    ("text for JSON", answer(200, NOTHING, TEXT)),
    ("a content type at 401", answer(401, b"unauthorized", {**TEXT, "www-authenticate": "Bearer"})),
    ("no challenge at 401", answer(401, b"unauthorized", {})),
    ("another method at 405", answer(405, b"Method Not Allowed", {**TEXT, "allow": "GET"})),
    ("an envelope at 500", answer(500, envelope("value_error"))),
    ("a reason at 500", answer(500, b"KeyError", TEXT)),
    ("no hint at 503", answer(503, b"Service Unavailable", TEXT)),
    ("a long answer of another type", answer(200, b"x" * (recorder.MAX_BODY_BYTES + 1), TEXT)),
]


@pytest.mark.parametrize(("method", "path", "given"), FINE, ids=lambda value: str(getattr(value, "status", value)))
def test_a_documented_answer_passes(method, path, given):
    recorder.hold(method, path, given)


@pytest.mark.parametrize("given", [given for _, given in FAULTY], ids=[name for name, _ in FAULTY])
def test_an_answer_outside_the_contract_is_an_error_that_names_the_route(given):
    with pytest.raises(OutsideTheContract, match=rf"^POST {READ} {given.status}: "):
        recorder.hold("POST", READ, given)


def test_the_in_process_client_holds_every_answer(wire, monkeypatch):
    monkeypatch.setattr(views_memory.Read, "answer", lambda *_: b'{"document":null,"surplus":1}')
    with pytest.raises(OutsideTheContract, match="surplus"):
        wire.post("memory/read", scope="user:a", path="x")


def test_every_documented_response_can_be_asked_for():
    for path, item in recorder.WIRE["paths"].items():
        for status in item[next(iter(item))]["responses"]:
            assert recorder.documented(path, status) is not None
