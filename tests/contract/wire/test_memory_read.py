from __future__ import annotations

import pytest

from tests.contract.wire.memory_ground import filled, unchanged


def test_an_absent_document_reads_as_null(wire):
    assert wire.ok("memory/read", scope="user:a", path="x") == {"document": None}


def test_a_written_document_reads_back_whole(wire):
    written = wire.ok("memory/write", scope="user:a", path="notes/x", content="hé\r\n")
    assert wire.ok("memory/read", scope="user:a", path="notes/x") == written
    assert written["document"]["actor"] == "client:default"
    assert written["document"]["content"] == "hé\r\n"


def test_the_answer_is_compact_json_with_its_keys_in_the_contracts_order(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="é “x”\u2028")
    answer = wire.post("memory/read", scope="user:a", path="x")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert list(answer.json["document"]) == [
        "scope",
        "path",
        "content",
        "version",
        "created_at",
        "updated_at",
        "actor",
        "redacted",
        "extra",
    ]
    assert answer.body.startswith(
        '{"document":{"scope":"user:a","path":"x","content":"é “x”\u2028","version":1,'.encode()
    )
    assert answer.body.endswith(b'"actor":"client:default","redacted":false,"extra":{}}}')


def test_a_deleted_document_reads_as_null(wire):
    filled(wire)
    assert wire.ok("memory/read", scope="user:a", path="gone") == {"document": None}


def test_a_redacted_document_reads_with_empty_content(wire):
    filled(wire)
    document = wire.ok("memory/read", scope="user:a", path="blank")["document"]
    assert (document["content"], document["redacted"], document["version"]) == ("", True, 1)


def test_a_document_is_found_under_its_own_scope_only(wire):
    wire.ok("memory/write", scope="user:a/p:b", path="x", content="child")
    assert wire.ok("memory/read", scope="user:a", path="x") == {"document": None}
    assert wire.ok("memory/read", scope="user:b", path="x") == {"document": None}
    assert wire.ok("memory/read", scope="user:a/p:b", path="x")["document"]["content"] == "child"


@pytest.mark.parametrize("path", ["x.md", "X", "x/x", "xx"])
def test_a_path_is_its_exact_characters(wire, path):
    wire.ok("memory/write", scope="user:a", path="x", content="one")
    assert wire.ok("memory/read", scope="user:a", path=path) == {"document": None}


def test_reading_changes_nothing_and_ignores_an_actor(wire):
    filled(wire)
    with unchanged():
        for path in ("x", "gone", "blank", "never"):
            wire.ok("memory/read", scope="user:a", path=path, actor="me")
        wire.ok("memory/read", scope="user:unknown", path="x")
