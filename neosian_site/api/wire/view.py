"""What every wire view shares: the gate, the ceiling, the strict reading, the one refusal table."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.views import APIView

from authz import access
from authz.caller import Caller
from neosian_site.api.http import json_answer, read_body, refuse_declared_excess
from neosian_site.api.wire import auth, errors
from neosian_site.core import jsonio, logs
from neosian_site.core.errors import InvalidValue
from neosian_site.core.validation import Strict, decode

SLOW_SECONDS = 1.0

_log = logs.logger(__name__)


class GatedView(APIView):
    """Judged in the contract's order: token, allowance at /mcp, declared length, then path and method.

    The framework gives the view its place and its description; its negotiation, versions, permissions and throttles
    would answer before the contract and are never entered.
    """

    http_method_names = ["get", "head"]
    # What the log calls it; "" for the route's own path.
    operation = ""
    caller: Caller

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        context = logs.RequestContext(operation=self.operation or request.path_info)
        token = logs.current.set(context)
        started = time.perf_counter()
        try:
            self.caller = auth.authenticate(request)
            context.project = self.caller.project_id
            if request.path_info == "/mcp":
                access.mounted_memory(self.caller)
            refuse_declared_excess(request)
            method = (request.method or "").lower()
            if method not in self.http_method_names:
                raise errors.MethodRefused(self.http_method_names)
            response = self.handle(request)
        except Exception as error:  # noqa: BLE001 - the one place where anything becomes an answer
            response = errors.answer(error)
        finally:
            _record(time.perf_counter() - started)
            logs.current.reset(token)
        return response

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answer a request that passed the gate."""
        raise NotImplementedError


class WireView(GatedView):
    """One route: parse, call, render."""

    http_method_names = ["post"]
    request_model: ClassVar[type[Strict]]
    # What a caller's authority is judged by.
    need: ClassVar[auth.Need]

    def handle(self, request: HttpRequest) -> HttpResponse:
        body = _read_object(request)
        auth.admit(self.caller, body, self.need)
        asked = decode(self.request_model, body)
        del body  # What was asked is another form of it, and it may be 64 MiB.
        return json_answer(self.answer(self.caller, asked))

    def answer(self, caller: Caller, asked: Any) -> bytes:
        """The answer's JSON."""
        raise NotImplementedError


def _read_object(request: HttpRequest) -> dict[str, Any]:
    try:
        body = jsonio.read(read_body(request))
    except jsonio.NotJson as error:
        raise InvalidValue("request body must be JSON") from error
    if not isinstance(body, dict):
        raise InvalidValue("request body must be an object")
    return body


def _record(seconds: float) -> None:
    """One line for a request that was slow, or for each where the operator asks for it; failures log themselves."""
    if seconds >= SLOW_SECONDS:
        _log.warning("slow request", seconds=round(seconds, 4))
    elif settings.NEOSIAN_REQUEST_LOG == "all":
        _log.info("request", seconds=round(seconds, 4))
