from __future__ import annotations

import pytest

from neosian_site.serving.arrival import AWAITED_BYTES, awaited

HEAD = b"POST /v1/memory/read HTTP/1.1\r\nHost: x\r\n"


def request(length: int, body: bytes, *more: bytes, name: bytes = b"Content-Length") -> bytes:
    return HEAD + b"".join(line + b"\r\n" for line in (name + b": %d" % length, *more)) + b"\r\n" + body


@pytest.mark.parametrize("cut", range(1, len(request(2, b"{}"))))
def test_every_cut_of_a_small_request_waits_for_more(cut):
    whole = request(2, b"{}")
    head_end = whole.index(b"\r\n\r\n") + 4
    assert awaited(whole[:cut]) == (cut + 1 if cut < head_end else len(whole))


@pytest.mark.parametrize(
    "seen",
    [
        request(2, b"{}"),
        request(2, b"{}GET / HTTP/1.1\r\n"),
        b"GET /health HTTP/1.1\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n",
        request(AWAITED_BYTES, b""),
        request(10**9, b""),
        request(2, b"", b"Expect: 100-continue"),
        HEAD + b"Content-Length: odd\r\n\r\n",
        b"x" * AWAITED_BYTES,
    ],
    ids=["whole", "two", "no body", "chunked", "large", "huge", "expects", "malformed", "endless head"],
)
def test_a_thread_starts_on_what_it_can_finish_or_must_refuse(seen):
    assert awaited(seen) == 0


def test_header_names_have_no_case():
    assert awaited(request(5, b"", name=b"content-LENGTH")) == len(request(5, b"")) + 5


def test_a_length_in_the_body_is_no_header():
    assert awaited(b"GET / HTTP/1.1\r\n\r\n\r\nContent-Length: 900\r\n") == 0
