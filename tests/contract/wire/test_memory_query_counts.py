"""How many statements a memory route costs. The token's own look-up is paid once and left out."""

from __future__ import annotations

import pytest

from tests.contract.wire.memory_ground import archive, document_row, redaction_row, version_row


@pytest.fixture
def sized(wire):
    """Two scopes, one a hundred times the other; the token is known by then."""
    for scope, size in (("user:small", 4), ("user:large", 400)):
        wire.ok(
            "store/restore_scope",
            archive(
                [document_row(f"p{number}", scope=scope) for number in range(size)],
                [version_row(f"p{number % 4}", number // 4 + 1) for number in range(size)],
                [redaction_row(f"p{number}") for number in range(size)],
                scope=scope,
            ),
        )
    return wire


@pytest.mark.parametrize("scope", ["user:small", "user:large"])
@pytest.mark.parametrize(
    ("route", "more"),
    [
        ("memory/read", {"path": "p1"}),
        ("memory/read", {"path": "none"}),
        ("memory/write", {"path": "p1", "content": "c"}),
        ("memory/write", {"path": "new", "content": "c"}),
        ("memory/list_documents", {}),
        ("memory/list_documents", {"prefix": "p", "limit": 3}),
        ("memory/versions", {"path": "p1"}),
        ("memory/history", {}),
        ("memory/history", {"since": "2026-01-01T00:00:00Z", "limit": 3}),
        ("memory/redactions", {}),
    ],
)
def test_one_statement_whatever_the_size(sized, django_assert_num_queries, scope, route, more):
    with django_assert_num_queries(1):
        sized.ok(route, {"scope": scope} | more)


@pytest.mark.parametrize("route", ["memory/list_documents", "memory/versions", "memory/history", "memory/redactions"])
def test_a_further_page_costs_one_statement_too(sized, django_assert_num_queries, route):
    body = {"scope": "user:large", "path": "p1", "limit": 2}
    cursor = sized.ok(route, body)["next_cursor"]
    with django_assert_num_queries(1):
        sized.ok(route, body, cursor=cursor)


@pytest.mark.parametrize(
    ("route", "more"),
    [
        ("memory/write", {"path": "p1", "content": "c", "expected_version": 1}),
        ("memory/delete", {"path": "p1"}),
        ("memory/rename", {"src": "p1", "dst": "free"}),
        ("memory/redact", {}),
        ("memory/redact", {"path": "p1"}),
    ],
)
def test_a_change_costs_the_same_in_a_small_and_in_a_large_scope(sized, django_assert_max_num_queries, route, more):
    counts = []
    for scope in ("user:small", "user:large"):
        with django_assert_max_num_queries(12) as captured:
            sized.ok(route, {"scope": scope} | more)
        counts.append(len(captured))
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memory/list_documents", {"scope": "user:large", "limit": 0}),
        ("memory/list_documents", {"scope": "user:large", "prefix": "é"}),
        ("memory/read", {"scope": "bad", "path": "x"}),
        ("memory/read", {"scope": "user:large", "path": ".."}),
        ("memory/write", {"scope": "user:large", "path": "x", "content": "\x00"}),
        ("memory/history", {"scope": "user:large", "limit": -1}),
    ],
)
def test_what_needs_no_row_asks_the_database_nothing(sized, django_assert_num_queries, route, body):
    with django_assert_num_queries(0):
        sized.post(route, body)


def test_a_refused_token_asks_nothing_about_the_store(wire, django_assert_num_queries):
    alice = wire.as_("tok-alice")
    alice.ok("memory/read", scope="user:alice", path="x")
    with django_assert_num_queries(0):
        assert alice.post("memory/read", scope="user:bob", path="x").status == 403
