"""The handshake, and the answer for everything that is no route."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from neosian_site import __version__
from neosian_site.api.http import json_answer
from neosian_site.api.wire.view import GatedView
from neosian_site.core import jsonio

WIRE_VERSION = 6


class Capabilities(GatedView):
    http_method_names = ["get", "head"]

    def get(self, request: Request) -> HttpResponse:
        return json_answer(
            jsonio.text(
                {
                    "wire_version": WIRE_VERSION,
                    "neosian_version": __version__,
                    "backend": "PostgresStore",
                    "supports_optimistic_concurrency": True,
                    "pageable": True,
                    "erasable": True,
                    "client": request.user.client,
                }
            )
        )


class NoRoute(GatedView):
    """Every other path and method: 401 to strangers, 404 to the rest."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise NotFound
