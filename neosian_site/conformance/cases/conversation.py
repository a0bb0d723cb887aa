"""Turns: numbered, kept as they were said, read from a place on."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Body, Session, only

PLAIN: Body = {"content": None, "reasoning": None, "tool_calls": [], "tool_call_id": None}
# A message as it is sent, and what must come back of it beside the defaults.
MESSAGES: tuple[tuple[Body, Body], ...] = (
    ({"role": "user"}, {}),
    ({"role": "system", "content": " \r\n"}, {"content": " \r\n"}),
    ({"role": "assistant", "content": "é😀", "reasoning": "why"}, {"content": "é😀", "reasoning": "why"}),
    ({"role": "tool", "content": "{}", "tool_call_id": "c1"}, {"content": "{}", "tool_call_id": "c1"}),
    ({"role": "user", "content": None, "name": "dropped", "extra": {}}, {}),
    ({"role": "user", "extra": {"k": [1, None, {"a": "b"}]}}, {"extra": {"k": [1, None, {"a": "b"}]}}),
    ({"role": "user", "content": []}, {"content": []}),
    (
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
    ),
    (
        {"role": "assistant", "tool_calls": [{"id": "c1", "name": "memory", "arguments": {"command": "view"}}]},
        {"tool_calls": [{"id": "c1", "name": "memory", "arguments": {"command": "view"}}]},
    ),
    (
        {"role": "assistant", "tool_calls": [{"id": "c1", "name": "n"}, {"id": "c2", "name": "n", "extra": {"a": 1}}]},
        {
            "tool_calls": [
                {"id": "c1", "name": "n", "arguments": {}},
                {"id": "c2", "name": "n", "arguments": {}, "extra": {"a": 1}},
            ]
        },
    ),
)
BAD_MESSAGES: tuple[tuple[Any, str], ...] = (
    ({"content": "x"}, "malformed request: 'role'"),
    ({"role": "robot"}, ""),
    ({"role": 1}, ""),
    ({"role": "user", "content": 1}, ""),
    ({"role": "user", "content": {"type": "text", "text": "x"}}, ""),
    ({"role": "user", "content": [{"type": "hologram"}]}, ""),
    ({"role": "user", "content": ["x"]}, ""),
    ({"role": "user", "content": [{"type": "text"}]}, ""),
    ({"role": "user", "content": [{"type": "text", "text": 1}]}, ""),
    ({"role": "assistant", "tool_calls": "x"}, ""),
    ({"role": "assistant", "tool_calls": [1]}, ""),
    ({"role": "assistant", "tool_calls": [{"name": "n"}]}, "malformed request: 'id'"),
    ({"role": "assistant", "tool_calls": [{"id": 1, "name": "n"}]}, ""),
    ({"role": "assistant", "tool_calls": [{"id": "c", "name": "n", "arguments": "{}"}]}, ""),
    ({"role": "assistant", "tool_calls": [{"id": "c", "name": "n", "arguments": []}]}, ""),
)
IDS = ("", ".", "..", "a b", "a/b", "a:b", "é", "a" * 129)


@case("conversation.append_turn")
def append_turn(session: Session) -> None:
    conversation = session.conversation()
    first = session.say(conversation, "hi")
    expected = {
        "conversation_id": conversation, "turn": 1, "created_at": first["created_at"], "redacted": False,
        "actor": session.client_actor, "messages": [{"role": "user", **PLAIN, "content": "hi"}],
    }  # fmt: skip
    same(first, expected, "the appended turn")
    second = session.say(conversation, "ho", actor="me/é")
    same((second["turn"], second["actor"]), (2, f"{session.client_actor}/me/é"), "the second turn")
    same(session.turns(conversation), [first, second], "the turns read")


@case("conversation.messages_are_verbatim")
def messages_are_verbatim(session: Session) -> None:
    conversation = session.conversation()
    sent = [message for message, _ in MESSAGES]
    expected = [{"role": message["role"], **PLAIN, **kept} for message, kept in MESSAGES]
    made = session.ok("conversation/append_turn", conversation_id=conversation, messages=sent)["turn"]
    for place, message in enumerate(expected):
        same(made["messages"][place], message, f"message {place} of the answer")
    same(len(made["messages"]), len(expected), "the number of messages")
    same(only(session.turns(conversation), "turns"), made, "the turn read")


@case("conversation.blocks")
def blocks(session: Session) -> None:
    conversation = session.conversation()
    for kind in ("image", "document"):
        content = [
            {"type": kind, "media_type": "image/png", "data": "QUJD", "x": 1},
            {"type": kind, "url": "https://example.org/a"},
            {"type": "compaction", "content": "short"},
        ]
        found = session.ok(
            "conversation/append_turn", conversation_id=conversation, messages=[{"role": "user", "content": content}]
        )["turn"]["messages"][0]["content"]
        same(found[0].get("data"), "QUJD", f"{kind} data")
        same(found[0].get("media_type"), "image/png", f"{kind} media type")
        same("x" in found[0], False, f"an unknown key of the {kind} block is kept")
        same(found[1].get("url"), "https://example.org/a", f"{kind} url")
        same(found[2].get("content"), "short", "compaction content")


@case("conversation.refused_messages")
def refused_messages(session: Session) -> None:
    conversation, good = session.conversation(), {"role": "user", "content": "x"}
    send: Body = {"conversation_id": conversation}
    session.refused("conversation/append_turn", "value_error", messages=[], why="no message", **send)
    for bad, naming in BAD_MESSAGES:
        session.refused(
            "conversation/append_turn", "value_error", messages=[good, bad], naming=naming, why=f"message {bad}", **send
        )
    same(session.ok("conversation/last_turn_number", **send), {"turn": 0}, "the number after refused turns")
    same(session.say(conversation, "x")["turn"], 1, "the first turn after refused ones")


@case("conversation.read_turns")
def read_turns(session: Session) -> None:
    conversation = session.conversation()
    made = [session.say(conversation, f"{number}") for number in range(1, 6)]
    for body, expected in (
        ({}, made),
        ({"after": None, "limit": None}, made),
        ({"after": 0}, made),
        ({"after": 2}, made[2:]),
        ({"limit": 2}, made[:2]),
        ({"after": 3, "limit": 500}, made[3:]),
        ({"after": 5}, []),
        ({"after": 99}, []),
    ):
        found = session.ok("conversation/read_turns", conversation_id=conversation, **body)
        same(found, {"turns": expected, "next_after": None}, f"read_turns {body}")
    same(session.ok("conversation/last_turn_number", conversation_id=conversation), {"turn": 5}, "last_turn_number")


@case("conversation.unknown")
def unknown(session: Session) -> None:
    body = {"conversation_id": session.conversation()}
    same(session.ok("conversation/read_turns", **body), {"turns": [], "next_after": None}, "read_turns")
    same(session.ok("conversation/read_projections", **body), {"entries": [], "next_after": None}, "read_projections")
    same(session.ok("conversation/last_turn_number", **body), {"turn": 0}, "last_turn_number")


@case("conversation.names")
def names(session: Session) -> None:
    session.conversation()
    messages = [{"role": "user", "content": "x"}]
    for bad in IDS:
        details = {"conversation_id": bad}
        code = "agent_conversation_id_invalid"
        session.refused("conversation/read_turns", code, conversation_id=bad, details=details)
        session.refused("conversation/append_turn", code, conversation_id=bad, messages=messages)
        if not session.target.scoped:
            session.refused("conversation/search_turns", code, query="x", conversations=[bad], details=details)
    good = session.keep_conversation((session.conversation() + "._-A" + "b" * 128)[:128])
    same(session.say(good, "x")["conversation_id"], good, "an id of 128 characters")


@case("conversation.projections")
def projections(session: Session) -> None:
    conversation = session.conversation()
    entries = [
        {"turn": 3, "kind": "digest", "text": "c", "span": 3},
        {"turn": 3, "kind": "log", "text": "a"},
        {"turn": 1, "kind": "log", "text": "", "span": None},
        {"turn": 3, "kind": "log", "text": "b", "span": 1, "actor": "ignored"},
        {"turn": 2, "kind": "epoch", "text": "d", "span": 2},
    ]
    send = {"conversation_id": conversation}
    same(session.ok("conversation/append_projections", entries=entries, **send), {}, "append_projections")
    kept = [{"span": 1, **{k: v for k, v in row.items() if v is not None and k != "actor"}} for row in entries]
    expected = [kept[place] for place in (2, 4, 1, 3, 0)]
    same(session.projections(conversation), expected, "entries by turn, span and arrival")
    found = session.ok("conversation/read_projections", after=1, limit=2, **send)
    same(found, {"entries": expected[1:3], "next_after": None}, "read_projections after 1, limit 2")
    same(session.ok("conversation/append_projections", entries=[], **send), {}, "append of no entry")


@case("conversation.refused_projections")
def refused_projections(session: Session) -> None:
    conversation = session.conversation()
    good = {"turn": 1, "kind": "log", "text": "x"}
    for bad in (
        {"kind": "log", "text": "x"},
        {"turn": 1, "text": "x"},
        {"turn": 1, "kind": "log"},
        good | {"turn": 0},
        good | {"turn": "1"},
        good | {"turn": True},
        good | {"kind": "diary"},
        good | {"text": 1},
        good | {"span": "1"},
        good | {"span": 0},
        good | {"span": 2},
    ):
        session.refused(
            "conversation/append_projections", "value_error", conversation_id=conversation, entries=[good, bad],
            why=f"entry {bad}",
        )  # fmt: skip
    same(session.projections(conversation), [], "entries after refused ones")
