"""Memory search version 1: what is found, in what order, and how it is shown."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import check, same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Session

ROUTE = "memory/search"
EXCERPT_CHARS, LEAD_CHARS = 240, 40


def found(session: Session, scope: str, query: str, **more: Any) -> list[str]:
    return [hit["path"] for hit in session.ok(ROUTE, scope=scope, query=query, **more)["hits"]]


def ground(session: Session) -> str:
    scope = session.scope()
    for path, content in (
        ("notes/window", "deployment plan"),
        ("notes/beta", "Nothing here"),
        ("notes/alpha", "The deployment window opens Tuesday."),
    ):
        session.write(scope, path, content)
    return scope


@case("search.hits", "memory_search")
def hits(session: Session) -> None:
    scope = ground(session)
    page = session.ok(ROUTE, scope=scope, query="deployment window")
    same([hit["path"] for hit in page["hits"]], ["notes/alpha", "notes/window"], "paths found")
    same(page["next_cursor"], None, "next_cursor of the only page")
    matched = (["content"], ["content", "path"])
    for hit, fields in zip(page["hits"], matched, strict=True):
        document = session.read(scope, hit["path"])
        for key in ("scope", "path", "version", "created_at", "updated_at", "actor"):
            same(hit[key], document[key], f"{hit['path']}: {key} of the hit and of the document")
        same(sorted(hit["matched_fields"]), fields, f"{hit['path']}: matched_fields")
    same(
        [hit["excerpt"] for hit in page["hits"]],
        [
            {"field": "content", "metadata_key": None, "offset": 0, "text": "The deployment window opens Tuesday."},
            {"field": "content", "metadata_key": None, "offset": 0, "text": "deployment plan"},
        ],
        "excerpts",
    )
    same(session.ok(ROUTE, scope=session.scope(), query="x"), {"hits": [], "next_cursor": None}, "an empty scope")


@case("search.terms", "memory_search")
def terms(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a-1", "Red green, 100% of a_b\\c (x|y)")
    session.write(scope, "b", "green only")
    for query, expected in (
        ("green", ["a-1", "b"]),
        ("gree", ["a-1", "b"]),
        ("red green", ["a-1"]),
        ("green green", ["a-1", "b"]),
        ("only red", []),
        ("A-1 rEd", ["a-1"]),
        ("100%", ["a-1"]),
        ("1%0", []),
        ("a_b", ["a-1"]),
        ("r_d", []),
        ("gr.en", []),
        ("gre*", []),
        ("x|y)", ["a-1"]),
        ("b\\c", ["a-1"]),
        ("\u3000red\u0085green ", ["a-1"]),
    ):
        same(found(session, scope, query), expected, f"paths found by {query!r}")


@case("search.folding", "memory_search")
def folding(session: Session) -> None:
    scope = session.scope()
    for path, content in (
        ("a", "Straße"), ("b", "café"), ("c", "ΟΔΟΣ"), ("d", "İ"), ("e", "a\u001cb"), ("f", "a b"), ("g", "\U00016ea0"),
    ):  # fmt: skip
        session.write(scope, path, content)
    for query, expected in (
        ("straße", ["a"]),
        ("STRAßE", ["a"]),
        ("STRASSE", []),
        ("CAFÉ", ["b"]),
        ("cafe", []),
        ("cafe\u0301", []),
        ("οδοσ", ["c"]),
        ("ΟΔΟΣ", ["c"]),
        ("οδος", []),
        ("i\u0307", ["d"]),
        ("a\u001cb", ["e"]),
        ("\U00016ebb", ["g"]),
    ):
        same(found(session, scope, query, fields=["content"]), expected, f"paths found by {query!a}")


@case("search.excerpt", "memory_search")
def excerpt(session: Session) -> None:
    scope = session.scope()
    contents = {
        "a": "x" * 100 + "Needle is here.",
        "b": "😀" * 50 + "needle",
        "c": "a" * 300 + " needle " + "b" * 300,
        "d": "\r\n needle\t",
        "e": "İ" * 50 + "needle",
    }
    for path, content in contents.items():
        session.write(scope, path, content)
    for hit in session.ok(ROUTE, scope=scope, query="NEEDLE")["hits"]:
        content, shown = contents.pop(hit["path"]), hit["excerpt"]
        at, offset = content.lower().replace("i̇", "i").index("needle"), shown["offset"]
        what = f"excerpt of {hit['path']}"
        same((shown["field"], shown["metadata_key"]), ("content", None), what)
        check(max(0, at - LEAD_CHARS) <= offset <= at, f"{what}: offset {offset} for a match at {at}")
        check(len(shown["text"]) <= EXCERPT_CHARS, f"{what}: {len(shown['text'])} characters")
        check(content[offset:].startswith(shown["text"]), f"{what}: not the text at its offset")
        check("needle" in shown["text"].lower(), f"{what}: the match is not in it")
    same(sorted(contents), [], "documents without a hit")


@case("search.metadata", "memory_search", "portable")
def metadata(session: Session) -> None:
    scope = session.scope()
    at = "2026-01-02T03:04:05Z"
    extra = {
        "tags": ["Blue", ["deployment"], 7],
        "n": {"b": "window", "a": {"key-word": "x", "t": True}},
        "other": "secret",
    }
    row = {"scope": scope, "path": "a", "content": "text", "version": 1, "created_at": at, "updated_at": at}
    document = {**row, "actor": None, "redacted": False, "extra": extra}
    session.ok("store/restore_scope", scope=scope, documents=[document], versions=[], redactions=[])

    def keyed(*keys: str) -> dict[str, Any]:
        return {"fields": ["metadata", "content"], "metadata_keys": list(keys)}

    same(found(session, scope, "deployment"), [], "paths found in unselected metadata")
    for query, keys, expected in (
        ("deployment window", ("tags", "n"), ["a"]),
        ("deployment window", ("n",), []),
        ("BLUE text", ("tags",), ["a"]),
        ("key-word", ("n",), []),
        ("7", ("tags",), []),
        ("true", ("n",), []),
        ("tags", ("tags",), []),
        ("secret", ("tags", "absent"), []),
    ):
        same(found(session, scope, query, **keyed(*keys)), expected, f"paths found by {query!r} in {keys}")
    answer = session.ask(ROUTE, scope=scope, query="deployment window", **keyed("tags", "n"))
    hit = answer.json()["hits"][0]
    same(hit["matched_fields"], ["metadata"], "matched_fields")
    # Keys are visited in ascending order.
    same(hit["excerpt"], {"field": "metadata", "metadata_key": "n", "offset": 0, "text": "window"}, "excerpt")
    check("secret" not in answer.text, "unselected metadata is returned")


@case("search.prefix", "memory_search")
def prefix(session: Session) -> None:
    scope = session.scope()
    for path in ("notes/a", "notebook", "Notes/b", "no_es", "x"):
        session.write(scope, path, "word")
    for asked, expected in (
        ("", ["Notes/b", "no_es", "notebook", "notes/a", "x"]),
        ("note", ["notebook", "notes/a"]),
        ("notes/", ["notes/a"]),
        ("Notes/", ["Notes/b"]),
        ("no_", ["no_es"]),
        ("%", []),
        ("é", []),
    ):
        same(found(session, scope, "word", prefix=asked), expected, f"paths found under {asked!r}")


@case("search.left_out_documents", "memory_search")
def left_out_documents(session: Session) -> None:
    scope = session.scope()
    for path in ("sessions/s", "handoff", "messages/m", "message-links/l", "notes/handoff", "sessions-x"):
        session.write(scope, path, "word")
    same(found(session, scope, "word"), ["notes/handoff", "sessions-x"], "paths found")
    same(found(session, scope, "handoff"), ["notes/handoff"], "paths found by a path")


@case("search.current_documents_only", "memory_search")
def current_documents_only(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "oldword")
    session.write(scope, "a", "newword")
    same(found(session, scope, "oldword"), [], "paths found by a former version")
    session.ok("memory/rename", scope=scope, src="a", dst="b")
    same(found(session, scope, "newword"), ["b"], "paths found after a rename")
    session.ok("memory/redact", scope=scope, path="b")
    same(found(session, scope, "newword"), [], "paths found by erased text")
    same(found(session, scope, "b", fields=["path"]), [], "redacted documents found by their path")
    session.write(scope, "b", "again")
    same(found(session, scope, "again"), ["b"], "paths found after a write over a redacted document")
    session.ok("memory/delete", scope=scope, path="b")
    same(found(session, scope, "again"), [], "paths found after a delete")
    other = session.scope()
    session.write(other, "z", "elsewhere")
    same(found(session, scope, "elsewhere"), [], "paths found of another scope")
