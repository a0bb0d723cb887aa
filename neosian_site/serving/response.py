"""gunicorn's response, written with as few sends as it can be."""

from __future__ import annotations

import time
from typing import Any

from gunicorn import util
from gunicorn.http.wsgi import Response

# Up to this size head and body go out together: one system call, one packet for most answers. Above it the copy that
# joins them would cost more than the second send.
JOINED_BYTES = 64 * 1024

_date: tuple[int, str] = (0, "")


def http_date() -> str:
    """The ``Date`` header's value, spelled once a second."""
    global _date  # noqa: PLW0603 - a benign race: two threads may spell the same second
    second, text = _date
    now = int(time.time())
    if second != now:
        text = util.http_date(now)
        _date = (now, text)
    return text


class JoinedResponse(Response):
    """Holds the head back until the first piece of the body, and sends both at once."""

    head: bytes = b""

    def send_headers(self) -> None:
        if self.headers_sent:
            return
        version = self.req.version
        lines = [
            f"HTTP/{version[0]}.{version[1]} {self.status}",
            f"Server: {self.version}",
            f"Date: {http_date()}",
            f"Connection: {self._connection()}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
        self.head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self.headers_sent = True

    def _connection(self) -> str:
        if self.upgrade:
            return "upgrade"
        return "close" if self.should_close() else "keep-alive"

    def _emit_body(self, data: bytes) -> None:
        if self.head and not self.chunked and len(data) <= JOINED_BYTES:
            data, self.head = self.head + data, b""
        self._flush()
        super()._emit_body(data)

    def _flush(self) -> None:
        head, self.head = self.head, b""
        if head:
            util.write(self.sock, head)

    def sendfile(self, respiter: Any) -> bool:
        return False  # No answer of ours is a file.

    def close(self) -> None:
        self.send_headers()
        self._flush()
        super().close()
