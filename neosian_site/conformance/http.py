"""Requests as a stranger's client sends them; whatever the server does becomes an answer or a reason."""

from __future__ import annotations

import http.client
import json
import ssl
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from neosian_site.conformance.checks import Failed, NoAnswer, Skipped, show

REQUEST_SECONDS = 30.0
CASE_SECONDS = 90.0
# Some servers answer a declared length only once the body came; that is not waited for.
DECLARED_SECONDS = 5.0
MAX_ANSWER_BYTES = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    asked: str
    status: int
    headers: httpx.Headers
    body: bytes

    def json(self) -> Any:
        """The body's JSON value.

        :raises Failed: it is not one UTF-8 JSON document declared as such
        """
        kind = self.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Failed(f"{self.asked}: content type {kind or '(none)'} instead of application/json")
        try:
            return json.loads(self.body.decode(), parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise Failed(f"{self.asked}: the body is not JSON: {show(self.text)}") from error

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def __str__(self) -> str:
        return f"{self.asked}: {self.status} {show(self.text)}"


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


class Wire:
    """One token's connections to one server; threads may share it."""

    def __init__(self, base_url: str, token: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self.token = token
        self.deadline = time.monotonic() + CASE_SECONDS
        self._http = httpx.Client(timeout=REQUEST_SECONDS, transport=transport, follow_redirects=False)

    def close(self) -> None:
        self._http.close()

    def start_clock(self, seconds: float = CASE_SECONDS) -> None:
        """From now on requests may take so long together."""
        self.deadline = time.monotonic() + seconds

    def send(
        self,
        method: str,
        path: str,
        content: bytes = b"",
        *,
        authorization: str | None = "",
        content_type: str | None = "application/json",
    ) -> Answer:
        """One request, with this wire's token unless ``authorization`` says otherwise (``None``: no header).

        :raises NoAnswer: nothing came back within the case's time
        """
        asked = f"{method} {path.removeprefix('/v1/')}"
        headers: list[tuple[bytes, bytes]] = []
        if authorization is not None:
            headers.append((b"Authorization", (authorization or f"Bearer {self.token}").encode()))
        if method == "POST" and content_type is not None:
            headers.append((b"Content-Type", content_type.encode()))
        if time.monotonic() > self.deadline:
            raise NoAnswer(f"{asked}: the case ran out of time")
        try:
            with self._http.stream(method, self.base_url + path, content=content, headers=headers) as response:
                body = bytearray()
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > self.deadline or len(body) > MAX_ANSWER_BYTES:
                        raise NoAnswer(f"{asked}: the answer does not end")
        except httpx.HTTPError as error:
            raise NoAnswer(f"{asked}: no answer ({type(error).__name__})") from error
        return Answer(asked, response.status_code, response.headers, bytes(body))

    def post(self, route: str, body: Any) -> Answer:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        return self.send("POST", f"/v1/{route}", content)

    def declare(self, path: str, length: int, *, token: bool) -> Answer:
        """The answer to a request whose body is declared and never sent.

        :raises Skipped: the server waits for the body, or is not reached without a proxy
        """
        parts = urlsplit(self.base_url)
        host, port = parts.hostname or "", parts.port
        connection = (
            http.client.HTTPSConnection(host, port, timeout=DECLARED_SECONDS, context=ssl.create_default_context())
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=DECLARED_SECONDS)
        )
        try:
            connection.putrequest("POST", parts.path + path)
            connection.putheader("Content-Length", str(length))
            if token:
                connection.putheader("Authorization", f"Bearer {self.token}".encode())
            connection.endheaders()
            found = connection.getresponse()
            return Answer(f"POST {path}", found.status, httpx.Headers(list(found.getheaders())), found.read())
        except TimeoutError as error:
            raise Skipped("the server answers only once the body was sent, which is not tried") from error
        except (OSError, http.client.HTTPException) as error:
            raise Skipped(f"no direct connection ({type(error).__name__})") from error
        finally:
            connection.close()
