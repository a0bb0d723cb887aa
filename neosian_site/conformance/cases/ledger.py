"""Listings, versions, history, and the redaction of documents with its trail."""

from __future__ import annotations

from datetime import timedelta, timezone

from neosian_site.conformance.checks import check, same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Session, fresh, newest_first, only
from neosian_site.conformance.shapes import instant

# In the order of their bytes.
PATHS = ("-x", ".x", "A", "B", "Z/z", "_x", "a", "a-b", "a.b", "a/B", "a/b", "a/b/c", "a0", "a_b", "aa", "b")


@case("ledger.entries")
def entries(session: Session) -> None:
    scope = session.scope()
    for path in reversed(PATHS):
        session.write(scope, path, "x")
    changed = session.write(scope, "a", "y")
    session.ok("memory/delete", scope=scope, path="b")
    found = session.entries(scope)
    same([row["path"] for row in found], list(PATHS[:-1]), "the order of the paths")
    row = next(row for row in found if row["path"] == "a")
    same(row, {key: changed[key] for key in row}, "the row of a document")
    same(row["version"], 2, "the version in a row")


@case("ledger.prefix")
def prefix(session: Session) -> None:
    scope = session.scope()
    for path in ("a", "a/b", "ab", "A", "b", "a_c", "axc"):
        session.write(scope, path, "x")
    for asked, expected in (
        ("a", ["a", "a/b", "a_c", "ab", "axc"]),
        ("a/", ["a/b"]),
        ("A", ["A"]),
        ("a_", ["a_c"]),
        ("%", []),
        ("*", []),
        ("not a path", []),
        ("", ["A", "a", "a/b", "a_c", "ab", "axc", "b"]),
    ):
        same([row["path"] for row in session.entries(scope, prefix=asked)], expected, f"prefix {asked!r}")


@case("ledger.versions_newest_first")
def versions_newest_first(session: Session) -> None:
    scope = session.scope()
    for number in range(1, 5):
        session.write(scope, "a", f"{number}")
    session.write(scope, "ab", "other")
    found = session.versions(scope, "a")
    same([row["version"] for row in found], [4, 3, 2, 1], "version numbers")
    same([row["content"] for row in found], ["4", "3", "2", "1"], "contents")
    same([row["path"] for row in found], ["a"] * 4, "paths")


@case("ledger.history")
def history(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "b", "1")
    session.write(scope, "a", "2")
    session.ok("memory/delete", scope=scope, path="b")
    session.write(scope, "c", "4")
    rows = {path: list(reversed(session.versions(scope, path))) for path in "abc"}
    written = [rows["b"][0], rows["a"][0], rows["b"][1], rows["c"][0]]
    newest_first(session.history(scope), written, "memory/history")


@case("ledger.since")
def since(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "1")
    session.write(scope, "b", "2")
    session.ok("memory/redact", scope=scope, path="a")
    moment = instant(session.history(scope)[0]["created_at"])
    for route, key, at in (
        ("memory/history", "versions", moment),
        ("memory/redactions", "redactions", instant(only(session.redactions(scope), "trail")["created_at"])),
    ):
        everything = session.ok(route, scope=scope)[key]
        wanted = [row for row in everything if instant(row["created_at"]) >= at]
        east = at.astimezone(timezone(timedelta(hours=5, minutes=30)))
        for spelled in (at.isoformat(), at.isoformat().replace("+00:00", "Z"), east.isoformat()):
            same(session.ok(route, scope=scope, since=spelled)[key], wanted, f"{route} since {spelled}")
        later = (at + timedelta(days=1)).isoformat()
        same(session.ok(route, scope=scope, since=later)[key], [], f"{route} since a day later")
        for bad in (at.replace(tzinfo=None).isoformat(), "yesterday", "", "2026-02-30T00:00:00Z"):
            session.refused(route, "value_error", scope=scope, since=bad, why=f"since {bad!r}")


@case("ledger.redact_a_document")
def redact_a_document(session: Session) -> None:
    scope, word = session.scope(), fresh()
    session.write(scope, "a", f"{word} 1")
    kept = session.write(scope, "a", f"{word} 2", actor="writer")
    session.write(scope, "a/b", "stays")
    same(session.ok("memory/redact", scope=scope, path="a"), {"count": 1}, "memory/redact")
    same(session.read(scope, "a"), kept | {"content": "", "redacted": True}, "the redacted document")
    rows = [(row["version"], row["action"], row["content"], row["redacted"]) for row in session.versions(scope, "a")]
    same(rows, [(2, "modified", "", True), (1, "created", "", True)], "its versions")
    flags = {row["path"]: row["redacted"] for row in session.entries(scope)}
    same(flags, {"a": True, "a/b": False}, "entries")
    same(session.read(scope, "a/b")["content"], "stays", "a document below it")
    act = only(session.redactions(scope), "trail")
    same((act["path"], act["actor"], act["count"]), ("a", session.client_actor, 1), "the act")
    for route, body in (
        ("memory/read", {"path": "a"}),
        ("memory/versions", {"path": "a"}),
        ("memory/list_documents", {}),
        ("memory/history", {}),
        ("memory/redactions", {}),
    ):
        check(word not in session.ask(route, scope=scope, **body).text, f"{route} still holds erased text")
    again = session.write(scope, "a", "new")
    same((again["version"], again["redacted"]), (3, False), "a write after the redaction")
    same([row["redacted"] for row in session.versions(scope, "a")], [False, True, True], "old rows stay redacted")


@case("ledger.redact_a_scope")
def redact_a_scope(session: Session) -> None:
    scope = session.scope()
    same(session.ok("memory/redact", scope=scope), {"count": 0}, "redaction of an untouched scope")
    for path in ("a", "b", "c"):
        session.write(scope, path, path)
    session.ok("memory/delete", scope=scope, path="c")
    session.ok("memory/redact", scope=scope, path="a", actor="first")
    same(session.ok("memory/redact", scope=scope, path="absent"), {"count": 0}, "redaction of an absent document")
    same(session.ok("memory/redact", scope=scope, path=None), {"count": 3}, "redaction of the scope")
    same({row["content"] for row in session.history(scope)}, {""}, "contents left in the history")
    acts = [(act["path"], act["count"]) for act in session.redactions(scope)]
    same(acts, [(None, 3), ("a", 1)], "the trail, newest first")
