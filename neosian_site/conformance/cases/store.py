"""Moving scopes and conversations whole, where the backend can be moved."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.archives import conversation_unit, instants, moved, scope_unit
from neosian_site.conformance.checks import Skipped, check, same
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Body, Session, fresh, only

ROUTES = ("store/scopes", "store/conversations", "store/restore_scope", "store/restore_conversation")
BODIES: tuple[Body, ...] = (
    {},
    {},
    {"documents": [], "versions": [], "redactions": []},
    {"turns": [], "projections": []},
)

# Members that make a good row one to refuse.
BAD_ANYWHERE: tuple[Body, ...] = ({"created_at": "2026-01-02T03:04:05"}, {"created_at": 5}, {"actor": 1}, {"path": 1})
BAD_ROWS: tuple[Body, ...] = (
    {"version": "1"},
    {"version": True},
    {"content": 1},
    {"redacted": "false"},
    {"action": "renamed"},
)
BAD_TURNS: tuple[Body, ...] = (
    {"messages": []},
    {"messages": None},
    {"messages": [{"content": "x"}]},
    {"turn": "1"},
    {"turn": True},
    {"created_at": "2026-01-02T03:04:05"},
    {"actor": 1},
    {"redacted": 0},
)
BAD_PROJECTIONS: tuple[Body, ...] = ({"kind": "diary"}, {"text": None}, {"turn": "1"})


@case("store.as_declared")
def as_declared(session: Session) -> None:
    why = session.target.unportable
    if why == "the token does not reach the whole store":
        raise Skipped(why)
    for route, body in zip(ROUTES, BODIES, strict=True):
        unit = {"restore_scope": "scope", "restore_conversation": "conversation_id"}.get(route.partition("/")[2])
        named: Body = {} if unit is None else {unit: session.scope() if unit == "scope" else session.conversation()}
        if why is None:
            session.ok(route, **named, **body)
        else:
            session.refused(route, "agent_configuration_error", **named, **body)


@case("store.enumeration", "portable", profile=FULL)
def enumeration(session: Session) -> None:
    untouched, word = session.scope(), fresh()
    session.conversation()
    scopes = [session.keep_scope(f"user:{word}{tail}") for tail in ("", "-b", ".b", "/p:b", "B")]
    ids = [session.keep_conversation(f"{word}{tail}") for tail in ("", "-b", ".b", "B", "b")]
    for scope in reversed(scopes):
        session.write(scope, "a", "x")
    for conversation in reversed(ids[1:]):
        session.say(conversation, "x")
    entry = {"turn": 1, "kind": "log", "text": "x"}
    session.ok("conversation/append_projections", conversation_id=ids[0], entries=[entry])
    session.ok("memory/delete", scope=scopes[0], path="a")
    session.ok("memory/redact", scope=scopes[1])
    session.read(untouched, "a")
    for route, key, ours in (("store/scopes", "scopes", scopes), ("store/conversations", "conversations", ids)):
        found = session.ok(route)[key]
        same([name for name in found if word in name], sorted(ours), f"{route}: ours, in the order of their bytes")
        check(found == sorted(found), f"{route}: not in the order of their bytes")
        check(len(found) == len(set(found)), f"{route}: a name comes twice")
        check(untouched not in found, f"{route}: a scope that was only read")


def _restored(session: Session, scope: str, unit: dict[str, Any]) -> None:
    """Every read of the scope answers what the unit holds."""
    for row in unit["documents"]:
        same(instants(session.read(scope, row["path"])), instants({"extra": {}, **row}), f"document {row['path']}")
    found = {row["path"]: row for row in session.entries(scope)}
    same(sorted(found), sorted(row["path"] for row in unit["documents"]), "entries")
    rows = sorted(map(instants, session.history(scope)), key=lambda row: (row["path"], row["version"]))
    wanted = sorted(map(instants, unit["versions"]), key=lambda row: (row["path"], row["version"]))
    same(rows, wanted, "history")
    acts = sorted(map(instants, session.redactions(scope)), key=lambda act: act["created_at"])
    same(acts, sorted(map(instants, unit["redactions"]), key=lambda act: act["created_at"]), "trail")


@case("store.scope_round_trip", "portable", profile=FULL)
def scope_round_trip(session: Session) -> None:
    scope = session.scope()
    unit = scope_unit(scope)
    same(session.ok("store/restore_scope", actor="ignored", **unit), {}, "restore_scope")
    _restored(session, scope, unit)
    check(scope in session.ok("store/scopes")["scopes"], "store/scopes: no restored scope")
    session.refused("store/restore_scope", "memory_conflict", details={"reason": "target_occupied"}, **unit)
    _restored(session, scope, unit)
    written = session.write(scope, "notes/a", "next")
    same((written["version"], written["extra"]), (4, {"k": [1, "é", {"z": None}]}), "a write after the restore")
    same(session.write(scope, "gone", "again")["version"], 9, "a write over restored rows alone")


@case("store.scope_out_and_in", "portable", profile=FULL)
def scope_out_and_in(session: Session) -> None:
    source, target = session.scope(), session.scope()
    for path in ("a", "b", "c"):
        session.write(source, path, f"{path} é", actor="me")
    session.write(source, "a", "two")
    session.ok("memory/rename", scope=source, src="b", dst="d/e")
    session.ok("memory/delete", scope=source, path="c")
    session.ok("memory/redact", scope=source, path="a", actor="eraser")
    unit = moved(session, source, target)
    session.ok("store/restore_scope", **unit)
    same(moved(session, target, target), unit, "what was read of a scope, restored and read again")


@case("store.scope_occupied", "portable", profile=FULL)
def scope_occupied(session: Session) -> None:
    empty: Body = {"documents": [], "versions": [], "redactions": []}
    scope = session.scope()
    session.write(scope, "a", "x")
    session.ok("memory/delete", scope=scope, path="a")
    before = session.history(scope)
    details = {"scope": scope, "path": None, "reason": "target_occupied"}
    for unit in (scope_unit(scope), {"scope": scope, **empty}):
        session.refused("store/restore_scope", "memory_conflict", details=details, why="deleted rows", **unit)
    session.ok("memory/redact", scope=scope)
    session.refused("store/restore_scope", "memory_conflict", details=details, why="redacted", **scope_unit(scope))
    same(len(session.history(scope)), len(before), "rows after refused restores")
    child = session.keep_scope(f"{scope}/p:x")
    same(session.ok("store/restore_scope", **scope_unit(child)), {}, "restore below an occupied scope")


@case("store.scope_refusals", "portable", profile=FULL)
def scope_refusals(session: Session) -> None:
    scope = session.scope()
    good = scope_unit(scope)
    for key, required in (
        ("documents", ("scope", "path", "content", "version", "created_at", "updated_at", "actor", "redacted")),
        ("versions", ("path", "version", "action", "content", "actor", "created_at", "redacted")),
        ("redactions", ("path", "actor", "created_at", "count")),
    ):
        row = good[key][0]
        for name in required:
            without = {k: v for k, v in row.items() if k != name}
            unit = good | {key: [*good[key][1:], without]}
            naming = f"malformed request: '{name}'"
            session.refused("store/restore_scope", "value_error", naming=naming, why=f"{key} without {name}", **unit)
        for bad in BAD_ANYWHERE:
            unit = good | {key: [row | bad]}
            session.refused("store/restore_scope", "value_error", why=f"{key} with {bad}", **unit)
    for bad in BAD_ROWS:
        unit = good | {"versions": [good["versions"][0] | bad]}
        session.refused("store/restore_scope", "value_error", why=f"versions with {bad}", **unit)
    same(session.history(scope), [], "history after refused restores")
    same(session.ok("store/restore_scope", **good), {}, "a restore after refused ones")


def _conversation(session: Session, conversation: str) -> dict[str, Any]:
    return {
        "turns": list(map(instants, session.turns(conversation))),
        "projections": session.projections(conversation),
    }


@case("store.conversation_round_trip", "portable", profile=FULL)
def conversation_round_trip(session: Session) -> None:
    conversation = session.conversation()
    unit, kept = conversation_unit(conversation)
    if session.target.lacks("erasable") is not None:
        unit = unit | {"redactions": None}
    same(session.ok("store/restore_conversation", actor="ignored", **unit), {}, "restore_conversation")
    same(_conversation(session, conversation), kept, "the restored conversation")
    same(session.ok("conversation/last_turn_number", conversation_id=conversation), {"turn": 7}, "last_turn_number")
    check(conversation in session.ok("store/conversations")["conversations"], "store/conversations: not restored")
    if session.target.lacks("erasable") is None:
        acts = session.ok("conversation/turn_redactions", conversations=[conversation])["redactions"]
        same(instants(only(acts, "trail")), instants(unit["redactions"][0]), "the restored act")
    hits = session.ok("conversation/search_turns", query="restored needle", conversations=[conversation])["turns"]
    same([turn["turn"] for turn in hits], [2], "turns found after the restore")
    details = {"conversation_id": conversation, "reason": "target_occupied"}
    session.refused("store/restore_conversation", "agent_conversation_conflict", details=details, **unit)
    same(_conversation(session, conversation), kept, "the conversation after a refused restore")
    same(session.say(conversation, "next")["turn"], 8, "a turn after the restore")


@case("store.conversation_refusals", "portable", profile=FULL)
def conversation_refusals(session: Session) -> None:
    conversation = session.conversation()
    good, _ = conversation_unit(conversation)
    turn = good["turns"][0]
    for name in ("conversation_id", "turn", "messages", "created_at"):
        unit = good | {"turns": [{k: v for k, v in turn.items() if k != name}]}
        naming = f"malformed request: '{name}'"
        session.refused("store/restore_conversation", "value_error", naming=naming, why=f"no {name}", **unit)
    for bad in BAD_TURNS:
        unit = good | {"turns": [turn | bad]}
        session.refused("store/restore_conversation", "value_error", why=f"a turn with {bad}", **unit)
    for bad in BAD_PROJECTIONS:
        unit = good | {"projections": [{"turn": 1, "kind": "log", "text": "x"} | bad]}
        session.refused("store/restore_conversation", "value_error", why=f"a projection with {bad}", **unit)
    for turns in ([], [0], ["1"]):
        act = {"conversation_id": conversation, "turns": turns, "actor": None, "created_at": "2026-01-01T00:00:00Z"}
        unit = good | {"redactions": [act]}
        session.refused("store/restore_conversation", "value_error", why=f"an act of {turns}", **unit)
    same(session.turns(conversation), [], "turns after refused restores")


@case("store.conversation_occupied", "portable", profile=FULL)
def conversation_occupied(session: Session) -> None:
    conversation = session.conversation()
    entry = {"turn": 1, "kind": "log", "text": "x"}
    session.ok("conversation/append_projections", conversation_id=conversation, entries=[entry])
    unit, _ = conversation_unit(conversation)
    details = {"reason": "target_occupied"}
    for body in (unit, {"conversation_id": conversation, "turns": [], "projections": []}):
        session.refused("store/restore_conversation", "agent_conversation_conflict", details=details, **body)
    same(session.turns(conversation), [], "turns after refused restores")
