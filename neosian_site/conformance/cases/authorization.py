"""A token's allowance: two literal prefixes, judged on what a request names (seeds/wire "Auth").

Asked with a second token that is constrained; nothing here is held against a server of which none is known.
"""

from __future__ import annotations

from neosian_site.conformance.checks import Skipped, check, same
from neosian_site.conformance.registry import case
from neosian_site.conformance.routes import OPTIONAL_ROUTES
from neosian_site.conformance.session import Body, Client, Session, fresh, only

MESSAGES = [{"role": "user", "content": "x"}]
STORE_BODIES: dict[str, Body] = {
    "store/scopes": {},
    "store/conversations": {},
    "store/restore_scope": {"documents": [], "versions": [], "redactions": []},
    "store/restore_conversation": {"turns": [], "projections": []},
}


def fenced(session: Session) -> Client:
    """The constrained token's requests, where allowances alone decide.

    :raises Skipped: exact-scope grants decide as well
    """
    if session.target.scoped:
        raise Skipped("exact-scope grants are on; the grants cases ask about them")
    return constrained(session)


def constrained(session: Session) -> Client:
    assert session.target.fenced is not None, "the case needs a constrained token"
    return Client(session.target.fenced)


def scope_bodies(session: Session, scope: str) -> dict[str, Body]:
    """A request of each memory route the server has, for one scope."""
    bodies: dict[str, Body] = {
        "memory/read": {"path": "a"},
        "memory/write": {"path": "a", "content": "x"},
        "memory/delete": {"path": "a"},
        "memory/rename": {"src": "a", "dst": "b"},
        "memory/list_documents": {},
        "memory/versions": {"path": "a"},
        "memory/redact": {"path": "a"},
        "memory/history": {},
        "memory/redactions": {},
        "memory/search": {"query": "x"},
        "memory/changes": {},
        "memory/prune_changes": {"through": "x"},
    }
    lacking = {route for route, need in OPTIONAL_ROUTES.items() if session.target.lacks(need) is not None}
    return {route: {"scope": scope, **body} for route, body in bodies.items() if route not in lacking}


def conversation_bodies(session: Session, conversation: str) -> dict[str, Body]:
    """A request of each conversation route the server has, for one conversation."""
    named = {"conversation_id": conversation}
    bodies: dict[str, Body] = {
        "conversation/append_turn": {**named, "messages": MESSAGES},
        "conversation/read_turns": named,
        "conversation/last_turn_number": named,
        "conversation/append_projections": {**named, "entries": [{"turn": 1, "kind": "log", "text": "x"}]},
        "conversation/read_projections": named,
        "conversation/search_turns": {"query": "x", "conversations": [conversation]},
    }
    if session.target.lacks("erasable") is None:
        bodies["conversation/redact_turns"] = named
        bodies["conversation/turn_redactions"] = {"conversations": [conversation]}
    return bodies


def lists(session: Session) -> dict[str, Body]:
    """The two routes that take a list of conversations."""
    trail: dict[str, Body] = (
        {} if session.target.lacks("erasable") is not None else {"conversation/turn_redactions": {}}
    )
    return {"conversation/search_turns": {"query": "x"}, **trail}


def _scope_inside(session: Session, client: Client) -> str:
    """A fresh scope that begins with the prefix."""
    start = session.target.scope_prefix
    if start is None:
        raise Skipped("no --scope-prefix was given")
    last = start.rpartition("/")[2]
    glue = "" if ":" in last else ":" if last else "user:"
    return session.keep_scope(f"{start}{glue}{fresh()}", client)


def _scope_outside(session: Session) -> str:
    start = session.target.scope_prefix
    if start is None:
        raise Skipped("no --scope-prefix was given")
    for kind in ("user", "team", "other"):
        if not (name := f"{kind}:{fresh()}").startswith(start):
            return session.keep_scope(name)
    raise Skipped("the scope prefix covers every scope")


def id_inside(session: Session, client: Client) -> str:
    if session.target.id_prefix is None:
        raise Skipped("no --id-prefix was given")
    return session.keep_conversation(f"{session.target.id_prefix}{fresh()}"[:128], client)


def id_outside(session: Session) -> str:
    start = session.target.id_prefix
    for first in ("conf", "other", "z"):
        if start is None or not f"{first}{fresh()}".startswith(start):
            return session.keep_conversation(f"{first}{fresh()}")
    raise Skipped("the id prefix covers every conversation")


