"""A stored document of a format this server does not know: every route that meets it says so and leaves it alone."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from psycopg.pq import TransactionStatus

from tests.contract.wire.memory_ground import filled, unchanged


def make_unknown(path, found=999):
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memory_document SET format = %s WHERE path = %s", [found, path])
        assert cursor.rowcount == 1


@contextmanager
def standing_alone():
    """A request in a transaction of its own: a statement the database refused is undone, anything else stays."""
    point = transaction.savepoint()
    yield
    if connection.connection.info.transaction_status is TransactionStatus.INERROR:
        transaction.savepoint_rollback(point)
    else:
        transaction.savepoint_commit(point)


def refused_alone(wire, route, **body):
    with unchanged(), standing_alone():
        refused = wire.post(route, body)
    assert (refused.status, refused.code) == (400, "memory_format_unsupported"), refused.body
    assert list(refused.details) == ["scope", "path", "reason"]
    return refused


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memory/read", {"path": "x"}),
        ("memory/list_documents", {}),
        ("memory/list_documents", {"prefix": "x"}),
        ("memory/delete", {"path": "x"}),
        ("memory/rename", {"src": "x", "dst": "free"}),
        ("memory/rename", {"src": "x", "dst": "gone"}),
        ("memory/write", {"path": "x", "content": "new"}),
        ("memory/write", {"path": "x", "content": "new", "expected_version": 2}),
    ],
)
@pytest.mark.parametrize("found", [999, 0, 2])
def test_a_document_of_an_unknown_format_is_refused_and_left_alone(wire, route, body, found):
    filled(wire)
    make_unknown("x", found)
    refused = refused_alone(wire, route, scope="user:a", **body)
    assert (refused.details["scope"], refused.details["path"]) == ("user:a", "x")
    assert refused.message == f"Unsupported memory format for 'x' in scope 'user:a': {refused.details['reason']}"


def test_another_guard_is_refused_too_and_nothing_is_written(wire):
    filled(wire)
    make_unknown("x")
    refused_alone(wire, "memory/write", scope="user:a", path="x", content="new", expected_version=1)


def test_a_buried_path_of_an_unknown_format_takes_no_document(wire):
    filled(wire)
    make_unknown("gone")
    refused_alone(wire, "memory/write", scope="user:a", path="gone", content="new")
    refused_alone(wire, "memory/rename", scope="user:a", src="x", dst="gone")


def test_an_occupied_destination_of_an_unknown_format_is_not_overwritten(wire):
    filled(wire)
    make_unknown("blank")
    with unchanged():
        refused = wire.post("memory/rename", scope="user:a", src="x", dst="blank")
    assert (refused.status, refused.code) in [(400, "memory_conflict"), (400, "memory_format_unsupported")]


def test_other_documents_of_the_scope_are_as_good_as_before(wire):
    filled(wire)
    make_unknown("x")
    assert wire.ok("memory/read", scope="user:a", path="blank")["document"]["version"] == 1
    assert [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a", prefix="b")["entries"]] == [
        "blank"
    ]
    assert wire.ok("memory/write", scope="user:a", path="blank", content="c")["document"]["version"] == 2
    assert wire.ok("memory/write", scope="user:b", path="x", content="c")["document"]["version"] == 1


def test_the_document_is_readable_again_once_its_format_is_known(wire):
    filled(wire)
    before = wire.ok("memory/read", scope="user:a", path="x")
    make_unknown("x")
    refused_alone(wire, "memory/write", scope="user:a", path="x", content="new")
    make_unknown("x", 1)
    assert wire.ok("memory/read", scope="user:a", path="x") == before
    assert wire.ok("memory/write", scope="user:a", path="x", content="new")["document"]["version"] == 3
