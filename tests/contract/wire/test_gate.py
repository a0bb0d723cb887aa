"""The bearer gate: who is a stranger, and that a stranger learns nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from authz import tokens
from neosian_site.api.wire.urls import ROUTES
from tests.clients import Answer

OVER = str(64 * 1024 * 1024 + 1)


def assert_stranger(answer: Answer) -> None:
    """The one answer every kind of stranger gets."""
    assert answer.status == 401
    assert answer.body == b"unauthorized"
    assert answer.headers == {"content-length": "12", "www-authenticate": "Bearer"}


def present(wire: Any, value: str | None, path: str = "/v1/capabilities") -> Answer:
    """A request whose whole ``Authorization`` value is ``value``."""
    return wire.as_(None).raw("GET", path, headers=None if value is None else {"Authorization": value})


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "tok-default",
        "bearer tok-default",
        "BEARER tok-default",
        "Basic tok-default",
        "Basic dG9rLWRlZmF1bHQ6",
        "Token tok-default",
        "Bearer  tok-default",
        "Bearer\ttok-default",
        "Bearer:tok-default",
        "Bearertok-default",
        "Bearer tok-default ",
        " Bearer tok-default",
        "Bearer TOK-DEFAULT",
        "Bearer tok-defaul",
        "Bearer tok-default1",
        "Bearer tok",
        "Bearer tok-default,tok-ops",
        "Bearer client:default=tok-default",
        "Bearer client:default",
        "Bearer tok-default\0",
        "Bearer Bearer tok-default",
        'Bearer "tok-default"',
        "Bearer \xff\xfe",
        "Bearer " + "x" * 100_000,
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_any_value_but_the_scheme_and_a_token_is_a_stranger(wire, value):
    assert_stranger(present(wire, value))


@pytest.mark.parametrize("token", ["tok-default", "tok-ops", "tok-alice", "tok-reader", "tok-conv"])
def test_every_token_of_the_table_is_let_in(wire, token):
    assert present(wire, f"Bearer {token}").status == 200


def test_a_token_is_looked_for_nowhere_else(wire):
    nobody = wire.as_(None)
    assert_stranger(nobody.raw("GET", "/v1/capabilities?token=tok-default"))
    for name in ("X-Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"):
        assert_stranger(nobody.raw("GET", "/v1/capabilities", headers={name: "Bearer tok-default"}))
    assert_stranger(nobody.post("memory/read", scope="user:a", path="x", token="tok-default"))


PATHS = [
    *(("POST", f"/v1/{route}") for route in sorted(ROUTES)),
    ("GET", "/v1/capabilities"),
    ("POST", "/v1/capabilities"),
    ("GET", "/v1/memory/read"),
    ("OPTIONS", "/v1/memory/read"),
    ("DELETE", "/v1/memory/read"),
    ("GET", "/"),
    ("GET", "/v1"),
    ("POST", "/v1/memory/unknown"),
    ("POST", "/v1/memory/read/"),
    ("POST", "//v1/memory/read"),
    ("GET", "/health/"),
    ("GET", "/Health"),
    ("POST", "/mcp"),
    ("GET", "/mcp"),
    ("GET", "/openapi.json"),
    ("GET", "/contracts"),
    ("GET", "/administrator"),
    ("BREW", "/v1/memory/read"),
]


@pytest.mark.parametrize(("method", "path"), PATHS, ids=lambda value: value)
@pytest.mark.parametrize("token", [None, "nobody"], ids=["no token", "unknown token"])
def test_a_stranger_gets_one_answer_whatever_is_asked(wire, method, path, token):
    stranger = wire.as_(token)
    answer = stranger.raw(method, path, b'{"scope":"user:a","path":"x"}')
    assert_stranger(answer)
    assert_stranger(stranger.raw(method, path, b"{not json"))
    assert_stranger(stranger.raw(method, path, b"", {"Content-Length": OVER}))


def test_a_strangers_write_leaves_nothing(wire):
    body = {"scope": "user:a", "path": "x", "content": "c"}
    assert_stranger(wire.as_("nobody").post("memory/write", body))
    assert wire.ok("store/scopes") == {"scopes": []}


def test_a_body_over_the_ceiling_is_401_before_it_is_413(wire):
    over = {"Content-Length": OVER}
    assert_stranger(wire.as_(None).raw("POST", "/v1/memory/read", b"", over))
    answer = wire.raw("POST", "/v1/memory/read", b"", over)
    assert (answer.status, answer.code) == (413, "value_error")


class TestTokens:
    """What a token may be. The table is read once for each value of the setting."""

    @pytest.fixture
    def table(self, settings):
        def use(value: str | None) -> None:
            settings.NEOSIAN_SERVE_TOKEN = value
            tokens.forget_cached()

        return use

    def client_of(self, wire: Any, value: str) -> str | None:
        answer = present(wire, value)
        if answer.status == 401:
            assert_stranger(answer)
            return None
        return answer.json["client"]

    def test_a_bare_value_is_one_token_of_the_default_client(self, wire, table):
        table("plain")
        assert self.client_of(wire, "Bearer plain") == "client:default"
        assert self.client_of(wire, "Bearer tok-default") is None

    def test_a_bare_value_keeps_its_commas_and_blanks(self, wire, table):
        table("one, two")
        assert self.client_of(wire, "Bearer one, two") == "client:default"
        assert self.client_of(wire, "Bearer one") is None

    def test_a_token_may_hold_the_tables_other_delimiters(self, wire, table):
        table("client:a=t=o@k+e n=,client:b=u")
        assert self.client_of(wire, "Bearer t=o@k+e n=") == "client:a"
        assert self.client_of(wire, "Bearer t") is None
        assert self.client_of(wire, "Bearer u") == "client:b"

    def test_a_token_beyond_ascii_is_its_utf_8_bytes(self, wire, table):
        table("client:a=schlüssel-鍵")
        # A server hands header bytes over as Latin-1.
        assert self.client_of(wire, "Bearer " + "schlüssel-鍵".encode().decode("latin-1")) == "client:a"
        assert self.client_of(wire, "Bearer schlüssel") is None

    def test_a_token_that_is_the_beginning_of_another_is_its_own(self, wire, table):
        table("client:a=tok,client:b=token")
        assert self.client_of(wire, "Bearer tok") == "client:a"
        assert self.client_of(wire, "Bearer token") == "client:b"
        assert self.client_of(wire, "Bearer toke") is None

    def test_without_a_table_nobody_of_the_environment_is_known(self, wire, table):
        table(None)
        for value in ("Bearer tok-default", "Bearer ", "Bearer None"):
            assert self.client_of(wire, value) is None

    def test_an_actor_with_a_turn_stamps_it(self, wire, table):
        table("client:a#3=t")
        written = wire.as_("t").ok("memory/write", scope="user:a", path="x", content="", actor="me")
        assert written["document"]["actor"] == "client:a#3/me"
