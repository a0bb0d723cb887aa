"""What clients do to connections: keep them, leave them, fill them slowly, cut them."""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.http import Reader, ask, request
from tests.live.server import Server, running, together, wait_until

CEILING = 64 * 1024 * 1024


@pytest.fixture(autouse=True)
def _nothing_unforeseen(live: Server) -> Iterator[None]:
    yield
    with live.client() as client:
        assert client.raw("GET", "/health").status == 200
    live.assert_no_fault_logged()


@pytest.fixture(scope="module")
def rough(live: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One worker of two threads, for the clients that would fill the shared server's log."""
    log = tmp_path_factory.mktemp("rough") / "server.log"
    with running(live.database_url, log, workers=1, threads=2, env={"NEOSIAN_LOG_LEVEL": "INFO"}) as server:
        yield server


def write(scope: str, path: str, content: str) -> bytes:
    return request("/v1/memory/write", {"scope": scope, "path": path, "content": content})


def established(pid: int, port: int) -> int:
    """How many connections to the port the process holds."""
    inodes = set()
    for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1].endswith(f":{port:04X}") and fields[3] == "01":
            inodes.add(f"socket:[{fields[9]}]")
    held = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            held.add(os.readlink(descriptor))
    return len(inodes & held)


def held_by_workers(server: Server) -> list[int]:
    return [established(pid, server.port) for pid in server.worker_pids()]


def assert_spread(server: Server, count: int) -> None:
    held = held_by_workers(server)
    assert sum(held) == count
    assert all(12 <= one <= 20 for one in held), held


def test_kept_connections_spread_over_the_workers(live: Server) -> None:
    wait_until(lambda: sum(held_by_workers(live)) == 0)
    with contextlib.ExitStack() as stack:
        for _ in range(32):
            connection = stack.enter_context(live.socket())
            assert ask(connection, request("/health", method="GET", token=None)).status == 200
        assert_spread(live, 32)


def test_a_burst_of_connections_spreads_over_the_workers(live: Server) -> None:
    wait_until(lambda: sum(held_by_workers(live)) == 0)
    with contextlib.ExitStack() as stack:
        opened = together(32, lambda n: socket.create_connection(("127.0.0.1", live.port), timeout=30))
        connections = [stack.enter_context(connection) for connection in opened]
        answers = together(32, lambda n: ask(connections[n], request("/health", method="GET", token=None)))
        assert [answer.status for answer in answers] == [200] * 32
        assert_spread(live, 32)


def test_an_idle_connection_outlives_the_published_clients_patience(live: Server, scope: str) -> None:
    with live.socket() as connection:
        assert ask(connection, write(scope, "p", "before")).status == 200
        time.sleep(6)
        assert ask(connection, write(scope, "p", "after")).json["document"]["version"] == 2


def test_a_client_that_leaves_in_the_middle_of_a_body_writes_nothing(rough: Server, scope: str) -> None:
    sent = request("/v1/memory/write", {"scope": scope, "path": "p", "content": "x" * 1000})
    for reset in (False, True) * 3:
        with rough.socket() as connection:
            connection.sendall(sent[:-400])
            if reset:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    with rough.client() as client:
        time.sleep(0.3)
        assert client.ok("memory/read", scope=scope, path="p") == {"document": None}
        assert scope not in client.ok("store/scopes")["scopes"]


def test_a_half_closed_connection_with_a_short_body_is_refused(live: Server, scope: str) -> None:
    with live.socket() as connection:
        connection.sendall(request("/v1/memory/write", b'{"scope":', length=100))
        connection.shutdown(socket.SHUT_WR)
        with Reader(connection) as reader:
            assert reader.read().status == 400


def test_a_client_that_leaves_before_its_answer_has_written(live: Server, scope: str) -> None:
    for number in range(20):
        with live.socket() as connection:
            connection.sendall(write(scope, f"p{number}", "kept"))
            if number % 2:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                time.sleep(0.05)  # A reset that overtakes the request would take it back.
    with live.client() as client:
        wait_until(lambda: len(client.ok("memory/list_documents", scope=scope)["entries"]) == 20)


