"""Pages of listings: they add up, they end, and a cursor belongs to its listing."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import check, same
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Session, together

# Beyond one page of 500.
MANY = 501
LISTINGS = (
    ("memory/list_documents", "entries"),
    ("memory/versions", "versions"),
    ("memory/history", "versions"),
    ("memory/redactions", "redactions"),
)


def _body(route: str, scope: str) -> dict[str, Any]:
    return {"scope": scope, "path": "a"} if route == "memory/versions" else {"scope": scope}


def _ground(session: Session) -> str:
    """Four documents, four versions of ``a``, seven rows of history, four acts of redaction."""
    scope = session.scope()
    for path in ("a", "a", "b", "c", "a", "a", "d"):
        session.write(scope, path, path)
    for path in ("a", "b", "c", "d"):
        session.ok("memory/redact", scope=scope, path=path)
    return scope


@case("paging.as_declared")
def as_declared(session: Session) -> None:
    scope = _ground(session)
    pageable = session.target.lacks("pageable") is None
    for route, key in LISTINGS:
        body = _body(route, scope)
        whole = session.ok(route, **body)
        rows = 7 if route == "memory/history" else 4
        same((len(whole[key]), whole["next_cursor"]), (rows, None), f"{route} whole")
        if not pageable:
            session.refused(route, "agent_configuration_error", cursor="x", **body)
            continue
        first = session.ok(route, limit=1, **body)
        same(first[key], whole[key][:1], f"{route} with limit 1")
        check(first["next_cursor"] is not None, f"{route} with limit 1 of {rows}: no next_cursor")
        rest = session.ok(route, cursor=first["next_cursor"], **body)
        same((rest[key], rest["next_cursor"]), (whole[key][1:], None), f"{route} from its cursor on")


@case("paging.pages_add_up", "pageable", profile=FULL)
def pages_add_up(session: Session) -> None:
    scope = _ground(session)
    for route, key in LISTINGS:
        body = _body(route, scope)
        whole = session.ok(route, **body)[key]
        for size in (1, 2, 3):
            pages = session.pages(route, key, size, **body)
            same([row for page in pages for row in page], whole, f"{route} in pages of {size}")
            check(all(len(page) == size for page in pages[:-1]), f"{route}: a page short of {size} before the last")


@case("paging.cursors_belong_to_their_listing", "pageable", profile=FULL)
def cursors_belong_to_their_listing(session: Session) -> None:
    scope = _ground(session)
    cursors = {route: session.ok(route, limit=1, **_body(route, scope))["next_cursor"] for route, _ in LISTINGS}
    for route, _ in LISTINGS:
        for other, cursor in cursors.items():
            if other != route:
                why = f"a cursor of {other}"
                session.refused(route, "value_error", cursor=cursor, why=why, **_body(route, scope))
        for bad in ("", "x", "not a cursor", "e30="):
            session.refused(route, "value_error", cursor=bad, why=f"cursor {bad!r}", **_body(route, scope))


@case("paging.rows_written_between_pages", "pageable", profile=FULL)
def rows_written_between_pages(session: Session) -> None:
    scope = session.scope()
    for path in ("b", "d", "f", "h"):
        session.write(scope, path, "x")
    first = session.ok("memory/list_documents", scope=scope, limit=2)
    for path in ("a", "c", "e", "i"):
        session.write(scope, path, "x")
    session.ok("memory/delete", scope=scope, path="d")
    rest = session.ok("memory/list_documents", scope=scope, cursor=first["next_cursor"])
    found = [row["path"] for row in [*first["entries"], *rest["entries"]]]
    check(len(found) == len(set(found)), f"memory/list_documents: a row comes twice: {found}")
    check({"b", "d", "f", "h"} <= set(found), f"memory/list_documents: a row is left out: {found}")


@case("paging.versions_default_to_fifty", "pageable", profile=FULL)
def versions_default_to_fifty(session: Session) -> None:
    scope = session.scope()
    for number in range(52):
        session.write(scope, "a", f"{number}")
    for body in ({}, {"limit": None}):
        page = session.ok("memory/versions", scope=scope, path="a", **body)
        same([row["version"] for row in page["versions"]], list(range(52, 2, -1)), f"versions {body}")
        rest = session.ok("memory/versions", scope=scope, path="a", cursor=page["next_cursor"])
        same([row["version"] for row in rest["versions"]], [2, 1], "the versions after them")


def _fill_scope(session: Session, scope: str) -> None:
    paths = [f"d{number:04}" for number in range(MANY)]
    if session.target.lacks("portable") is not None:
        together(8, lambda worker: [session.write(scope, path, "x") for path in paths[worker::8]])
        return
    at = "2026-01-02T03:04:05Z"
    kept = {"content": "x", "actor": None, "redacted": False, "created_at": at}
    session.ok(
        "store/restore_scope",
        scope=scope,
        documents=[{**kept, "scope": scope, "path": path, "version": 1, "updated_at": at} for path in paths],
        versions=[{**kept, "path": path, "version": 1, "action": "created"} for path in paths]
        + [{**kept, "path": "v", "version": number, "action": "modified"} for number in range(1, MANY + 1)],
        redactions=[{"path": path, "actor": None, "created_at": at, "count": 1} for path in paths],
    )


@case("paging.more_than_five_hundred_rows", "pageable", profile=FULL)
def more_than_five_hundred_rows(session: Session) -> None:
    scope = session.scope()
    _fill_scope(session, scope)
    moved = session.target.lacks("portable") is None
    rows = {"memory/list_documents": MANY, "memory/history": 2 * MANY if moved else MANY}
    if moved:
        rows |= {"memory/redactions": MANY, "memory/versions": MANY}
    for route, key in LISTINGS:
        if route not in rows:
            continue
        body = _body(route, scope) | ({"path": "v"} if route == "memory/versions" else {})
        for size in (1000,) if route == "memory/versions" else (None, 1000):
            pages = session.pages(route, key, size, **body)
            found = [row for page in pages for row in page]
            same(len(found), rows[route], f"{route} with limit {size}: rows of all pages")
            names = {(row["path"], row.get("version")) for row in found}
            same(len(names), rows[route], f"{route} with limit {size}: different rows")


@case("paging.turns_continue", profile=FULL)
def turns_continue(session: Session) -> None:
    conversation = session.conversation()
    if session.target.lacks("portable") is None:
        at = {"conversation_id": conversation, "created_at": "2026-01-02T03:04:05Z"}
        messages = [{"role": "user", "content": "x"}]
        turns = [{**at, "turn": number, "messages": messages} for number in range(1, MANY + 1)]
        session.ok("store/restore_conversation", conversation_id=conversation, turns=turns, projections=[])
    else:
        together(8, lambda worker: [session.say(conversation, "x") for _ in range(worker, MANY, 8)])
    body = {"conversation_id": conversation}
    for asked in ({}, {"limit": MANY}, {"limit": 100_000}):
        found, after, pages = [], 0, 0
        while after is not None and pages < 5:
            page = session.ok("conversation/read_turns", after=after, **asked, **body)
            found += [turn["turn"] for turn in page["turns"]]
            check(len(page["turns"]) <= 500, f"read_turns {asked}: a page of {len(page['turns'])}")
            after, pages = page["next_after"], pages + 1
        same(found, list(range(1, MANY + 1)), f"read_turns {asked}, page by page")
    bound = session.ok("conversation/read_turns", limit=500, **body)
    same((len(bound["turns"]), bound["next_after"]), (500, None), "read_turns with limit 500")


@case("paging.projections_end_on_a_turn", profile=FULL)
def projections_end_on_a_turn(session: Session) -> None:
    conversation = session.conversation()
    numbers = [*range(1, 300), *[300] * 700, *range(301, 400)]
    entries = [{"turn": turn, "kind": "log", "text": f"{place}"} for place, turn in enumerate(numbers)]
    session.ok("conversation/append_projections", conversation_id=conversation, entries=entries)
    for asked in ({}, {"limit": 600}):
        found, after, pages = [], 0, 0
        while after is not None and pages < 9:
            page = session.ok("conversation/read_projections", conversation_id=conversation, after=after, **asked)
            found += [entry["text"] for entry in page["entries"]]
            after, pages = page["next_after"], pages + 1
            last = page["entries"][-1]["turn"]
            check(after is None or after == last, f"read_projections {asked}: it goes on at {after}, not {last}")
        same(found, [entry["text"] for entry in entries], f"read_projections {asked}, page by page")
    bound = session.ok("conversation/read_projections", conversation_id=conversation, limit=450)
    same((len(bound["entries"]), bound["next_after"]), (450, None), "read_projections with limit 450")
