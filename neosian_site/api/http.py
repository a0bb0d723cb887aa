"""HTTP mechanics the contracts share: reading a capped body, plain and JSON answers, liveness."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.views import View

from neosian_site.core.errors import TooLarge
from neosian_site.core.jsonio import NotJson

MAX_BODY_BYTES = 64 * 1024 * 1024
_CHUNK_BYTES = 1024 * 1024
# Where a request notes how much of its body was asked for.
BODY_BYTES = "neosian.body_bytes"


class Answer(HttpResponse):
    """A whole answer with its length, and no header that was not asked for."""

    def __init__(self, content: bytes | str, content_type: str | None, status: int = 200) -> None:
        body = content.encode() if isinstance(content, str) else content
        # Django insists on a default type: it is given one and, where the contract has none, it is taken away.
        super().__init__(body, content_type=content_type or "text/plain", status=status)
        if content_type is None:
            del self["Content-Type"]
        self["Content-Length"] = str(len(body))


def json_answer(content: bytes | str, status: int = 200) -> HttpResponse:
    """``content``, which is JSON already."""
    return Answer(content, "application/json", status)


def plain_answer(text: str, status: int) -> HttpResponse:
    return Answer(text, "text/plain; charset=utf-8", status)


def declared_length(request: HttpRequest) -> int | None:
    """The body's declared length; ``None`` for a chunked one, or none."""
    declared = request.META.get("CONTENT_LENGTH", "")
    return int(declared) if declared.isascii() and declared.isdigit() else None


def refuse_declared_excess(request: HttpRequest, ceiling: int = MAX_BODY_BYTES) -> None:
    """:raises TooLarge: the body's declared length is over the ceiling; nothing of it was read"""
    length = declared_length(request)
    if length is not None and length > ceiling:
        raise TooLarge(f"request body exceeds {ceiling} bytes")


def read_body(request: HttpRequest, ceiling: int = MAX_BODY_BYTES) -> bytes:
    """The whole body. Django's own reading knows no chunked bodies and no ceiling of the contract's.

    :raises TooLarge: over the ceiling, declared or counted
    :raises NotJson: the client went away before the end, or broke the framing
    """
    refuse_declared_excess(request, ceiling)
    length = declared_length(request)
    if length is not None:
        body = _read(request, length)
        if len(body) < length:
            raise NotJson("the request body ended early")
        return body
    if "chunked" not in request.META.get("HTTP_TRANSFER_ENCODING", "").lower():
        return b""
    pieces: list[bytes] = []
    counted = 0
    # At most one byte beyond the ceiling: a client that sent it and then waits gets its answer.
    while piece := _read(request, min(_CHUNK_BYTES, ceiling + 1 - counted)):
        counted += len(piece)
        if counted > ceiling:
            raise TooLarge(f"request body exceeds {ceiling} bytes")
        pieces.append(piece)
    return b"".join(pieces)


def _read(request: HttpRequest, size: int) -> bytes:
    # For the server, which gives large buffers back.
    request.META[BODY_BYTES] = request.META.get(BODY_BYTES, 0) + size
    try:
        piece: bytes = request.META["wsgi.input"].read(size)
    except Exception as error:  # what a server's stream raises for a client that left or broke its framing is its own
        raise NotJson("the request body cannot be read") from error
    return piece


class Health(View):
    """Liveness only: asks nothing of the database, and nobody for a token."""

    http_method_names = ["get", "head"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            refuse_declared_excess(request)
        except TooLarge as error:
            return json_answer(
                '{"error":{"code":"value_error","message":"%s","details":{}}}' % error,  # noqa: UP031 - braces
                status=413,
            )
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        return json_answer('{"status":"ok"}')

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        answer = plain_answer("Method Not Allowed", 405)
        answer["Allow"] = "GET, HEAD"
        return answer
