"""Searching what was said (seeds/wire, "Conversation")."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Session, fresh, newest_first

ROUTE = "conversation/search_turns"


def _found(session: Session, query: str, conversations: list[str], **more: Any) -> list[int]:
    turns = session.ok(ROUTE, query=query, conversations=conversations, **more)["turns"]
    return sorted(turn["turn"] for turn in turns)


@case("turn_search.terms")
def terms(session: Session) -> None:
    conversation = session.conversation()
    session.say(conversation, "The Deployment window, 100% at a_b\\c")
    session.say(conversation, "deployment only")
    for query, expected in (
        ("deployment", [1, 2]),
        ("DEPLOYMENT", [1, 2]),
        ("ploymen", [1, 2]),
        ("window deployment", [1]),
        (" window\t\n deployment  window ", [1]),
        ("window only", []),
        ("100%", [1]),
        ("1%0", []),
        ("a_b\\c", [1]),
        ("d_ployment", []),
        ("d.ployment", []),
        ("depl*", []),
        ("user", []),
    ):
        same(_found(session, query, [conversation]), expected, f"turns found by {query!r}")


@case("turn_search.text_of_a_turn")
def text_of_a_turn(session: Session) -> None:
    conversation = session.conversation()
    call = {"id": "call-zq", "name": "lookup", "arguments": {"city": "Köln", "n": [1, 2]}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "alpha"}, {"type": "text", "text": "beta"}]},
        {"role": "assistant", "content": "gamma", "tool_calls": [call]},
        {"role": "tool", "content": "delta", "tool_call_id": "call-zq"},
    ]
    session.ok("conversation/append_turn", conversation_id=conversation, messages=messages)
    for query in ("alpha beta", "gamma alpha", "lookup", '"city":"Köln"', '"n":[1,2]', "delta", "beta lookup delta"):
        same(_found(session, query, [conversation]), [1], f"turns found by {query!r}")
    for query in ("assistant", "tool_calls", "alphabeta"):
        same(_found(session, query, [conversation]), [], f"turns found by {query!r}")


@case("turn_search.conversations")
def conversations(session: Session) -> None:
    word = fresh()
    first, second = session.conversation(), session.conversation()
    made = [session.say(first, word), session.say(second, word), session.say(first, f"x{word.upper()}x")]
    newest_first(session.ok(ROUTE, query=word, conversations=[first, second])["turns"], made, "search of two")
    newest_first(session.ok(ROUTE, query=word, conversations=[first])["turns"], [made[0], made[2]], "search of one")
    same(session.ok(ROUTE, query=word, conversations=[])["turns"], [], "search of none")
    same(session.ok(ROUTE, query=word, conversations=[fresh()])["turns"], [], "search of an unknown one")
    same(len(session.ok(ROUTE, query=word, conversations=[first, second], limit=2)["turns"]), 2, "hits with limit 2")
    if not session.target.scoped:
        newest_first(session.ok(ROUTE, query=word)["turns"], made, "search of every conversation")
        newest_first(session.ok(ROUTE, query=word, conversations=None)["turns"], made, "search with null")


@case("turn_search.refusals")
def refusals(session: Session) -> None:
    word = session.conversation()
    for bad in ("", "  ", "\t\n"):
        session.refused(ROUTE, "value_error", query=bad, conversations=[word], why=f"query {bad!r}")
    for limit in (0, -1, 501):
        session.refused(ROUTE, "value_error", query=word, conversations=[word], limit=limit, why=f"limit {limit}")
    session.say(word, "needle")
    same(len(session.ok(ROUTE, query="needle", conversations=[word], limit=None)["turns"]), 1, "hits with a null limit")


@case("turn_search.default_limit")
def default_limit(session: Session) -> None:
    conversation, word = session.conversation(), fresh()
    for _ in range(51):
        session.say(conversation, word)
    same(len(_found(session, word, [conversation])), 50, "turns found without a limit")
    same(len(_found(session, word, [conversation], limit=500)), 51, "turns found with limit 500")
