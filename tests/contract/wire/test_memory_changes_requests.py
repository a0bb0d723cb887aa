"""``memory/changes``: the requests that are refused, whose authority is asked first, and what a page costs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz import tokens
from tests.contract.wire.conversation_rows import store_rows
from tests.contract.wire.feed_ground import C3, OTHER, SCOPE, STREAM, TAG, N, at, outcome, position
from tests.contract.wire.memory_ground import forge

MALFORMED, FOREIGN = "malformed changes cursor", "cursor does not belong to this scope"


def refused(answer: Any, message: str) -> None:
    assert (answer.status, answer.code, answer.message, answer.details) == (400, "value_error", message, {})


ORDER: list[tuple[dict[str, Any], str]] = [
    ({"Unknown": 1, "since": None}, "unknown parameter: 'Unknown'"),
    ({"since": None}, "unknown parameter: 'since'"),
    ({"scope": 1}, "parameter 'scope' must be a string"),
    ({"scope": None}, "missing parameter: 'scope'"),
    ({"scope": "\ud800"}, "parameter 'scope' holds a lone surrogate"),
    ({"cursor": 1}, "parameter 'cursor' must be a string"),
    ({"cursor": ""}, MALFORMED),
    ({"limit": None}, "parameter 'limit' must be an integer"),
    ({"limit": 101}, "limit must be 1 to 100"),
]


@pytest.mark.parametrize("place", range(len(ORDER)), ids=[message for _, message in ORDER])
def test_the_first_fault_in_the_contracts_order_answers(wire, place):
    body: dict[str, Any] = {"scope": "bad"}
    for fault, _ in reversed(ORDER[place:]):
        body |= fault
    refused(wire.post("memory/changes", body), ORDER[place][1])


def test_the_scopes_grammar_comes_before_what_the_cursor_says(wire):
    for cursor in ("x", at(3), at(3, scope="bad"), forge(["list", "a"])):
        answer = wire.post("memory/changes", scope="bad", cursor=cursor)
        assert (answer.status, answer.code) == (400, "memory_scope_invalid")


@pytest.mark.parametrize(
    ("name", "noun", "wrong"),
    [
        ("scope", "a string", [1, True, 1.5, [], ["x"], {}]),
        ("cursor", "a string", [0, 1, True, False, [], ["x"], {}]),
        ("limit", "an integer", [None, "50", 1.0, 1e300, True, False, [], [1], {}]),
    ],
)
def test_a_value_of_another_type_names_its_key(wire, name, noun, wrong):
    for value in wrong:
        refused(wire.post("memory/changes", {"scope": SCOPE, name: value}), f"parameter '{name}' must be {noun}")


@pytest.mark.parametrize("limit", [0, -1, 101, 2**63, 10**30])
def test_ce_09_a_limit_is_from_one_to_a_hundred(wire, limit):
    refused(wire.post("memory/changes", scope=SCOPE, limit=limit), "limit must be 1 to 100")


@pytest.mark.parametrize(("limit", "count"), [(None, 50), (1, 1), (100, 100)])
def test_a_page_has_fifty_events_unless_asked_otherwise(wire, limit, count):
    for number in range(101):
        wire.ok("memory/write", scope=SCOPE, path=f"p{number % 3}", content="x")
    page = wire.ok("memory/changes", scope=SCOPE, **({} if limit is None else {"limit": limit}))
    assert [event["sequence"] for event in page["events"]] == list(range(1, count + 1))
    assert page["checkpoint_cursor"] == position(SCOPE, count)


def test_ce_10_cursors_of_other_feeds_and_listings(feed_of):
    wire = feed_of("empty")
    for path in ("a", "a", "b"):
        wire.ok("memory/write", scope="workspace:other", path=path, content="x")
    theirs = wire.ok("memory/changes", scope="workspace:other")
    untouched = wire.ok("memory/changes", scope="workspace:untouched")
    for page in (theirs, untouched):
        for key in ("checkpoint_cursor", "head_cursor", "floor_cursor"):
            refused(wire.post("memory/changes", scope=SCOPE, cursor=page[key]), FOREIGN)
    minted = [
        wire.ok(route, scope="workspace:other", limit=1, **more)["next_cursor"]
        for route, more in (
            ("memory/list_documents", {}),
            ("memory/versions", {"path": "a"}),
            ("memory/history", {}),
            ("memory/search", {"query": "x"}),
        )
    ]
    assert None not in minted
    stream = str(STREAM)
    forged = [
        ["changes", 2, TAG, stream, 3], ["changes", "1", TAG, stream, 3], ["changes", 1.0, TAG, stream, 3],
        ["changes", True, TAG, stream, 3], ["changes", 1, TAG, stream], ["changes", 1, TAG, stream, 3, 4],
        ["changes", 1, TAG, stream, "3"], ["changes", 1, TAG, stream, 3.0], ["changes", 1, TAG, stream, True],
        ["changes", 1, TAG, stream, -1], ["changes", 1, TAG, stream, None], ["changes", 1, TAG, None, 1],
        ["changes", 1, TAG, "", 3], ["changes", 1, TAG, "5b0c1f1e", 3], ["changes", 1, TAG, stream.upper(), 3],
        ["changes", 1, TAG, stream.replace("-", ""), 3], ["changes", 1, TAG, f"{{{stream}}}", 3],
        ["changes", 1, TAG, 5, 3], ["changes", 1, TAG, [stream], 3], ["changes", 1, None, stream, 3],
        ["changes", 1, 5, stream, 3], ["change", 1, TAG, stream, 3], ["memory_search", 1, TAG, stream, 3], [], {},
        "changes", None, 5, "{", "[" * 1500, '["changes",1,"' + TAG + '","' + stream + '",' + "9" * 1400 + "x]",
    ]  # fmt: skip
    strangers = [
        *minted,
        *map(forge, forged),
        "",
        " ",
        "x",
        "=",
        "é",
        "\0",
        "\ud800",
        C3[:-1],
        C3.rstrip("="),
        f"{C3} ",
    ]
    for cursor in strangers:
        refused(wire.post("memory/changes", scope=SCOPE, cursor=cursor), MALFORMED)
    refused(wire.post("memory/changes", scope=SCOPE, cursor=forge(["changes", 1, "\ud800", stream, 3])), FOREIGN)
    refused(wire.post("memory/changes", scope=SCOPE, cursor=forge(["changes", 1, "", None, 0])), FOREIGN)


def test_a_cursor_is_at_most_2048_bytes(feed_of, django_assert_num_queries):
    wire = feed_of("empty")
    written = json.dumps(["changes", 1, TAG, str(STREAM), 3])
    fits, over = forge(written.ljust(1536)), forge(written.ljust(1539))
    assert (len(fits), len(over)) == (2048, 2052)
    assert outcome(wire, fits) == [4, 5]
    with django_assert_num_queries(0):
        for cursor in (over, "A" * 2049, "A" * 2048, "é" * 1025, fits + "="):
            refused(wire.post("memory/changes", scope=SCOPE, cursor=cursor), MALFORMED)


def test_ce_19_authority_comes_before_everything_the_body_says(wire):
    alice = wire.as_("tok-alice")
    for more in (
        {}, {"cursor": at(3, scope="user:bob")}, {"cursor": "x"}, {"cursor": ""}, {"cursor": 5}, {"cursor": "A" * 2049},
        {"limit": 0}, {"since": 1}, {"limit": None},
    ):  # fmt: skip
        answer = alice.post("memory/changes", scope="user:bob", **more)
        assert (answer.status, answer.code) == (403, "forbidden"), more
    for scope in (None, 5, ["user:alice"]):
        assert alice.post("memory/changes", scope=scope).status == 403
    refused(alice.post("memory/changes", scope="user:alice", since=1), "unknown parameter: 'since'")


GRANTS = """
grant_format = 1
[[clients]]
actor = "client:default"
operator = true
[[clients.scopes]]
scope = "workspace:team"
read = true
write = true
[[clients]]
actor = "client:ops"
operator = true
[[clients.scopes]]
scope = "workspace:team"
read = true
[[clients.scopes]]
scope = "workspace:written"
write = true
"""


@pytest.fixture
def granted(feed_of, settings, tmp_path):
    wire = feed_of("empty")
    path = tmp_path / "grants.toml"
    path.write_text(GRANTS)
    settings.NEOSIAN_SERVE_GRANTS = str(path)
    tokens.forget_cached()
    return wire


def test_ce_19_and_20_grants_are_asked_before_the_cursor(granted):
    ops = granted.as_("tok-ops")
    assert len(ops.ok("memory/changes", scope=SCOPE)["events"]) == 5
    for cursor in (None, "x", C3, at(3, scope="workspace:written"), 5, ""):
        answer = ops.post("memory/changes", scope="workspace:written", cursor=cursor)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.message == "this token's grants do not permit read on scope 'workspace:written'"
    before = store_rows()
    for more in ({}, {"write": True}, {"write": False}, {"write": 5}, {"through": "x"}, {"unknown": 1}):
        answer = ops.post("memory/prune_changes", {"scope": SCOPE, "through": C3, **more})
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.message == "this token's grants do not permit write on scope 'workspace:team'"
    assert store_rows() == before
    assert granted.ok("memory/prune_changes", scope=SCOPE, through=C3)["removed"] == 3


# What a page costs


def test_a_page_is_one_statement_and_numbering_costs_the_same_for_one_event_and_for_many(
    wire, django_assert_num_queries
):
    wire.ok("memory/changes", scope=SCOPE)
    counts = []
    for size in (1, 60):
        for number in range(size):
            wire.ok("memory/write", scope=SCOPE, path=f"p{number}", content="x")
        with CaptureQueriesContext(connection) as captured:
            wire.ok("memory/changes", scope=SCOPE)
        counts.append(len(captured))
        for cursor in (None, N, position(SCOPE, 0), position(SCOPE, 1), at(3, OTHER)):
            with django_assert_num_queries(1):
                wire.ok("memory/changes", scope=SCOPE, cursor=cursor)
    # The page that finds something waiting, its numbering in a transaction (here a savepoint), the page.
    assert counts == [6, 6]


@pytest.mark.parametrize(
    "more", [{"limit": 0}, {"cursor": "x"}, {"x": 1}, {"scope": "bad"}, {"cursor": at(1, None, "a:b")}]
)
def test_a_refusal_asks_the_database_nothing(wire, django_assert_num_queries, more):
    wire.ok("memory/changes", scope=SCOPE)
    with django_assert_num_queries(0):
        assert wire.post("memory/changes", {"scope": SCOPE, **more}).status == 400
