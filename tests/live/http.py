"""HTTP spoken byte by byte, for what no client library would send."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from typing import Any

from tests.live.server import TOKEN


def request(
    path: str,
    body: bytes | dict[str, Any] = b"",
    *,
    method: str = "POST",
    token: str | None = TOKEN,
    version: str = "1.1",
    length: int | None = None,
    headers: tuple[str, ...] = (),
) -> bytes:
    """A whole request; ``length`` declares another one than the body's."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/{version}", "Host: 127.0.0.1"]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    if not any(header.lower().startswith("transfer-encoding") for header in headers):
        lines.append(f"Content-Length: {len(content) if length is None else length}")
    return ("\r\n".join([*lines, *headers]) + "\r\n\r\n").encode() + content


@dataclass(frozen=True)
class Response:
    version: str
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reader:
    """Answers off a socket, one after the other."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rb")

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, *, head_only: bool = False) -> Response:
        line = self._file.readline().decode("latin-1")
        assert line, "the server closed without an answer"
        version, status, _ = line.split(" ", 2)
        headers: dict[str, str] = {}
        while header := self._file.readline().decode("latin-1").strip():
            name, _, value = header.partition(":")
            assert name.lower() not in headers, f"{name} comes twice"
            headers[name.lower()] = value.strip()
        length = 0 if head_only or int(status) == 100 else int(headers["content-length"])
        body = self._file.read(length)
        assert len(body) == length, "the answer was cut"
        return Response(version, int(status), headers, body)

    def at_end(self) -> bool:
        """Whether the server closed the connection, and sent nothing more."""
        try:
            return self._file.read(1) == b""
        except ConnectionResetError:
            return True


def ask(connection: socket.socket, sent: bytes, *, head_only: bool = False) -> Response:
    connection.sendall(sent)
    with Reader(connection) as reader:
        return reader.read(head_only=head_only)
