"""Exact-scope grants, where the handshake says they are enforced (seeds/wire "Exact-scope grants").

Granted names are names in use: they are only read, and asked for with what would match nothing.
"""

from __future__ import annotations

from neosian_site.conformance.cases.authorization import (
    MESSAGES,
    STORE_BODIES,
    constrained,
    conversation_bodies,
    lists,
    scope_bodies,
)
from neosian_site.conformance.checks import Skipped, check, same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Body, Client, Session, fresh


def _clients(session: Session) -> list[Client]:
    return [session, *([] if session.target.fenced is None else [constrained(session)])]


@case("grants.no_global_read", "scoped")
def no_global_read(session: Session) -> None:
    for client in _clients(session):
        for route, body in lists(session).items():
            for unbounded in ({}, {"conversations": None}, {"conversation_id": "x", "scope": "user:x"}):
                client.refused(route, "forbidden", status=403, why="no list, for operators too", **body, **unbounded)


@case("grants.empty_list", "scoped")
def empty_list(session: Session) -> None:
    # A token without any grant is refused everything; it says nothing about an empty list.
    key = {"conversation/search_turns": "turns", "conversation/turn_redactions": "redactions"}
    for route, body in lists(session).items():
        if session.ask(route, **body, conversations=[]).status == 403:
            raise Skipped("the token holds no grants")
        same(session.ok(route, **body, conversations=[]), {key[route]: []}, f"{route} of no conversation")


@case("grants.mcp", "scoped")
def mcp(session: Session) -> None:
    for client in _clients(session):
        answer = client.wire.send("POST", "/mcp", b"{}")
        check(answer.status == 403, f"POST /mcp: expected 403, got {answer.status}")


@case("grants.names_nobody_granted", "scoped")
def names_nobody_granted(session: Session) -> None:
    scope, conversation = f"user:{fresh()}", fresh()
    for client in _clients(session):
        for route, body in scope_bodies(session, scope).items():
            client.refused(route, "forbidden", status=403, why="an ungranted scope", **body)
        if client is session and session.target.reaches_conversations:
            continue
        for route, body in conversation_bodies(session, conversation).items():
            client.refused(route, "forbidden", status=403, why="an ungranted conversation", **body)


@case("grants.actor_widens_nothing", "scoped")
def actor_widens_nothing(session: Session) -> None:
    scope = f"user:{fresh()}"
    for client in _clients(session):
        for actor in (session.client_actor, "client:default", "admin"):
            client.refused("memory/write", "forbidden", status=403, scope=scope, path="a", content="x", actor=actor)


def _granted(session: Session, client: Client) -> str:
    """A scope the token may read.

    :raises Skipped: none is known
    """
    scope = session.target.scope_prefix
    if scope is None:
        raise Skipped("no --scope-prefix was given; with grants on it is a granted scope")
    if client.ask("memory/read", scope=scope, path=fresh()).status != 200:
        raise Skipped("the constrained token may not read the scope given as --scope-prefix")
    return scope


@case("grants.scopes_match_exactly", "scoped", "constrained")
def scopes_match_exactly(session: Session) -> None:
    client = constrained(session)
    scope = _granted(session, client)
    same(client.ok("memory/read", scope=scope, path=fresh()), {"document": None}, "a read of the granted scope")
    for name in (f"{scope}{fresh()}", f"{scope}/conf:{fresh()}"):
        for route, body in scope_bodies(session, name).items():
            client.refused(route, "forbidden", status=403, why="beyond the granted scope", **body)


@case("grants.operators_only", "scoped", "constrained")
def operators_only(session: Session) -> None:
    client = constrained(session)
    if client.ask("store/scopes").status == 200:
        raise Skipped("the constrained token is an operator's")
    for route, body in STORE_BODIES.items():
        target = {"scope": f"user:{fresh()}", "conversation_id": fresh()}
        client.refused(route, "forbidden", status=403, why="no operator", **body | target)
    if session.target.scope_prefix is not None:
        scope = session.target.scope_prefix
        client.refused("memory/redact", "forbidden", status=403, why="no operator", scope=scope, path=fresh())
        if session.target.lacks("change_feed") is None:
            asked: Body = {"scope": scope, "through": "x"}
            client.refused("memory/prune_changes", "forbidden", status=403, why="a preview by no operator", **asked)
    if session.target.id_prefix is not None and session.target.lacks("erasable") is None:
        name: Body = {"conversation_id": f"{session.target.id_prefix}{fresh()}"[:128]}
        client.refused("conversation/redact_turns", "forbidden", status=403, why="no operator", **name)


@case("grants.conversations", "scoped", "constrained")
def conversations(session: Session) -> None:
    client = constrained(session)
    if session.target.id_prefix is None:
        raise Skipped("no --id-prefix was given")
    inside, outside = f"{session.target.id_prefix}{fresh()}"[:128], fresh()
    if client.ask("conversation/last_turn_number", conversation_id=inside).status != 200:
        raise Skipped("the constrained token may not read conversations under --id-prefix")
    for route, body in lists(session).items():
        client.ok(route, **body, conversations=[inside])
        for mixed in ([outside], [inside, outside], [outside, inside]):
            client.refused(route, "forbidden", status=403, why="one ungranted id", **body, conversations=mixed)
    client.refused("conversation/append_turn", "forbidden", status=403, conversation_id=outside, messages=MESSAGES)