def test_a_client_that_leaves_in_the_middle_of_a_large_answer_does_no_harm(live: Server, scope: str) -> None:
    with live.client() as client:
        client.ok("memory/write", scope=scope, path="large", content="x" * 8_000_000)
        for _ in range(6):
            with live.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.sendall(request("/v1/memory/read", {"scope": scope, "path": "large"}))
                assert connection.recv(1000).startswith(b"HTTP/1.1 200 OK")
        read = client.ok("memory/read", scope=scope, path="large")["document"]
        assert len(read["content"]) == 8_000_000


@pytest.mark.parametrize("cut", ["request line", "headers", "body"])
def test_clients_that_send_half_a_request_hold_nothing_else_up(live: Server, scope: str, cut: str) -> None:
    whole = write(scope, "p", "late")
    at = {"request line": 10, "headers": whole.index(b"Authorization"), "body": len(whole) - 5}[cut]
    # Many more than the server has threads.
    with live.clients(4) as clients, contextlib.ExitStack() as stack:
        halves = [stack.enter_context(live.socket()) for _ in range(24)]
        for half in halves:
            half.sendall(whole[:at])
        time.sleep(0.1)
        started = time.monotonic()
        assert clients[0].raw("GET", "/health").status == 200
        together(4, lambda n: [clients[n].ok("memory/write", scope=scope, path=f"o{n}", content="x") for _ in range(9)])
        assert time.monotonic() - started < 5
        # Late is not wrong, whether it comes at once or byte by byte.
        halves[0].sendall(whole[at:])
        for byte in whole[at:]:
            halves[1].sendall(bytes([byte]))
        for half in halves[:2]:
            with Reader(half) as reader:
                answer = reader.read()
            assert (answer.status, answer.json["document"]["content"]) == (200, "late")


def test_a_request_that_does_not_come_to_its_end_is_given_up(live: Server, scope: str) -> None:
    with live.socket() as half:
        half.settimeout(15)
        half.sendall(write(scope, "p", "never")[:40])
        started = time.monotonic()
        # Closed with unread bytes, which some kernels tell as a reset.
        with contextlib.suppress(ConnectionResetError):
            assert half.recv(1) == b""
        assert 9 < time.monotonic() - started < 13


def test_connections_that_send_nothing_hold_no_thread(live: Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(live.socket())
        with live.client() as client:
            started = time.monotonic()
            for _ in range(20):
                assert client.raw("GET", "/v1/capabilities").status == 200
            assert time.monotonic() - started < 3


def test_pipelined_requests_are_answered_in_order(live: Server, scope: str) -> None:
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(b"".join(write(scope, "p", f"number {n}") for n in range(1, 21)))
        answers = [reader.read() for _ in range(20)]
        assert [(a.status, a.json["document"]["version"], a.json["document"]["content"]) for a in answers] == [
            (200, n, f"number {n}") for n in range(1, 21)
        ]
        # And the connection is as good as new.
        assert ask(connection, write(scope, "p", "one more")).json["document"]["version"] == 21


def test_pipelined_refusals_keep_their_places(live: Server, scope: str) -> None:
    sent = [
        write(scope, "p", "a"),
        request("/v1/memory/write", b"no json"),
        request("/v1/nothing", b"{}"),
        request("/v1/memory/read", b"{}", token="wrong"),
        request("/v1/memory/read", method="GET"),
        write(scope, "p", "b"),
    ]
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(b"".join(sent))
        assert [reader.read().status for _ in sent] == [200, 400, 404, 401, 405, 200]


def test_pipelined_requests_cut_at_any_place_are_put_together(live: Server, scope: str) -> None:
    sent = b"".join(write(scope, "p", f"number {n}") for n in range(1, 6))
    with live.socket() as connection, Reader(connection) as reader:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(sent), 97):
            connection.sendall(sent[start : start + 97])
            time.sleep(0.01)
        assert [reader.read().json["document"]["version"] for _ in range(5)] == [1, 2, 3, 4, 5]


