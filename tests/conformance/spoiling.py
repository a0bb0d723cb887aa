"""A way to the server that breaks one promise of it at a time."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from neosian_site.conformance import runner
from neosian_site.conformance.runner import Result
from neosian_site.conformance.target import connect

JSON = {"content-type": "application/json"}


@dataclass
class Reply:
    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=lambda: dict(JSON))

    @property
    def good(self) -> bool:
        return self.status == 200


@dataclass
class Call:
    """A request on its way: ``forward`` asks the server, with another body if one is given."""

    route: str
    body: dict[str, Any]
    request: httpx.Request
    transport: httpx.BaseTransport

    def forward(self, **changes: Any) -> Reply:
        request = self.request
        if changes:
            content = json.dumps({**self.body, **changes}).encode()
            headers = {k: v for k, v in request.headers.items() if k not in ("content-length", "transfer-encoding")}
            request = httpx.Request(request.method, request.url, headers=headers, content=content)
        response = self.transport.handle_request(request)
        content = response.read()
        response.close()
        kept = {k: response.headers[k] for k in ("content-type", "www-authenticate", "allow") if k in response.headers}
        try:
            return Reply(response.status_code, json.loads(content), kept)
        except ValueError:
            return Reply(response.status_code, content, kept)


Spoil = Callable[[Call], Reply]


class Spoiled(httpx.BaseTransport):
    def __init__(self, spoil: Spoil) -> None:
        self.spoil = spoil
        self.inner = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        content = request.read()
        try:
            body = json.loads(content)
        except ValueError:
            body = None
        route = request.url.path.removeprefix("/v1/")
        known = body if isinstance(body, dict) else {}
        reply = self.spoil(Call(route, known, request, self.inner))
        raw = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        return httpx.Response(reply.status, headers=reply.headers, content=raw)

    def close(self) -> None:
        self.inner.close()


def results(url: str, *names: str, spoil: Spoil | None = None, profile: str = "full", **more: Any) -> dict[str, Result]:
    """What comes of these cases (all, where none is named), seen through ``spoil``."""
    transport = None if spoil is None else Spoiled(spoil)
    target = connect(url, more.pop("token", "tok-default"), transport=transport, **more)
    try:
        report = runner.run(target, runner.select(profile, names), base_url=url, profile=profile)
    finally:
        target.close()
    return {result.name: result for result in report.results}


# Ways to spoil -------------------------------------------------------------------------------------------------------


def answers(*routes: str, change: Callable[[Call, Any], Any]) -> Spoil:
    """Every 200 of these routes holds something else."""

    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if reply.good and call.route in routes:
            reply.body = change(call, reply.body)
        return reply

    return spoil


def everywhere(change: Callable[[dict[str, Any]], Any], *routes: str) -> Spoil:
    """Every object in the answers of these routes is changed in place."""

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            change(value)
        for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            walk(item)
        return value

    return answers(*routes, change=lambda call, body: walk(body))


def sent(route: str, **changes: Any) -> Spoil:
    """The server is asked something else than the client asked."""
    return lambda call: call.forward(**changes) if call.route == route else call.forward()


def instead(route: str, when: Callable[[Call, Reply], bool], reply: Callable[[Call], Reply]) -> Spoil:
    """Where ``when`` holds, another answer than the server's."""

    def spoil(call: Call) -> Reply:
        found = call.forward()
        return reply(call) if call.route == route and when(call, found) else found

    return spoil
