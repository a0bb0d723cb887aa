"""The WSGI application.

The API's routes are found in a dictionary and run without Django's request machinery (signals, middleware, resolver),
which cost more than a short statement; everything else is Django's own handler. Both see the same views.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "neosian_site.settings")

from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpResponse

# Django must be set up before its views are imported.
fallback = get_wsgi_application()

from neosian_site.api.http import BODY_BYTES
from neosian_site.urls import API_ROUTES

# Messages up to this size leave a connection's buffers as they are.
LARGE_BYTES = 8 * 1024 * 1024

_STATUS_LINES = {status.value: f"{status.value} {status.phrase}" for status in HTTPStatus}


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    view = API_ROUTES.get(environ["PATH_INFO"])
    if view is None:
        return fallback(environ, start_response)
    database: Any = connections[DEFAULT_DB_ALIAS]
    database.forget_if_dead()
    response: HttpResponse = view(WSGIRequest(environ))
    if database.errors_occurred:
        database.close_if_unusable_or_obsolete()
    elif max(len(response.content), environ.get(BODY_BYTES, 0)) > LARGE_BYTES:
        database.give_back_buffers()
    start_response(_STATUS_LINES[response.status_code], list(response.items()))
    return () if environ["REQUEST_METHOD"] == "HEAD" else (response.content,)