def test_other_requests_are_served_while_an_upload_is_slow(live: Server, scope: str) -> None:
    sent = write(scope, "slow", "x" * 4_000_000)
    finished: list[int] = []

    def upload() -> None:
        with live.socket() as connection:
            started = time.monotonic()
            for part in range(40):
                connection.sendall(sent[part * 100_000 : (part + 1) * 100_000])
                time.sleep(max(0.0, started + part * 0.1 - time.monotonic()))
            connection.sendall(sent[4_000_000:])
            with Reader(connection) as reader:
                finished.append(reader.read().status)

    uploads = [threading.Thread(target=upload) for _ in range(2)]
    for thread in uploads:
        thread.start()
    slowest = 0.0
    with live.client() as client:
        while any(thread.is_alive() for thread in uploads):
            started = time.monotonic()
            client.ok("memory/write", scope=scope, path="quick", content="x")
            slowest = max(slowest, time.monotonic() - started)
            time.sleep(0.02)
    for thread in uploads:
        thread.join(30)
    assert finished == [200, 200]
    assert slowest < 1.5


def test_http_1_0_is_answered_and_closed(live: Server, scope: str) -> None:
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(request("/v1/memory/write", {"scope": scope, "path": "p", "content": "old"}, version="1.0"))
        answer = reader.read()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert answer.json["document"]["version"] == 1
        assert reader.at_end()


def test_http_1_0_may_keep_its_connection(live: Server) -> None:
    asked = request("/v1/capabilities", method="GET", version="1.0", headers=("Connection: keep-alive",))
    with live.socket() as connection:
        for _ in range(2):
            answer = ask(connection, asked)
            assert (answer.status, answer.headers["connection"]) == (200, "keep-alive")


def test_a_client_may_ask_for_the_connection_to_be_closed(live: Server) -> None:
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(request("/v1/capabilities", method="GET", headers=("Connection: close",)))
        answer = reader.read()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert reader.at_end()


def chunks(body: bytes, size: int) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 100_000])
def test_a_chunked_body_is_read_whole(live: Server, scope: str, size: int) -> None:
    body = b'{"scope":"%s","path":"p","content":"%s"}' % (scope.encode(), b"chunk" * (200 if size < 10 else 60_000))
    asked = request("/v1/memory/write", method="POST", headers=("Transfer-Encoding: chunked",))
    with live.socket() as connection:
        for version in (1, 2):
            answer = ask(connection, asked + chunks(body, size))
            assert (answer.status, answer.json["document"]["version"]) == (200, version)


BROKEN_CHUNKS = {
    # All of the JSON is there, the end of the body is not.
    "no end": lambda body: chunks(body, 10)[: -len("0\r\n\r\n")],
    "a size that is no number": lambda body: b"zz\r\n" + body + b"\r\n0\r\n\r\n",
    "a size that is too small": lambda body: b"3\r\n" + body + b"\r\n0\r\n\r\n",
    "a negative size": lambda body: b"-3\r\n" + body + b"\r\n0\r\n\r\n",
    "cut in the middle": lambda body: chunks(body, 10)[:25],
}


def broken(server: Server, scope: str, name: str) -> int:
    """The status a broken chunked body is answered with."""
    body = b'{"scope":"%s","path":"p","content":"x"}' % scope.encode()
    asked = request("/v1/memory/write", headers=("Transfer-Encoding: chunked",))
    with server.socket() as connection, Reader(connection) as reader:
        connection.sendall(asked + BROKEN_CHUNKS[name](body))
        connection.shutdown(socket.SHUT_WR)
        status = reader.read().status
        # Nobody knows where a next request would begin.
        assert reader.at_end()
        return status


@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_a_broken_chunked_body_writes_nothing(rough: Server, scope: str, name: str) -> None:
    assert broken(rough, scope, name) != 200
    with rough.client() as client:
        assert client.ok("memory/read", scope=scope, path="p") == {"document": None}


@pytest.mark.parametrize("name", BROKEN_CHUNKS)
def test_a_broken_chunked_body_is_the_clients_fault(rough: Server, scope: str, name: str) -> None:
    assert broken(rough, scope, name) == 400


