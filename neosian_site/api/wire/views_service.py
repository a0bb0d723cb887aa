"""The handshake, and the answer for everything that is no route."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from neosian_site import __version__
from neosian_site.api.http import json_answer
from neosian_site.api.wire.errors import NoSuchRoute
from neosian_site.api.wire.view import GatedView
from neosian_site.core import jsonio

WIRE_VERSION = 6


class Capabilities(GatedView):
    def handle(self, request: HttpRequest) -> HttpResponse:
        answer: dict[str, Any] = {
            "wire_version": WIRE_VERSION,
            "neosian_version": __version__,
            "backend": "PostgresStore",
            "supports_optimistic_concurrency": True,
            "pageable": True,
            "erasable": True,
            "client": self.caller.client,
            "memory_search": {"version": 1},
            "knowledge_policy": {"version": 1},
            "change_feed": {"version": 1},
        }
        # What is enforced, never what the token may do.
        if self.caller.grants is not None:
            answer["authorization"] = {"version": 1, "mode": "scoped"}
        return json_answer(jsonio.text(answer))


class NoRoute(GatedView):
    """Every other path and method: 401 to strangers, 404 to the rest."""

    # A mistaken path may hold anything, so it is not logged.
    operation = "no route"

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        # Whatever the method: there is no route to refuse it.
        self.http_method_names = [(request.method or "").lower()]
        return super().dispatch(request, *args, **kwargs)

    def handle(self, request: HttpRequest) -> HttpResponse:
        raise NoSuchRoute
