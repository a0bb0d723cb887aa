"""Bodies, parameters and refusals of every route."""

from __future__ import annotations

from neosian_site.conformance.checks import check, same, show
from neosian_site.conformance.registry import case
from neosian_site.conformance.routes import ROUTES, WRONG, Route
from neosian_site.conformance.session import Body, Session, accepted, refusal

UNKNOWN: Body = {"x_unknown": {"a": [1]}, "limit_": -1, "version": "9"}


@case("envelope.bodies_that_are_no_object")
def bodies_that_are_no_object(session: Session) -> None:
    for body in (b"", b"{", b'{"scope": "user:a",}', b"\xff\xfe", b"{} {}", b"[]", b'"x"', b"null", b"1", b"true"):
        answer = session.wire.send("POST", "/v1/memory/read", body)
        refusal(answer, "value_error", why=f"body {body!r}")


@case("envelope.content_type_is_not_read")
def content_type_is_not_read(session: Session) -> None:
    body = b'{"scope": "%s", "path": "a"}' % session.scope().encode()
    for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/xml; charset=utf-16"):
        answer = session.wire.send("POST", "/v1/memory/read", body, content_type=kind)
        same(accepted("memory/read", answer), {"document": None}, f"content type {kind}")


@case("envelope.text_is_utf8")
def text_is_utf8(session: Session) -> None:
    scope = session.scope()
    body = b'{"scope": "%s", "path": "a", "content": "\\u00e9\\ud83d\\ude00 \xc3\xa9"}' % scope.encode()
    accepted("memory/write", session.wire.send("POST", "/v1/memory/write", body))
    same(session.read(scope, "a")["content"], "é😀 é", "escaped and raw text")


def _parameters(route: Route) -> None:
    @case(f"parameters.{route.name.replace('/', '.')}", *route.needs)
    def parameters(session: Session) -> None:
        valid = route.valid(session)
        if "conversations" in route.optional and session.target.scoped:
            valid["conversations"] = []
        for name in route.required:
            without: Body = {key: value for key, value in valid.items() if key != name}
            session.refused(route.name, "value_error", why=f"no {name}", **without)
            session.refused(route.name, "value_error", why=f"{name} is null", **without | {name: None})
        for name, kind in route.kinds.items():
            if name == "conversations" and session.target.scoped:
                continue  # Anything but an array is nobody's to ask for.
            for wrong in WRONG[kind]:
                body = valid | {name: wrong}
                session.refused(route.name, "value_error", naming=name, why=f"{name} is {show(wrong)}", **body)
        nothing = {name: None for name in route.optional if name not in valid}
        if route.reads:
            # Null first: the answers can only be the same if it changes nothing, either.
            bare = session.ok(route.name, **valid, **nothing)
            same(session.ok(route.name, **valid), bare, f"{route.name} with its optional parameters null and absent")
            same(session.ok(route.name, **valid, **UNKNOWN), bare, f"{route.name} with unknown keys")
        else:
            session.ok(route.name, **valid, **nothing)
            again = route.valid(session)
            session.ok(route.name, **again, **{k: v for k, v in UNKNOWN.items() if k not in again})


for _route in ROUTES:
    _parameters(_route)


@case("envelope.five_hundred_is_the_bound")
def five_hundred_is_the_bound(session: Session) -> None:
    word = session.conversation()
    narrowed: Body = {"conversations": [word]}
    session.ok("conversation/search_turns", query=word, limit=500, **narrowed)
    session.refused("conversation/search_turns", "value_error", query=word, limit=501, **narrowed)
    if session.target.lacks("erasable") is None:
        session.ok("conversation/turn_redactions", limit=500, **narrowed)
        session.refused("conversation/turn_redactions", "value_error", limit=501, **narrowed)


@case("envelope.limits")
def limits(session: Session) -> None:
    scope, conversation = session.scope(), session.conversation()
    session.write(scope, "a", "one")
    session.say(conversation, "one")
    listings: tuple[tuple[str, str, Body], ...] = (
        ("memory/list_documents", "entries", {"scope": scope}),
        ("memory/versions", "versions", {"scope": scope, "path": "a"}),
        ("memory/history", "versions", {"scope": scope}),
        ("memory/redactions", "redactions", {"scope": scope}),
    )
    for route, key, body in listings:
        same(session.ok(route, limit=0, **body), {key: [], "next_cursor": None}, f"{route} with limit 0")
        session.refused(route, "value_error", limit=-1, why="limit -1", **body)
    for route, key in (("conversation/read_turns", "turns"), ("conversation/read_projections", "entries")):
        found = session.ok(route, conversation_id=conversation, limit=0)
        same(found, {key: [], "next_after": None}, f"{route} with limit 0")
        session.refused(route, "value_error", conversation_id=conversation, limit=-1, why="limit -1")
        session.refused(route, "value_error", conversation_id=conversation, after=-1, why="after -1")


@case("envelope.a_large_body")
def a_large_body(session: Session) -> None:
    # Frameworks stop reading at a few MB; the contract's ceiling is 64 MiB.
    scope, content = session.scope(), "0123456789abcdef" * (3 * 65536)
    session.write(scope, "a", content)
    check(session.read(scope, "a")["content"] == content, "3 MiB of content did not come back as it was")
