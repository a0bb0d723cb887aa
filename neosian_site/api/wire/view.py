"""What every wire view shares: the gate, the ceiling, the strict reading, the one refusal table."""

from __future__ import annotations

import time
from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from rest_framework.exceptions import NotAuthenticated
from rest_framework.request import Request
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
    """Judged in the contract's order: token, allowance at /mcp, declared length, then method."""

    authentication_classes = [auth.BearerToken]
    http_method_names = ["get", "head", "post"]

    # Content negotiation, versions, permissions and throttles of the framework would answer before the contract.
    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        caller = request.user
        if caller is None:
            raise NotAuthenticated
        context = logs.current.get()
        if context is not None:
            context.project = caller.project_id
        if request.path_info == "/mcp":
            access.mounted_memory(caller)
        refuse_declared_excess(request._request)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        token = logs.current.set(logs.RequestContext(operation=request.path_info))
        started = time.perf_counter()
        try:
            response = super().dispatch(request, *args, **kwargs)
            _record(response.status_code, time.perf_counter() - started)
        finally:
            logs.current.reset(token)
        return response

    def finalize_response(self, request: Request, response: HttpResponse, *args: Any, **kwargs: Any) -> HttpResponse:
        return response

    def handle_exception(self, exc: Exception) -> HttpResponse:
        response = errors.answer(exc)
        if response.status_code == 405:
            response["Allow"] = ", ".join(self.allowed_methods)
        return response


class WireView(GatedView):
    """One route: parse, call, render."""

    http_method_names = ["post"]
    request_model: ClassVar[type[Strict]]
    # What a constrained token's authority is judged by.
    reach: ClassVar[auth.Reach]

    def post(self, request: Request) -> HttpResponse:
        caller: Caller = request.user
        body = _read_object(request._request)
        auth.admit(caller, body, self.reach)
        return json_answer(self.answer(caller, decode(self.request_model, body)))

    def answer(self, caller: Caller, asked: Any) -> str:
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


def _record(status: int, seconds: float) -> None:
    if status >= 500 or seconds >= SLOW_SECONDS:
        _log.warning("request", status=status, seconds=round(seconds, 4))
    elif settings.NEOSIAN_REQUEST_LOG == "all":
        _log.info("request", status=status, seconds=round(seconds, 4))
