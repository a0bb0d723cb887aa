"""The 64 MiB ceiling is asked about with a declared length and not one byte of body."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from neosian_site.conformance import http
from neosian_site.conformance.cases.handshake import MAX_BODY_BYTES, body_ceiling
from neosian_site.conformance.checks import Failed, Skipped
from neosian_site.conformance.http import Wire
from neosian_site.conformance.session import Session
from neosian_site.conformance.target import Target

REFUSED = b'{"error":{"code":"value_error","message":"too large","details":{}}}'


def _answer(status: str, body: bytes = b"") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@contextmanager
def serving(stranger: bytes, known: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that answers strangers so and known callers so (``b""``: it waits); and what it was sent."""
    heads: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += connection.recv(65536)
                heads.append(head)
                if reply := known if b"Authorization" in head else stranger:
                    connection.sendall(reply)
                connection.recv(1)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", heads
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _ask(url: str) -> None:
    wire = Wire(f"{url}/prefix", "tok")
    try:
        body_ceiling(Session(Target(wire)))
    finally:
        wire.close()


def test_a_server_that_refuses_by_the_length_passes() -> None:
    with serving(_answer("401 Unauthorized"), _answer("413 Content Too Large", REFUSED)) as (url, heads):
        _ask(url)

    assert len(heads) == 2
    for head, token in zip(heads, (False, True), strict=True):
        assert head.startswith(b"POST /prefix/v1/memory/read HTTP/1.1\r\n")
        assert f"Content-Length: {MAX_BODY_BYTES + 1}\r\n".encode() in head
        assert (b"Authorization: Bearer tok\r\n" in head) == token
        assert head.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    ("stranger", "known", "reason"),
    [
        (_answer("413 Content Too Large", REFUSED), b"", "without a token: expected 401, got 413"),
        (_answer("401 Unauthorized"), _answer("400 Bad Request", REFUSED), "expected 413 value_error, got 400"),
        (_answer("401 Unauthorized"), _answer("413 Content Too Large", b"<html>"), "the body is not JSON: <html>"),
    ],
)
def test_another_answer_is_caught(stranger: bytes, known: bytes, reason: str) -> None:
    with serving(stranger, known) as (url, _), pytest.raises(Failed, match=reason):
        _ask(url)


def test_a_server_that_waits_for_the_body_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "DECLARED_SECONDS", 0.1)

    with serving(_answer("401 Unauthorized"), b"") as (url, _), pytest.raises(Skipped, match="only once the body"):
        _ask(url)