def test_clients_that_leave_are_no_fault_of_the_server(rough: Server, scope: str) -> None:
    before = len(rough.text())
    sent = request("/v1/memory/write", {"scope": scope, "path": "p", "content": "x" * 1000})
    for _ in range(4):
        with rough.socket() as connection:
            connection.sendall(sent[:-400])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            time.sleep(0.05)
    with rough.client() as client:
        client.ok("store/scopes")
    assert "request failed" not in rough.text()[before:]


def too_large(answer: Any) -> bool:
    return answer.status == 413 and answer.json == {
        "error": {"code": "value_error", "message": f"request body exceeds {CEILING} bytes", "details": {}}
    }


def test_a_chunked_body_over_the_ceiling_is_cut_off(live: Server) -> None:
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(request("/v1/memory/write", headers=("Transfer-Encoding: chunked",)))
        # One piece more than the ceiling, and no end of the body: the answer does not wait for it.
        for _ in range(65):
            connection.sendall(piece)
        assert too_large(reader.read())


@pytest.mark.parametrize("path", ["/v1/memory/write", "/v1/nothing", "/health"])
def test_a_declared_length_over_the_ceiling_is_refused_unread(live: Server, path: str) -> None:
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(request(path, length=CEILING + 1))
        assert too_large(reader.read())


def test_a_stranger_over_the_ceiling_is_still_a_stranger(live: Server) -> None:
    for sent in (
        request("/v1/memory/write", length=CEILING + 1, token=None),
        request("/v1/memory/write", token="wrong", headers=("Transfer-Encoding: chunked",)) + b"5\r\n",
    ):
        with live.socket() as connection, Reader(connection) as reader:
            connection.sendall(sent)
            answer = reader.read()
            assert (answer.status, answer.body) == (401, b"unauthorized")
            assert answer.headers["www-authenticate"] == "Bearer"


def test_head_has_the_headers_of_get_and_no_body(live: Server) -> None:
    for path in ("/health", "/v1/capabilities"):
        with live.socket() as connection:
            got = ask(connection, request(path, method="GET"))
            head = ask(connection, request(path, method="HEAD"), head_only=True)
            assert (head.status, head.body) == (200, b"")
            assert {**head.headers, "date": ""} == {**got.headers, "date": ""}
            # Nothing of a body is left on the connection.
            assert ask(connection, request(path, method="GET")).json == got.json


def test_a_client_that_expects_100_continue_is_asked_to_go_on(live: Server, scope: str) -> None:
    body = b'{"scope":"%s","path":"p","content":"asked first"}' % scope.encode()
    with live.socket() as connection, Reader(connection) as reader:
        connection.sendall(request("/v1/memory/write", length=len(body), headers=("Expect: 100-continue",)))
        assert reader.read().status == 100
        connection.sendall(body)
        assert reader.read().json["document"]["content"] == "asked first"


def test_a_malformed_request_is_refused_and_its_connection_closed(live: Server) -> None:
    for sent in (b"nonsense\r\n\r\n", b"GET /health HTTP/1.1\r\nno colon\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"):
        with live.socket() as connection:
            connection.sendall(sent)
            connection.settimeout(5)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    received += part
            assert received.startswith(b"HTTP/1.1 400 ")
            assert b"Traceback" not in received


def test_ambiguous_lengths_are_refused(live: Server, scope: str) -> None:
    """What a proxy in front could read in another way must not be read at all."""
    smuggled = write(scope, "smuggled", "x")
    for headers in (
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: chunked, identity",),
        ("Content-Length: +5",),
    ):
        head = "\r\n".join(["POST /v1/memory/read HTTP/1.1", "Host: a", "Authorization: Bearer tok-default", *headers])
        with live.socket() as connection:
            connection.sendall(head.encode() + b"\r\n\r\n0\r\n\r\n" + smuggled)
            connection.settimeout(5)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while part := connection.recv(65536):
                    received += part
            assert received.count(b"HTTP/1.1 ") == 1
            assert received.split(b" ")[1] in {b"400", b"501"}, received
    with live.client() as client:
        assert client.ok("memory/read", scope=scope, path="smuggled") == {"document": None}
