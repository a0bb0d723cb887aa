"""Change feed version 1: refused requests, and forgetting old events."""

from __future__ import annotations

from neosian_site.conformance.cases.changes import MAX_CURSOR_BYTES, ROUTE, events, page
from neosian_site.conformance.checks import Skipped, same, show
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Body, Session

PRUNE = "memory/prune_changes"


@case("changes.parameters", "change_feed", profile=FULL)
def parameters(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "x")
    mistaken: tuple[Body, ...] = (
        {"since": "2026-01-01T00:00:00Z"}, {"x": None}, {"actor": "x"}, {"limit": 0}, {"limit": 101}, {"limit": -1},
        {"limit": True}, {"limit": "1"}, {"limit": 1.5}, {"cursor": 1}, {"cursor": []},
    )  # fmt: skip
    for bad in mistaken:
        session.refused(ROUTE, "value_error", scope=scope, why=show(bad), **bad)
    if not session.target.scoped:
        for without in ({}, {"scope": None}, {"scope": 1}):
            session.refused(ROUTE, "value_error", why=f"scope in {without}", **without)
        session.refused(ROUTE, "memory_scope_invalid", scope="user")
    same(len(page(session, scope, cursor=None, limit=100)["events"]), 1, "events with a null cursor")


@case("changes.cursors", "change_feed", profile=FULL)
def cursors(session: Session) -> None:
    scope, other = session.scope(), session.scope()
    for name in (scope, other):
        session.write(name, "a", "x")
        session.write(name, "b", "x")
    foreign = page(session, other)["head_cursor"]
    session.refused(ROUTE, "value_error", scope=scope, cursor=foreign, why="a cursor of another scope")
    listing = session.ok("memory/list_documents", scope=scope, limit=1)["next_cursor"]
    for bad in ("", "x", "not a cursor", "a" * MAX_CURSOR_BYTES, "a" * (MAX_CURSOR_BYTES + 1), listing):
        if bad is not None:
            session.refused(ROUTE, "value_error", scope=scope, cursor=bad, why=f"cursor {show(bad)}")


def _ground(session: Session) -> tuple[str, list[str]]:
    """A scope of five events, and the position after each (the first: before all)."""
    scope = session.scope()
    positions = []
    for number in range(5):
        session.write(scope, "a", f"{number}")
        positions.append(page(session, scope)["head_cursor"])
    if session.ask(PRUNE, scope=scope, through=positions[0]).status == 403:
        raise Skipped("the token may not prune")
    return scope, [page(session, scope)["floor_cursor"], *positions]


@case("changes.prune_preview", "change_feed", profile=FULL)
def prune_preview(session: Session) -> None:
    scope, at = _ground(session)
    whole = events(session, scope)
    for more in ({}, {"write": False}):
        got = session.ok(PRUNE, scope=scope, through=at[3], **more)
        shown = {key: got[key] for key in ("scope", "removed", "write")}
        same(shown, {"scope": scope, "removed": 3, "write": False}, f"a preview {more}")
    same(events(session, scope), whole, "events after previews")
    same(events(session, scope, cursor=at[0]), whole, "events from the floor after previews")


@case("changes.prune", "change_feed", profile=FULL)
def prune(session: Session) -> None:
    scope, at = _ground(session)
    whole, rows = events(session, scope), session.history(scope)
    got = session.ok(PRUNE, scope=scope, through=at[3], write=True)
    shown = {key: got[key] for key in ("removed", "write", "earliest_cursor")}
    same(shown, {"removed": 3, "write": True, "earliest_cursor": at[3]}, "the prune")
    same(session.history(scope), rows, "history after a prune")
    for start in ({}, {"cursor": at[0]}, {"cursor": at[1]}):
        lost = page(session, scope, **start)
        same((lost["events"], (lost["gap"] or {}).get("kind")), ([], "retention"), f"changes from {start}")
        same(lost["checkpoint_cursor"], lost["head_cursor"], "the checkpoint and the head beside a gap")
    gap = page(session, scope, cursor=at[1])["gap"]
    lost_rows = (whole[1]["sequence"], whole[2]["sequence"])
    same((gap["lost_from"], gap["lost_through"]), lost_rows, "what the gap names")
    same(events(session, scope, cursor=at[3]), whole[3:], "events after the pruned ones")
    same(page(session, scope, cursor=at[3])["floor_cursor"], at[3], "the floor")
    again = session.ok(PRUNE, scope=scope, through=at[3], write=True)
    same((again["removed"], again["earliest_cursor"]), (0, at[3]), "the same prune again")


@case("changes.prune_refusals", "change_feed", profile=FULL)
def prune_refusals(session: Session) -> None:
    scope, at = _ground(session)
    other, theirs = _ground(session)
    good: Body = {"scope": scope, "through": at[2]}
    for bad in (
        {"x": 1}, {"limit": None}, {"write": None}, {"write": 1}, {"write": "true"}, {"through": None}, {"through": 1},
        {"through": ""}, {"through": "x"}, {"through": theirs[2]}, {"through": "a" * (MAX_CURSOR_BYTES + 1)},
    ):  # fmt: skip
        session.refused(PRUNE, "value_error", why=show(bad), **good | {"write": True} | bad)
    session.refused(PRUNE, "value_error", why="no through", scope=scope)
    same(len(events(session, scope)), 5, "events after refused prunes")
    same(len(events(session, other)), 5, "events of another scope after refused prunes")
