"""Change feed version 1: what happened to a scope, in order, without content."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import Failed, check, same
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Session, fresh, only, together

ROUTE = "memory/changes"
MAX_CURSOR_BYTES = 2048
GAP = {"kind": "untracked", "lost_from": None, "lost_through": None}


def page(session: Session, scope: str, **more: Any) -> Any:
    """A page of the right shape; its cursors are of legal size, its events in order and within the limit."""
    found = session.ok(ROUTE, scope=scope, **more)
    same(found["scope"], scope, "the page's scope")
    for key in ("checkpoint_cursor", "head_cursor", "floor_cursor"):
        check(1 <= len(found[key].encode()) <= MAX_CURSOR_BYTES, f"{key}: {len(found[key].encode())} bytes")
    sequences = [event["sequence"] for event in found["events"]]
    check(sequences == sorted(set(sequences)), f"events are not in order: {sequences}")
    check(len(sequences) <= more.get("limit", 50), f"{len(sequences)} events in a page")
    return found


def events(session: Session, scope: str, *, limit: int = 100, **start: Any) -> list[Any]:
    """Every event from a place on, page by page until the head."""
    found: list[Any] = []
    for _ in range(50):
        got = page(session, scope, limit=limit, **start)
        same(got["gap"], None, "gap")
        found += got["events"]
        if got["checkpoint_cursor"] == got["head_cursor"]:
            return found
        check(bool(got["events"]), "a page without events before the head")
        start = {"cursor": got["checkpoint_cursor"]}
    raise Failed("the pages of events do not end")


def _event(kind: str, path: str | None, version: int | None, actor: str, **more: Any) -> dict[str, Any]:
    keys = {"previous_path": None, "previous_version": None, "count": None}
    return {"kind": kind, "path": path, "version": version, "actor": actor, **keys, **more}


@case("changes.untouched_scope", "change_feed", profile=FULL)
def untouched_scope(session: Session) -> None:
    scope = session.scope()
    first = page(session, scope)
    same((first["events"], first["gap"]), ([], None), "changes of an untouched scope")
    same(first["checkpoint_cursor"], first["head_cursor"], "its checkpoint and its head")
    session.write(scope, "a", "x")
    from_start = events(session, scope)
    same(len(from_start), 1, "events after a first write")
    same(events(session, scope, cursor=first["checkpoint_cursor"]), from_start, "events from the checkpoint before it")


@case("changes.events", "change_feed", profile=FULL)
def every_event(session: Session) -> None:
    scope, me = session.scope(), session.client_actor
    session.write(scope, "a", "1")
    session.write(scope, "a", "2", actor="me")
    session.write(scope, "handoff", "x")
    session.ok("memory/rename", scope=scope, src="a", dst="b")
    session.ok("memory/delete", scope=scope, path="handoff")
    session.ok("memory/redact", scope=scope, path="b", actor="eraser")
    session.write(scope, "b", "3")
    session.ok("memory/redact", scope=scope)
    found = events(session, scope)
    expected = [
        _event("created", "a", 1, me),
        _event("modified", "a", 2, f"{me}/me"),
        _event("created", "handoff", 1, me),
        _event("renamed", "b", 1, me, previous_path="a", previous_version=3),
        _event("deleted", "handoff", 2, me),
        _event("erased", "b", None, f"{me}/eraser", count=1),
        _event("modified", "b", 2, me),
        _event("erased", None, None, me, count=3),
    ]
    shown = [{k: v for k, v in event.items() if k not in ("sequence", "recorded_at")} for event in found]
    same(shown, expected, "events")


@case("changes.nothing_happened", "change_feed", profile=FULL)
def nothing_happened(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "x")
    head = page(session, scope)["head_cursor"]
    session.ok("memory/delete", scope=scope, path="b")
    session.ok("memory/redact", scope=scope, path="b")
    session.refused("memory/rename", "memory_document_not_found", scope=scope, src="b", dst="c")
    session.refused("memory/rename", "memory_conflict", scope=scope, src="a", dst="a")
    if session.target.lacks("supports_optimistic_concurrency") is None:
        session.refused("memory/write", "memory_conflict", scope=scope, path="a", content="y", expected_version=7)
    session.read(scope, "a")
    got = page(session, scope, cursor=head)
    same((got["events"], got["checkpoint_cursor"], got["gap"]), ([], head, None), "changes after nothing happened")


@case("changes.pages", "change_feed", profile=FULL)
def pages(session: Session) -> None:
    scope = session.scope()
    for number in range(7):
        session.write(scope, f"a{number % 3}", f"{number}")
    whole = events(session, scope)
    same(len(whole), 7, "events of seven writes")
    for size in (1, 2, 3, 7):
        same(events(session, scope, limit=size), whole, f"events in pages of {size}")
    first = page(session, scope, limit=3)
    session.write(scope, "late", "x")
    rest = events(session, scope, cursor=first["checkpoint_cursor"])
    same(rest[:-1], whole[3:], "events after a page, and one more")
    same(rest[-1]["path"], "late", "the event written between the pages")


@case("changes.no_content", "change_feed", profile=FULL)
def no_content(session: Session) -> None:
    scope, word = session.scope(), fresh()
    session.write(scope, "a", word)
    session.ok("memory/rename", scope=scope, src="a", dst="b")
    session.ok("memory/delete", scope=scope, path="b")
    check(word not in session.ask(ROUTE, scope=scope).text, f"{ROUTE} holds content")


@case("changes.replay", "change_feed", profile=FULL)
def replay(session: Session) -> None:
    scope = session.scope()
    for path in ("a", "b", "c"):
        session.write(scope, path, "x")
    session.ok("memory/rename", scope=scope, src="a", dst="d")
    session.write(scope, "d", "y")
    session.ok("memory/delete", scope=scope, path="b")
    session.write(scope, "b", "z")
    live: dict[str, int] = {}
    for event in events(session, scope, limit=2):
        live.pop(event["previous_path"], None)
        if event["kind"] == "deleted":
            live.pop(event["path"], None)
        elif event["kind"] != "erased":
            live[event["path"]] = event["version"]
    same(live, {row["path"]: row["version"] for row in session.entries(scope)}, "the documents the events make")


@case("changes.concurrent_writers", "change_feed", profile=FULL)
def concurrent_writers(session: Session) -> None:
    scope = session.scope()
    # A first write each alone, so that no two make the scope at once.
    session.write(scope, "start", "x")
    together(6, lambda writer: [session.write(scope, f"a{n % 2}", f"{writer}-{n}") for n in range(5)])
    found = events(session, scope, limit=7)
    same(len(found), 31, "events of 31 writes")
    rows = sorted((row["path"], row["version"]) for row in session.history(scope))
    same(sorted((event["path"], event["version"]) for event in found), rows, "events and version rows")


@case("changes.restored_scope", "change_feed", "portable", profile=FULL)
def restored_scope(session: Session) -> None:
    scope, at = session.scope(), "2026-01-02T03:04:05Z"
    before = page(session, scope)["checkpoint_cursor"]
    kept = {"path": "a", "version": 1, "content": "x", "actor": None, "redacted": False, "created_at": at}
    document = {**kept, "scope": scope, "updated_at": at}
    version = {**kept, "action": "created"}
    session.ok("store/restore_scope", scope=scope, documents=[document], versions=[version], redactions=[])
    fresh_reader = page(session, scope)
    same((fresh_reader["events"], fresh_reader["gap"]), ([], GAP), "changes of a restored scope")
    reset = page(session, scope, cursor=before)
    same(reset["gap"], GAP | {"kind": "stream_reset"}, "gap of a cursor older than the restore")
    same(reset["checkpoint_cursor"], reset["head_cursor"], "the checkpoint and the head beside a gap")
    session.write(scope, "b", "y")
    follow = only(events(session, scope, cursor=fresh_reader["checkpoint_cursor"]), "events after the restore")
    same((follow["kind"], follow["path"]), ("created", "b"), "the event after the restore")
