"""The HTTP layer: paths, methods, headers, bodies and their ceiling."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from neosian_site.api.wire.urls import ROUTES
from tests.contract.wire.conversation_rows import message

READ = "/v1/memory/read"
GOOD = b'{"scope":"user:a","path":"x"}'
ABSENT = {"document": None}
CEILING = 64 * 1024 * 1024
JSON_ONLY = "request body must be JSON"
OBJECT_ONLY = "request body must be an object"


def nested(depth: int) -> bytes:
    return b'{"scope":"user:a","path":"x","more":' + b"[" * depth + b"]" * depth + b"}"


def padded(size: int) -> bytes:
    """A good body of exactly ``size`` bytes."""
    return GOOD + b" " * (size - len(GOOD))


def read(wire: Any, body: bytes, headers: dict[str, str] | None = None, **more: Any) -> Any:
    return wire.raw("POST", READ, body, headers, **more)


# --- Paths and methods -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_route_is_a_post_and_nothing_else(wire, route):
    for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"):
        answer = wire.raw(method, f"/v1/{route}", b"{}")
        assert answer.status == 405, method
        assert answer.body == (b"" if method == "HEAD" else b"Method Not Allowed")
        assert answer.headers["allow"] == "POST"
        assert answer.headers["content-type"].partition(";")[0] == "text/plain"


NO_ROUTES = [
    "/",
    "/v1",
    "/v1/",
    "/v1/memory",
    "/v1/memory/",
    "/v1/memory/unknown",
    "/v1/memory/read/x",
    "/v1/memory/read.json",
    "/v1/memory/read\n",
    "/v1/store/restore",
    "/V1/memory/read",
    "/v1/Memory/read",
    "/v1/memory/READ",
    "//v1/memory/read",
    "/v1//memory/read",
    "/v1/memory//read",
    "/v1/../v1/memory/read",
    "/v2/memory/read",
    "/memory/read",
    "/health/",
    "/Health",
    "/v1/health",
    "/v1/capabilities/",
    "/openapi.json",
    "/contracts",
    "/contracts/wire-v6.openapi.json",
    "/favicon.ico",
    "/v1/memory/re\u0000ad",
]


@pytest.mark.parametrize("path", NO_ROUTES, ids=ascii)
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_a_path_that_is_no_route_is_not_found_whatever_the_method(wire, method, path):
    answer = wire.raw(method, path, GOOD)
    assert (answer.status, answer.body) == (404, b"Not Found")
    assert answer.headers["content-type"].partition(";")[0] == "text/plain"


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_trailing_slash_is_another_path(wire, route):
    assert wire.raw("POST", f"/v1/{route}/", b"{}").status == 404


# --- Headers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "nonsense",
        "application/xml",
    ],
)
def test_the_content_type_is_not_read(wire, content_type):
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert read(wire, GOOD, headers).json == ABSENT


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "nonsense", "*/*;q=0"])
def test_what_the_client_accepts_is_not_read(wire, accept):
    answer = read(wire, GOOD, {"Accept": accept, "Content-Encoding": "gzip", "Origin": "http://x", "Host": "evil"})
    assert (answer.status, answer.json) == (200, ABSENT)


def test_an_answer_has_its_type_and_length_and_no_other_header(wire):
    wire.ok("memory/write", scope="user:a", path="x", content='é😀"\u2028')
    answer = read(wire, GOOD)
    assert answer.headers == {"content-type": "application/json", "content-length": str(len(answer.body))}
    # Unescaped, compact, in the contract's order.
    assert answer.body.startswith(
        '{"document":{"scope":"user:a","path":"x","content":"é😀\\"\u2028","version":1,'.encode()
    )
    refusal = read(wire, b"{")
    assert refusal.headers == {"content-type": "application/json", "content-length": str(len(refusal.body))}
    assert refusal.body == b'{"error":{"code":"value_error","message":"request body must be JSON","details":{}}}'


def test_a_query_string_is_not_looked_at(wire):
    from neosian_site.wsgi import application

    def ask(query: str) -> bytes:
        environ = {
            "REQUEST_METHOD": "POST",
            "PATH_INFO": READ,
            "QUERY_STRING": query,
            "SERVER_NAME": "testserver",
            "SERVER_PORT": "80",
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(GOOD),
            "wsgi.errors": io.StringIO(),
            "CONTENT_LENGTH": str(len(GOOD)),
            "HTTP_AUTHORIZATION": "Bearer tok-default",
        }
        return b"".join(application(environ, lambda *_: None))

    assert ask("scope=user:b&path=..&%ff&a=%00") == ask("") == b'{"document":null}'


# --- Bodies ----------------------------------------------------------------------------------------------------------

NOT_JSON = {
    "nothing": b"",
    "blanks": b" \t\r\n",
    "an open brace": b"{",
    "a trailing comma": b'{"scope":"user:a","path":"x",}',
    "a trailing comma in a list": b'{"a":[1,]}',
    "single quotes": b"{'scope':'user:a','path':'x'}",
    "a comment": b'{"scope":"user:a","path":"x"} // x',
    "a comment inside": b'{/* x */"scope":"user:a","path":"x"}',
    "two documents": GOOD + GOOD,
    "trailing text": GOOD + b"x",
    "a raw line feed in a string": b'{"scope":"user:a","path":"x","a":"\n"}',
    "a raw NUL in a string": b'{"scope":"user:a","path":"x","a":"\x00"}',
    "a NUL after the document": GOOD + b"\x00",
    "an unquoted key": b'{scope:"user:a"}',
    "a plus sign": b'{"a":+1}',
    "a leading zero": b'{"a":01}',
    "a bare point": b'{"a":.5}',
    "a hexadecimal number": b'{"a":0x10}',
    "Python's None": b'{"a":None}',
    "NaN": b'{"scope":"user:a","path":"x","a":NaN}',
    "Infinity": b'{"scope":"user:a","path":"x","a":Infinity}',
    "-Infinity": b'{"scope":"user:a","path":"x","a":-Infinity}',
    "a bad escape": b'{"a":"\\x"}',
    "half an escape": b'{"a":"\\u12"}',
    "Latin-1": b'{"scope":"user:a","path":"x","a":"\xe9"}',
    "an overlong form": b'{"scope":"user:a","path":"x","a":"\xc0\xaf"}',
    "an encoded surrogate": b'{"scope":"user:a","path":"x","a":"\xed\xa0\xbd"}',
    "beyond Unicode": b'{"scope":"user:a","path":"x","a":"\xf4\x90\x80\x80"}',
    "a byte-order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 without a mark": GOOD.decode().encode("utf-16-le"),
    "big-endian UTF-16": GOOD.decode().encode("utf-16-be"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "UTF-32 without a mark": GOOD.decode().encode("utf-32-le"),
    "gzip": b"\x1f\x8b\x08\x00" + b"\x00" * 20,
    "a form": b"scope=user%3Aa&path=x",
    "an integer of 5000 digits": b'{"scope":"user:a","path":"x","a":' + b"9" * 5000 + b"}",
    "an integer of 5000 digits where one belongs": b'{"scope":"user:a","path":"x","limit":' + b"9" * 5000 + b"}",
    "deep lists": nested(100_000),
    "deep lists that do not end": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
}


@pytest.mark.parametrize("name", NOT_JSON)
def test_a_body_that_is_not_json_is_refused(wire, name):
    answer = read(wire, NOT_JSON[name])
    assert (answer.status, answer.code, answer.message, answer.details) == (400, "value_error", JSON_ONLY, {})


@pytest.mark.parametrize(
    "body", [b"null", b"[]", b'[{"scope":"user:a"}]', b'"x"', b'""', b"1", b"-0", b"1e999", b"true"]
)
def test_a_body_that_is_no_object_is_refused(wire, body):
    answer = read(wire, body)
    assert (answer.status, answer.code, answer.message, answer.details) == (400, "value_error", OBJECT_ONLY, {})


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_every_route_judges_the_body_first(wire, route):
    assert wire.raw("POST", f"/v1/{route}", b"").message == JSON_ONLY
    assert wire.raw("POST", f"/v1/{route}", b"[]").message == OBJECT_ONLY


FINE = {
    "white space around": b" \r\n\t" + GOOD + b"\n ",
    "white space inside": b'{ "scope" :\n"user:a" ,\t"path" : "x" }',
    "escapes": rb'{"\u0073cope":"user\u003aa","path":"\u0078"}',
    "any order": b'{"path":"x","scope":"user:a"}',
    "raw UTF-8": '{"scope":"user:a","path":"x","ünï":"😀"}'.encode(),
    "4000 digits in an ignored key": b'{"scope":"user:a","path":"x","a":' + b"9" * 4000 + b"}",
    "1e999 in an ignored key": b'{"scope":"user:a","path":"x","a":[1e999,-1e999]}',
    "half a character in an ignored key": rb'{"scope":"user:a","path":"x","a":"\ud83d"}',
    "half a character as an ignored key": rb'{"scope":"user:a","path":"x","\ud83d":1}',
    "a NUL in an ignored key": rb'{"scope":"user:a","path":"x","a":"\u0000","\u0000":1}',
    "an empty key": b'{"scope":"user:a","path":"x","":{"":[]}}',
    "a very long key": b'{"scope":"user:a","path":"x","' + b"k" * 1_000_000 + b'":1}',
    "many keys": json.dumps({**{f"k{n}": n for n in range(20_000)}, "scope": "user:a", "path": "x"}).encode(),
    "nesting of 129": nested(128),
    "nesting of 900": nested(899),
    "many brackets that do not nest": b'{"scope":"user:a","path":"x","a":[' + b"[]," * 5000 + b"[]]}",
    "brackets in text": b'{"scope":"user:a","path":"x","a":"' + b'[{\\"' * 5000 + b'"}',
    "a repeated key keeps its last value": b'{"scope":"user:b c","scope":"user:a","path":1,"path":"x"}',
}


@pytest.mark.parametrize("name", FINE)
def test_a_body_that_is_a_json_object_is_read(wire, name):
    answer = read(wire, FINE[name])
    assert (answer.status, answer.body) == (200, b'{"document":null}')


def test_one_level_more_than_900_is_refused(wire):
    assert read(wire, nested(900)).message == JSON_ONLY


def test_the_last_of_repeated_keys_counts_inside_too(wire):
    body = b'{"conversation_id":"c","messages":[{"role":"x","role":"user","content":1,"content":"last"}]}'
    answer = wire.raw("POST", "/v1/conversation/append_turn", body)
    assert answer.json["turn"]["messages"][0]["content"] == "last"


def test_a_pair_of_escapes_is_one_character_and_half_of_it_is_refused(wire):
    write = "/v1/memory/write"
    pair = wire.raw("POST", write, rb'{"scope":"user:a","path":"x","content":"\ud83d\ude00"}')
    assert pair.json["document"]["content"] == "😀"
    for half in (rb"\ud83d", rb"\ude00", rb"\ude00\ud83d", rb"a\ud83db"):
        answer = wire.raw("POST", write, b'{"scope":"user:a","path":"y","content":"' + half + b'"}')
        assert (answer.status, answer.code) == (400, "value_error")
    assert [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a")["entries"]] == ["x"]


# --- The ceiling -----------------------------------------------------------------------------------------------------


def assert_too_large(answer: Any) -> None:
    assert (answer.status, answer.code, answer.details) == (413, "value_error", {})
    assert answer.message == "request body exceeds 67108864 bytes"
    assert answer.headers == {"content-type": "application/json", "content-length": str(len(answer.body))}


@pytest.mark.parametrize("path", [READ, "/v1/store/scopes", "/v1/capabilities", "/v1/unknown", "/health", "/"])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_declared_length_over_the_ceiling_is_refused_unread_wherever_it_goes(wire, method, path):
    assert_too_large(wire.raw(method, path, b"", {"Content-Length": str(CEILING + 1)}))
    assert_too_large(wire.raw(method, path, b"", {"Content-Length": "9" * 30}))


def test_a_constrained_tokens_mounts_come_before_the_ceiling(wire):
    over = {"Content-Length": str(CEILING + 1)}
    assert wire.as_("tok-alice").raw("POST", "/mcp", b"", over).status == 403
    assert_too_large(wire.as_("tok-alice").raw("POST", "/v1/store/scopes", b"", over))


def test_exactly_the_ceiling_is_read(wire):
    assert read(wire, padded(CEILING)).json == ABSENT


def test_a_chunked_body_is_counted_and_cut_at_the_ceiling(wire):
    body = padded(CEILING + 1)
    assert_too_large(read(wire, body, chunked=True))
    assert read(wire, body[:-1], chunked=True).json == ABSENT


def test_a_chunked_body_is_a_body(wire):
    assert read(wire, GOOD, chunked=True).json == ABSENT
    assert read(wire, b"", chunked=True).message == JSON_ONLY
    assert read(wire, GOOD, {"Transfer-Encoding": "Chunked"}, chunked=True).json == ABSENT


def test_a_body_that_ends_early_is_refused(wire):
    answer = read(wire, GOOD, {"Content-Length": str(len(GOOD) + 1)})
    assert (answer.status, answer.message) == (400, JSON_ONLY)


def test_only_the_declared_length_is_read(wire):
    assert read(wire, GOOD + b"trailing", {"Content-Length": str(len(GOOD))}).json == ABSENT


def test_a_large_turn_comes_back_whole(wire):
    text = "é" * 1_000_000
    wire.ok("conversation/append_turn", conversation_id="c", messages=[message(text)])
    (turn,) = wire.ok("conversation/read_turns", conversation_id="c")["turns"]
    assert turn["messages"][0]["content"] == text
