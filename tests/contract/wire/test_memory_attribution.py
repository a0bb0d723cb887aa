"""Who is recorded: the token's client, and the body's actor only ever behind it."""

from __future__ import annotations

import pytest

from tests.contract.wire.memory_ground import (
    BODIES,
    archive,
    document_row,
    filled,
    redaction_row,
    unchanged,
    version_row,
)

ACTORS = [
    None,
    "",
    "me",
    "/",
    "a/b",
    "../client:ops",
    "client:ops",
    "client:other",
    "client:default/x",
    "#3",
    "me#3",
    " spaced out ",
    "two\nlines\t",
    "'; DROP TABLE memory_scope; --",
    "%s {actor} \\",
    "名\u0301😀",
    "\x01\x7f\u2028",
    "x" * 5000,
]


@pytest.fixture(params=ACTORS, ids=lambda actor: ascii(actor)[:24])
def actor(request):
    return request.param


@pytest.mark.parametrize("token", ["tok-default", "tok-ops"])
def test_each_change_is_recorded_under_the_tokens_client(wire, token, actor):
    client = {"tok-default": "client:default", "tok-ops": "client:ops"}[token]
    recorded = client if actor is None else f"{client}/{actor}"
    wire = wire.as_(token)
    more = {} if actor is None else {"actor": actor}
    written = wire.ok("memory/write", scope="user:a", path="x", content="c", **more)["document"]
    assert written["actor"] == recorded
    moved = wire.ok("memory/rename", scope="user:a", src="x", dst="y", **more)["document"]
    assert moved["actor"] == recorded
    wire.ok("memory/delete", scope="user:a", path="y", **more)
    rows = wire.ok("memory/history", scope="user:a")["versions"]
    assert [row["actor"] for row in rows] == [recorded] * 4
    wire.ok("memory/redact", scope="user:a", **more)
    assert [act["actor"] for act in wire.ok("memory/redactions", scope="user:a")["redactions"]] == [recorded]


def test_a_null_actor_is_no_actor(wire):
    assert wire.ok("memory/write", BODIES["memory/write"] | {"actor": None})["document"]["actor"] == "client:default"


def test_a_redaction_leaves_the_writers_names(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="c", actor="writer")
    wire.as_("tok-ops").ok("memory/redact", scope="user:a", actor="eraser")
    assert wire.ok("memory/read", scope="user:a", path="x")["document"]["actor"] == "client:default/writer"
    assert wire.ok("memory/history", scope="user:a")["versions"][0]["actor"] == "client:default/writer"
    assert wire.ok("memory/redactions", scope="user:a")["redactions"][0]["actor"] == "client:ops/eraser"


def test_a_constrained_token_writes_under_its_own_name_without_its_allowance(wire):
    alice = wire.as_("tok-alice")
    assert alice.ok("memory/write", scope="user:alice", path="x", content="c")["document"]["actor"] == "client:alice"
    document = alice.ok("memory/write", scope="user:alice", path="x", content="c", actor="client:bob")["document"]
    assert document["actor"] == "client:alice/client:bob"


@pytest.mark.parametrize(
    "route", ["memory/read", "memory/list_documents", "memory/versions", "memory/history", "memory/redactions"]
)
@pytest.mark.parametrize("ignored", ["me", "\x00", 5, [], {}])
def test_a_read_ignores_an_actor_of_any_kind(wire, route, ignored):
    filled(wire)
    plain = wire.ok(route, BODIES[route])
    with unchanged():
        assert wire.ok(route, BODIES[route] | {"actor": ignored}) == plain


def test_a_restore_stamps_nobody(wire):
    rows = archive(
        [document_row("a", actor="client:z"), document_row("b", actor=None), document_row("c", actor="")],
        [version_row("a", actor=None), version_row("b", actor="client:y/é")],
        [redaction_row(actor=None), redaction_row(actor="ops:1")],
    )
    wire.as_("tok-ops").ok("store/restore_scope", rows | {"actor": "me"})
    actors = [wire.ok("memory/read", scope="user:r", path=path)["document"]["actor"] for path in ("a", "b", "c")]
    assert actors == ["client:z", None, ""]
    history = wire.ok("memory/history", scope="user:r")["versions"]
    assert [(row["path"], row["actor"]) for row in history] == [("a", None), ("b", "client:y/é")]
    assert [act["actor"] for act in wire.ok("memory/redactions", scope="user:r")["redactions"]] == ["ops:1", None]
