from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from neosian_site import __version__

BASE = [
    "wire_version",
    "neosian_version",
    "backend",
    "supports_optimistic_concurrency",
    "pageable",
    "erasable",
    "client",
]
# Separately versioned, and only behind the base keys.
OPTIONAL = {"memory_search", "knowledge_policy", "change_feed", "authorization"}


@pytest.mark.parametrize(
    ("token", "client"),
    [
        ("tok-default", "client:default"),
        ("tok-ops", "client:ops"),
        ("tok-alice", "client:alice"),
        ("tok-reader", "client:reader"),
        ("tok-conv", "client:conv"),
    ],
)
def test_any_valid_token_is_told_the_base_keys_and_its_client(wire, token, client):
    answer = wire.as_(token).raw("GET", "/v1/capabilities")
    assert answer.status == 200
    assert list(answer.json)[:7] == BASE
    assert {key: answer.json[key] for key in BASE} == {
        "wire_version": 6,
        "neosian_version": __version__,
        "backend": "PostgresStore",
        "supports_optimistic_concurrency": True,
        "pageable": True,
        "erasable": True,
        "client": client,
    }
    assert type(answer.json["wire_version"]) is int


def test_what_follows_the_base_keys_is_a_versioned_capability(wire):
    capabilities = wire.raw("GET", "/v1/capabilities").json
    for key in list(capabilities)[7:]:
        assert key in OPTIONAL
        assert capabilities[key]["version"] == 1
    # Nothing narrows access here, so nothing says so.
    assert "authorization" not in capabilities


def test_the_version_is_two_or_later():
    assert int(__version__.partition(".")[0]) >= 2


def test_the_body_and_the_query_string_are_not_looked_at(wire):
    plain = wire.raw("GET", "/v1/capabilities")
    assert wire.raw("GET", "/v1/capabilities", b"{not json").body == plain.body


def test_head_answers_the_headers_of_get_without_a_body(wire):
    for path in ("/health", "/v1/capabilities"):
        get, head = wire.raw("GET", path), wire.raw("HEAD", path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers == get.headers
        assert get.headers == {"content-type": "application/json", "content-length": str(len(get.body))}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_another_method_is_refused(wire, method):
    answer = wire.raw(method, "/v1/capabilities", b"{}")
    assert (answer.status, answer.body) == (405, b"Method Not Allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}


def test_a_stranger_is_told_nothing(wire):
    answer = wire.as_(None).raw("GET", "/v1/capabilities")
    assert (answer.status, answer.body) == (401, b"unauthorized")


def test_the_handshake_of_a_known_token_asks_the_database_nothing(wire):
    wire.raw("GET", "/v1/capabilities")
    with CaptureQueriesContext(connection) as queries:
        assert wire.raw("GET", "/v1/capabilities").status == 200
    assert len(queries) == 0


# --- Liveness: no database fixture, so that a query would fail -------------------------------------------------------


@pytest.mark.parametrize("token", [None, "tok-default", "nobody"])
def test_health_is_liveness_and_asks_neither_for_a_token_nor_the_database(token):
    from tests.clients import WireClient

    answer = WireClient(token).raw("GET", "/health")
    assert (answer.status, answer.body) == (200, b'{"status":"ok"}')
    assert answer.headers == {"content-type": "application/json", "content-length": "15"}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_health_has_no_other_method(method):
    from tests.clients import WireClient

    answer = WireClient(None).raw(method, "/health")
    assert (answer.status, answer.body) == (405, b"Method Not Allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD"}
