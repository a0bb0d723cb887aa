"""What Django's own pages need around them, for the admin's paths alone.

Every other path passes untouched: the contracts' answers gain no header, no cookie and no statement. With the admin
switched off nothing of this is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import MiddlewareNotUsed
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError, connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.security import SecurityMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware

from neosian_site.core import logs

PREFIX = "/admin/"
# A form of 500 grants is some 100 KB.
MAX_FORM_BYTES = 4 * 1024 * 1024
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_log = logs.logger(__name__)


def is_ours(request: HttpRequest) -> bool:
    return request.path_info.startswith(PREFIX)


class _Ours:
    """A middleware of Django's that acts on the admin's paths alone."""

    def __init__(self, get_response: GetResponse) -> None:
        if not settings.NEOSIAN_ADMIN:
            raise MiddlewareNotUsed
        self._pass_on = get_response
        super().__init__(get_response)  # type: ignore[call-arg] # a mixin: Django's class comes next

    def __call__(self, request: HttpRequest) -> Any:
        if not is_ours(request):
            return self._pass_on(request)
        return super().__call__(request)  # type: ignore[misc] # the same


class Static(WhiteNoiseMiddleware):  # type: ignore[misc] # it has no types
    """The style sheets and scripts of the admin, straight from the packages."""

    def __init__(self, get_response: GetResponse) -> None:
        if not settings.NEOSIAN_ADMIN:
            raise MiddlewareNotUsed
        super().__init__(get_response)

    def immutable_file_test(self, path: str, url: str) -> bool:
        return True  # The versions stand in the address.


class Door:
    """Bounds what comes in, says what a browser may do with what goes out, and notes what failed."""

    def __init__(self, get_response: GetResponse) -> None:
        if not settings.NEOSIAN_ADMIN:
            raise MiddlewareNotUsed
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not is_ours(request):
            return self.get_response(request)
        # Django reads a form whole; its own bound is off because the contracts have theirs.
        declared = request.META.get("CONTENT_LENGTH") or "0"
        if not declared.isdecimal() or int(declared) > MAX_FORM_BYTES:
            return HttpResponse("The form is too large.", content_type="text/plain", status=413)
        database: Any = connections[DEFAULT_DB_ALIAS]
        database.forget_if_dead()
        response = self.get_response(request)
        response["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not is_ours(request):
            return None
        # Not the error's text: it may quote a row.
        _log.error("admin request failed", error=type(error).__name__, where=_where(error))
        if isinstance(error, OperationalError | InterfaceError):
            answer = HttpResponse("The database is away; try again.", content_type="text/plain", status=503)
            answer["Retry-After"] = "1"
            return answer
        return None


def _where(error: BaseException) -> list[str]:
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append(f"{code.co_filename.rpartition('/')[2]}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return frames[-12:]


class Security(_Ours, SecurityMiddleware):
    """No guessing of types, no referrer beyond this host, no window of another origin."""


class Sessions(_Ours, SessionMiddleware):
    """Who is logged in, kept in the database, so that every process knows."""


class Csrf(_Ours, CsrfViewMiddleware):
    """A form must come from a page of ours."""

    def process_view(self, request: HttpRequest, *args: Any) -> Any:
        return super().process_view(request, *args) if is_ours(request) else None


class Authentication(_Ours, AuthenticationMiddleware):
    """Whose session it is."""


class Messages(_Ours, MessageMiddleware):
    """One-time notices."""


class Framing(_Ours, XFrameOptionsMiddleware):
    """No page of ours inside another's."""
