from __future__ import annotations


def test_an_absent_document_reads_as_null(wire):
    assert wire.ok("memory/read", scope="user:a", path="x") == {"document": None}


def test_a_written_document_reads_back_whole(wire):
    written = wire.ok("memory/write", scope="user:a", path="notes/x", content="hé\r\n")
    assert wire.ok("memory/read", scope="user:a", path="notes/x") == written
    assert written["document"]["actor"] == "client:default"
    assert written["document"]["content"] == "hé\r\n"
