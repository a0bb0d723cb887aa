"""Clients the tests speak HTTP with: one in process over WSGI, one over a real connection."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from tests.contracts import recorder


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        return self.json["error"]["code"]

    @property
    def message(self) -> str:
        return self.json["error"]["message"]

    @property
    def details(self) -> dict[str, Any]:
        return self.json["error"]["details"]


class _Calls:
    """What both clients say alike, over their own way of sending."""

    raw: Callable[..., Answer]

    def post(self, route: str, body: dict[str, Any] | None = None, **more: Any) -> Answer:
        """``POST /v1/<route>``; keyword arguments are body members too."""
        return self.raw("POST", f"/v1/{route}", json.dumps({**(body or {}), **more}).encode())

    def ok(self, route: str, body: dict[str, Any] | None = None, **more: Any) -> Any:
        """The JSON of an answer that must be 200."""
        answer = self.post(route, body, **more)
        assert answer.status == 200, (route, answer.status, answer.body[:500])
        return answer.json


class WireClient(_Calls):
    """Whole requests through the same WSGI application the server runs; every answer is held to the contract."""

    def __init__(self, token: str | None) -> None:
        self.token = token

    def as_(self, token: str | None) -> WireClient:
        return WireClient(token)

    def raw(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: dict[str, str] | None = None,
        *,
        chunked: bool = False,
    ) -> Answer:
        from neosian_site.wsgi import application

        environ: dict[str, Any] = {
            "REQUEST_METHOD": method,
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(body),
            "wsgi.errors": io.StringIO(),
        }
        if chunked:
            environ["HTTP_TRANSFER_ENCODING"] = "chunked"
        else:
            environ["CONTENT_LENGTH"] = str(len(body))
        if self.token is not None:
            environ["HTTP_AUTHORIZATION"] = f"Bearer {self.token}"
        for name, value in (headers or {}).items():
            key = name.upper().replace("-", "_")
            environ[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"] = value
        started: dict[str, Any] = {}

        def start_response(status: str, found: list[tuple[str, str]], exc_info: Any = None) -> None:
            started["status"] = int(status.split(maxsplit=1)[0])
            started["headers"] = {name.lower(): value for name, value in found}

        pieces = b"".join(application(environ, start_response))
        answer = Answer(started["status"], started["headers"], pieces)
        recorder.hold(method, path, answer)
        return answer


class LiveClient(_Calls):
    """The same calls over HTTP to a running server; safe to share between threads."""

    def __init__(self, base_url: str, token: str | None) -> None:
        self.token = token
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self.http = httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False)

    def as_(self, token: str | None) -> LiveClient:
        return LiveClient(str(self.http.base_url), token)

    def raw(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> Answer:
        found = self.http.request(method, path, content=body, headers=headers)
        return Answer(found.status_code, {k.lower(): v for k, v in found.headers.items()}, found.content)