@case("authorization.handshake", "constrained")
def handshake(session: Session) -> None:
    answer = constrained(session).wire.send("GET", "/v1/capabilities")
    check(answer.status == 200, f"{answer}")
    found = answer.json()
    ours = {key: value for key, value in (session.target.handshake or {}).items() if key != "client"}
    same({key: value for key, value in found.items() if key != "client"}, ours, "the constrained token's handshake")
    check(isinstance(found.get("client"), str) and found["client"] != "", "handshake.client")


@case("authorization.whole_store", "constrained")
def whole_store(session: Session) -> None:
    client = fenced(session)
    for route, body in STORE_BODIES.items():
        for named in ({}, {"scope": f"{session.target.scope_prefix or 'user:'}x", "conversation_id": "x"}):
            client.refused(route, "forbidden", status=403, **body | named)
    answer = client.wire.send("POST", "/mcp", b"{}")
    check(answer.status == 403, f"POST /mcp: expected 403, got {answer.status}")


@case("authorization.scope_inside", "constrained")
def scope_inside(session: Session) -> None:
    client = fenced(session)
    scope = _scope_inside(session, client)
    actor = client.wire.send("GET", "/v1/capabilities").json()["client"]
    made = client.ok("memory/write", scope=scope, path="a", content="x", actor=session.client_actor)["document"]
    same(made["actor"], f"{actor}/{session.client_actor}", "the actor of a constrained token's write")
    bodies = scope_bodies(session, scope)
    bodies.pop("memory/prune_changes", None)
    for route, body in bodies.items():
        if route != "memory/delete":
            client.ok(route, **body)
    same(client.ok("memory/delete", scope=scope, path="b"), {"deleted": True}, "a delete inside the allowance")


@case("authorization.scope_outside", "constrained")
def scope_outside(session: Session) -> None:
    client, scope = fenced(session), _scope_outside(session)
    session.write(scope, "a", "kept")
    before = session.history(scope)
    for route, body in scope_bodies(session, scope).items():
        client.refused(route, "forbidden", status=403, why="a scope outside", **body)
    client.refused(
        "memory/write", "forbidden", status=403, scope=scope, path="a", content="x", actor=session.client_actor
    )
    same(session.history(scope), before, "history after refused requests")


@case("authorization.conversation_inside", "constrained")
def conversation_inside(session: Session) -> None:
    client = fenced(session)
    conversation = id_inside(session, client)
    client.ok("conversation/append_turn", conversation_id=conversation, messages=MESSAGES)
    for route, body in conversation_bodies(session, conversation).items():
        client.ok(route, **body)


@case("authorization.conversation_outside", "constrained")
def conversation_outside(session: Session) -> None:
    client, conversation = fenced(session), id_outside(session)
    said = session.say(conversation, "kept")
    for route, body in conversation_bodies(session, conversation).items():
        client.refused(route, "forbidden", status=403, why="a conversation outside", **body)
    same(only(session.turns(conversation), "turns"), said, "the turn after refused requests")
    same(session.projections(conversation), [], "projections after refused requests")


@case("authorization.lists", "constrained")
def lists_of_conversations(session: Session) -> None:
    client, outside = fenced(session), id_outside(session)
    allowed = {"scope": f"{session.target.scope_prefix or ''}", "conversation_id": session.target.id_prefix or ""}
    ignored = {key: value for key, value in allowed.items() if value}
    for route, body in lists(session).items():
        for unbounded in ({}, {"conversations": None}, ignored, {"conversations": None, **ignored}):
            client.refused(route, "forbidden", status=403, why=f"{unbounded}", **body, **unbounded)
        client.refused(route, "forbidden", status=403, **body, conversations=[outside])
        key = "turns" if route.endswith("search_turns") else "redactions"
        same(client.ok(route, **body, conversations=[]), {key: []}, f"{route} of no conversation")
        if session.target.id_prefix is not None:
            inside = id_inside(session, client)
            client.ok(route, **body, conversations=[inside])
            for mixed in ([inside, outside], [outside, inside]):
                client.refused(route, "forbidden", status=403, why="one id outside", **body, conversations=mixed)


@case("authorization.cursors", "constrained", "pageable")
def cursors(session: Session) -> None:
    client, scope = fenced(session), _scope_outside(session)
    for path in ("a", "b"):
        session.write(scope, path, "word")
    listed = session.ok("memory/list_documents", scope=scope, limit=1)["next_cursor"]
    asked: dict[str, Body] = {"memory/list_documents": {"cursor": listed}}
    if session.target.lacks("memory_search") is None:
        more = session.ok("memory/search", scope=scope, query="word", limit=1)["next_cursor"]
        asked["memory/search"] = {"query": "word", "limit": 1, "cursor": more}
    for route, body in asked.items():
        client.refused(route, "forbidden", status=403, why="another's cursor", scope=scope, **body)
