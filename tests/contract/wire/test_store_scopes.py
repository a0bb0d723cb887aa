from __future__ import annotations

import random

import pytest
from django.db import connection

from tests.contract.wire.memory_ground import (
    BODIES,
    archive,
    document_row,
    filled,
    redaction_row,
    unchanged,
    version_row,
)


def test_an_empty_store_has_no_scopes(wire):
    assert wire.ok("store/scopes") == {"scopes": []}


def test_scopes_are_sorted_by_code_point(wire):
    names = ["u:A", "u:x", "u:x-b", "u:x.b", "u:x/p:b", "u:xB", "u:x_", "u:xa", "u_:x"]
    for name in random.sample(names, len(names)):
        wire.ok("memory/write", scope=name, path="x", content="c")
    assert wire.ok("store/scopes") == {"scopes": sorted(names)}


def test_deleting_or_redacting_everything_removes_no_scope(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="c")
    wire.ok("memory/delete", scope="user:a", path="x")
    wire.ok("memory/write", scope="user:b", path="x", content="c")
    wire.ok("memory/redact", scope="user:b")
    assert wire.ok("store/scopes") == {"scopes": ["user:a", "user:b"]}


@pytest.mark.parametrize(
    "rows",
    [
        archive([document_row()]),
        archive(versions=[version_row()]),
        archive(versions=[version_row(action="deleted")]),
        archive(redactions=[redaction_row()]),
    ],
    ids=["document", "row", "deleted", "trail"],
)
def test_any_one_restored_row_makes_the_scope_known(wire, rows):
    wire.ok("store/restore_scope", rows)
    assert wire.ok("store/scopes") == {"scopes": ["user:r"]}


@pytest.mark.parametrize("route", [route for route in BODIES if route != "memory/write"])
def test_no_other_route_makes_a_scope(wire, route):
    wire.post(route, BODIES[route])
    assert wire.ok("store/scopes") == {"scopes": []}


def test_an_empty_restore_makes_no_scope(wire):
    wire.ok("store/restore_scope", archive())
    assert wire.ok("store/scopes") == {"scopes": []}


def test_the_bodys_keys_are_ignored(wire):
    filled(wire)
    body = {"scope": "..", "limit": "x", "cursor": 5, "scopes": None, "conversations": 1, "prefix": "user:b"}
    assert wire.ok("store/scopes", body) == {"scopes": ["user:a"]}


@pytest.mark.parametrize("body", [b"[]", b"null", b"", b"x"])
def test_the_body_must_be_an_object_all_the_same(wire, body):
    refused = wire.raw("POST", "/v1/store/scopes", body)
    assert (refused.status, refused.code) == (400, "value_error")


def test_more_than_a_page_of_scopes_come_at_once(wire):
    wire.ok("memory/write", scope="user:s0000", path="x", content="c")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_scope SELECT (jsonb_populate_record("
            "s, jsonb_build_object('name', 'user:s' || lpad(n::text, 4, '0')))).*"
            " FROM memory_scope s, generate_series(1, 1204) n"
        )
    assert wire.ok("store/scopes") == {"scopes": [f"user:s{number:04}" for number in range(1205)]}


@pytest.mark.parametrize("token", ["tok-alice", "tok-reader", "tok-conv"])
@pytest.mark.parametrize("body", [{}, {"scope": "user:alice"}, {"conversation_id": "alice-1"}, {"conversations": []}])
def test_a_constrained_token_is_refused_whatever_its_body(wire, token, body):
    filled(wire, "user:alice")
    refused = wire.as_(token).post("store/scopes", body)
    assert (refused.status, refused.code, refused.details) == (403, "forbidden", {})
    assert b"user:alice'" not in refused.body


def test_asking_changes_nothing(wire):
    filled(wire)
    with unchanged():
        wire.ok("store/scopes")
