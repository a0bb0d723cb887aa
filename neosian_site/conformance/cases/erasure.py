"""Erasing turns: the two routes where ``erasable`` is declared, their honest refusal where it is not."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import check, same
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Session, fresh, newest_first, only
from neosian_site.conformance.shapes import instant

ROUTE = "conversation/redact_turns"


@case("erasure.as_declared")
def as_declared(session: Session) -> None:
    conversation = session.conversation()
    if session.target.lacks("erasable") is not None:
        session.refused(ROUTE, "agent_configuration_error", conversation_id=conversation)
        session.refused("conversation/turn_redactions", "agent_configuration_error", conversations=[])
        return
    same(session.ok(ROUTE, conversation_id=conversation), {"count": 0}, "redaction of an unknown conversation")
    same(session.ok("conversation/turn_redactions", conversations=[]), {"redactions": []}, "the trail of none")
    said = session.say(conversation, "x")
    same(session.ok(ROUTE, conversation_id=conversation), {"count": 1}, "redaction of a turn")
    left = only(session.turns(conversation), "turns")
    same(left, said | {"messages": [], "redacted": True}, "the redacted turn")


def _acts(session: Session, *conversations: str, **more: Any) -> list[Any]:
    found: list[Any] = session.ok("conversation/turn_redactions", conversations=list(conversations), **more)[
        "redactions"
    ]
    return found


@case("erasure.selection", "erasable", profile=FULL)
def selection(session: Session) -> None:
    for body, selected in (
        ({}, [1, 2, 3, 4]),
        ({"through": None, "turns": None}, [1, 2, 3, 4]),
        ({"through": 2}, [1, 2]),
        ({"through": 99}, [1, 2, 3, 4]),
        ({"turns": [4, 2, 2, 77]}, [2, 4]),
        ({"turns": []}, []),
        ({"turns": [77]}, []),
    ):
        conversation = session.conversation()
        said = [session.say(conversation, f"turn {number}", actor=f"a{number}") for number in range(1, 5)]
        what = f"redact_turns {body}"
        for _ in range(2):
            same(session.ok(ROUTE, conversation_id=conversation, **body), {"count": len(selected)}, what)
        expected = [turn | ({"messages": [], "redacted": True} if turn["turn"] in selected else {}) for turn in said]
        same(session.turns(conversation), expected, f"turns after {what}")
        acts = _acts(session, conversation)
        same([act["turns"] for act in acts], [selected] * (2 if selected else 0), f"trail after {what}")


@case("erasure.refusals", "erasable", profile=FULL)
def refusals(session: Session) -> None:
    conversation = session.conversation()
    said = session.say(conversation, "x")
    for bad in ({"through": 1, "turns": [1]}, {"through": 1, "turns": []}, {"through": 0}, {"through": -1},
                {"turns": [0]}, {"turns": [1, -1]}):  # fmt: skip
        session.refused(ROUTE, "value_error", conversation_id=conversation, why=f"{bad}", **bad)
    session.refused(ROUTE, "agent_conversation_id_invalid", conversation_id="a/b")
    for limit in (0, -1, 501):
        session.refused("conversation/turn_redactions", "value_error", conversations=[], limit=limit)
    for since in ("2026-01-01T00:00:00", "soon", ""):
        session.refused("conversation/turn_redactions", "value_error", conversations=[conversation], since=since)
    same(session.turns(conversation), [said], "turns after refused redactions")
    same(_acts(session, conversation), [], "trail after refused redactions")


@case("erasure.projections", "erasable", profile=FULL)
def projections(session: Session) -> None:
    conversation = session.conversation()
    for number in range(1, 7):
        session.say(conversation, f"{number}")
    entries = [
        {"turn": turn, "kind": "log", "text": f"{turn}-{span}", "span": span}
        for turn, span in ((1, 1), (3, 3), (5, 1), (6, 1), (6, 6))
    ]
    session.ok("conversation/append_projections", conversation_id=conversation, entries=entries)
    session.ok(ROUTE, conversation_id=conversation, turns=[2, 3])
    texts = [entry["text"] for entry in session.projections(conversation)]
    same(texts, ["1-1", "", "5-1", "6-1", ""], "projection texts after turns 2 and 3 were erased")


@case("erasure.trail", "erasable", profile=FULL)
def trail(session: Session) -> None:
    first, second = session.conversation(), session.conversation()
    for conversation in (first, second):
        session.say(conversation, "x")
        session.say(conversation, "y")
    session.ok(ROUTE, conversation_id=first, turns=[2], actor="ops")
    session.ok(ROUTE, conversation_id=second)
    session.ok(ROUTE, conversation_id=first)
    acts = _acts(session, first, second)
    shown = sorted((act["conversation_id"], act["turns"], act["actor"]) for act in acts)
    client = session.client_actor
    expected = [(first, [1, 2], client), (first, [2], f"{client}/ops"), (second, [1, 2], client)]
    same(shown, sorted(expected), "the acts")
    by_time = sorted(acts, key=lambda act: instant(act["created_at"]))
    newest_first(acts, by_time, "turn_redactions")
    same(_acts(session, second), [act for act in acts if act["conversation_id"] == second], "the trail of one")
    same(len(_acts(session, first, second, limit=1)), 1, "acts with limit 1")
    same(_acts(session, first, second, since="2999-01-01T00:00:00+02:00"), [], "acts since a time to come")
    same(_acts(session, first, second, since="2001-01-01T00:00:00+02:00"), acts, "acts since a time gone by")


@case("erasure.text_is_gone", "erasable", profile=FULL)
def text_is_gone(session: Session) -> None:
    conversation, word = session.conversation(), fresh()
    call = {"id": "c", "name": f"n{word}", "arguments": {"a": word}}
    messages = [
        {"role": "user", "content": f"{word} one", "reasoning": word, "extra": {"x": word}},
        {"role": "assistant", "content": [{"type": "text", "text": word}], "tool_calls": [call]},
    ]
    session.ok("conversation/append_turn", conversation_id=conversation, messages=messages)
    session.say(conversation, f"{word} stays")
    entry = {"turn": 1, "kind": "digest", "text": word}
    session.ok("conversation/append_projections", conversation_id=conversation, entries=[entry])
    session.ok(ROUTE, conversation_id=conversation, through=1)
    session.ok(ROUTE, conversation_id=conversation, through=1)
    hits = session.ok("conversation/search_turns", query=word, conversations=[conversation])["turns"]
    same([turn["turn"] for turn in hits], [2], "turns found by erased text")
    session.ok(ROUTE, conversation_id=conversation)
    for route, body in (
        ("conversation/read_turns", {"conversation_id": conversation}),
        ("conversation/read_projections", {"conversation_id": conversation}),
        ("conversation/search_turns", {"query": word, "conversations": [conversation]}),
        ("conversation/turn_redactions", {"conversations": [conversation]}),
    ):
        check(word not in session.ask(route, **body).text, f"{route} still holds erased text")
    same(session.say(conversation, "next")["turn"], 3, "the next turn's number")
