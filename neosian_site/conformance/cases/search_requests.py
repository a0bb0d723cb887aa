"""Memory search version 1: its pages, and the requests it refuses (it forgives nothing)."""

from __future__ import annotations

from neosian_site.conformance.cases.search import ROUTE, found, ground
from neosian_site.conformance.checks import check, same, show
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Body, Session

MAX_CURSOR_BYTES = 4096
KEYS = [f"k{number}" for number in range(9)]
# Members that make a good request one to refuse.
BAD: tuple[Body, ...] = (
    {"actor": "x"}, {"x": None}, {"limit": None}, {"prefix": None}, {"fields": None},
    {"metadata_keys": None}, {"limit": True}, {"limit": "1"}, {"limit": 1.5}, {"limit": 0}, {"limit": 101},
    {"limit": -1}, {"prefix": 1}, {"prefix": "a" * 1025}, {"prefix": "é" * 513}, {"fields": []}, {"fields": "path"},
    {"fields": ["title"]}, {"fields": [1]}, {"fields": ["metadata"]}, {"fields": ["metadata"], "metadata_keys": []},
    {"fields": ["metadata"], "metadata_keys": KEYS}, {"fields": ["metadata"], "metadata_keys": [""]},
    {"fields": ["metadata"], "metadata_keys": ["a" * 129]}, {"fields": ["metadata"], "metadata_keys": [1]},
    {"fields": ["metadata"], "metadata_keys": "k"}, {"cursor": 1}, {"cursor": []},
)  # fmt: skip
# In the order of their bytes.
PATHS = ("A", "Z/z", "a", "a-b", "a/B", "a/b", "b")


def _pages(session: Session, scope: str, sizes: list[int]) -> list[str]:
    paths: list[str] = []
    cursor: str | None = None
    for size in [*sizes, *[sizes[-1]] * len(PATHS)]:
        page = session.ok(ROUTE, scope=scope, query="word", limit=size, cursor=cursor)
        paths += [hit["path"] for hit in page["hits"]]
        cursor = page["next_cursor"]
        if cursor is None:
            return paths
        check(len(page["hits"]) == size, f"a page of {len(page['hits'])} hits with limit {size} names another")
        check(1 <= len(cursor.encode()) <= MAX_CURSOR_BYTES, f"a cursor of {len(cursor.encode())} bytes")
    return paths


@case("search.pages", "memory_search")
def pages(session: Session) -> None:
    scope = session.scope()
    for path in reversed(PATHS):
        session.write(scope, path, "word")
    session.write(scope, "c", "other")
    for sizes in ([1], [2], [3], [6], [7], [100], [1, 4, 2]):
        same(_pages(session, scope, sizes), list(PATHS), f"paths in pages of {sizes}")
    for number in range(21):
        session.write(scope, f"n/{number:02}", "many")
    same(len(found(session, scope, "many")), 20, "hits without a limit")


@case("search.cursor_is_bound", "memory_search")
def cursor_is_bound(session: Session) -> None:
    scope, other = ground(session), ground(session)
    asked: Body = {"scope": scope, "query": "deployment window", "limit": 1}
    cursor = session.ok(ROUTE, **asked)["next_cursor"]
    check(cursor is not None, "no next_cursor with limit 1 of two hits")
    same(session.ok(ROUTE, **asked | {"cursor": cursor, "limit": 100})["hits"][0]["path"], "notes/window", "page two")
    for change in (
        {"query": "deployment"},
        {"scope": other},
        {"prefix": "notes/"},
        {"fields": ["content"]},
        {"fields": ["content", "metadata"], "metadata_keys": ["k"]},
    ):
        session.refused(ROUTE, "value_error", why=f"the cursor with another {change}", **asked | change, cursor=cursor)
    listing = session.ok("memory/list_documents", scope=scope, limit=1)["next_cursor"]
    for bad in ("", "x", "not a cursor", "a" * MAX_CURSOR_BYTES, "a" * (MAX_CURSOR_BYTES + 1), listing):
        if bad is not None:
            session.refused(ROUTE, "value_error", why=f"cursor {show(bad)}", **asked, cursor=bad)


@case("search.parameters", "memory_search")
def parameters(session: Session) -> None:
    scope = session.scope()
    good: Body = {"scope": scope, "query": "x"}
    everything = {
        "prefix": "", "fields": ["path", "content"], "metadata_keys": [], "limit": 20, "cursor": None,
    }  # fmt: skip
    same(session.ok(ROUTE, **good, **everything), {"hits": [], "next_cursor": None}, "with every default spelled out")
    for bad in (*BAD, {"scopes": [scope]}):
        session.refused(ROUTE, "value_error", why=show(bad), **good, **bad)
    addressed: tuple[Body, ...] = (
        {"query": ""}, {"query": " "}, {"query": "\u3000\u0085"}, {"query": "a" * 1025},
        {"query": " ".join("abcdefghijklmnopq")}, {"query": None}, {"query": 1}, {"query": ["x"]}, {"scope": None},
        {"scope": 1}, {"scope": [scope]},
    )  # fmt: skip
    for bad in addressed:
        # Whose scope it is comes before what is wrong with it.
        if not (session.target.scoped and "scope" in bad):
            session.refused(ROUTE, "value_error", why=show(bad), **good | bad)
    session.refused(ROUTE, "value_error", why="no query", scope=scope)
    if not session.target.scoped:
        session.refused(ROUTE, "value_error", why="no scope", query="x")
        session.refused(ROUTE, "memory_scope_invalid", query="x", scope="user")
    fine: tuple[Body, ...] = (
        {"query": "a" * 1024}, {"query": " ".join("abcdefghijklmnop")}, {"prefix": "a" * 1024}, {"limit": 100},
        {"query": "é" * 1024}, {"fields": ["metadata"], "metadata_keys": ["é" * 128, *KEYS[:7]]}, {"fields": ["path"]},
    )  # fmt: skip
    for more in fine:
        session.ok(ROUTE, **good | more)


@case("search.knows_what_is_written", "memory_search")
def knows_what_is_written(session: Session) -> None:
    scope = session.scope()
    for number in range(10):
        session.write(scope, "a", f"word{number}x")
        same(found(session, scope, f"word{number}x"), ["a"], f"paths found right after write {number}")
    session.ok("memory/redact", scope=scope)
    same(found(session, scope, "word9x"), [], "paths found right after the erasure")
