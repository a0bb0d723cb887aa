"""Documents: written, read, moved, deleted; whose they are and what they may be called."""

from __future__ import annotations

from neosian_site.conformance.checks import check, same
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Session, only
from neosian_site.conformance.shapes import instant

CONTENTS = (
    "",
    "one\r\ntwo\rthree\n\n",
    "\ufeff---\ntitle: x\n---\n  padded\t",
    "\u2028 e\u0301 \u00e9 😀 \u0007 \\u0041 %_*",
    '{"json": [1, "two"]}',
)
SCOPES = ("", "user", "user:", ":a", "User:a", "user:a b", "user:a/", "/user:a", "user:..", "user:a//x:b", "user:é")
PATHS = ("", "/a", "a/", "a//b", "a b", "a/../b", ".", "a:b", "é", "a\\b")


@case("memory.read_of_nothing")
def read_of_nothing(session: Session) -> None:
    scope = session.scope()
    same(session.ok("memory/read", scope=scope, path="a"), {"document": None}, "memory/read of an absent document")
    same(session.entries(scope), [], "entries of an untouched scope")
    same(session.versions(scope, "a"), [], "versions of an absent document")
    same(session.history(scope), [], "history of an untouched scope")


@case("memory.write_creates")
def write_creates(session: Session) -> None:
    scope = session.scope()
    made = session.write(scope, "notes/a", "one")
    expected = {
        "scope": scope, "path": "notes/a", "content": "one", "version": 1, "actor": session.client_actor,
        "redacted": False, "extra": {}, "created_at": made["created_at"], "updated_at": made["updated_at"],
    }  # fmt: skip
    same(made, expected, "the written document")
    same(session.read(scope, "notes/a"), made, "the document read")
    row = only(session.versions(scope, "notes/a"), "versions after one write")
    same((row["action"], row["version"], row["content"]), ("created", 1, "one"), "the version row")
    same(row["actor"], session.client_actor, "the version row's actor")


@case("memory.write_modifies")
def write_modifies(session: Session) -> None:
    scope = session.scope()
    first = session.write(scope, "a", "one")
    for number in (2, 3):
        changed = session.write(scope, "a", "two")
        same(changed["version"], number, f"version after write {number}")
    same(changed["created_at"], first["created_at"], "created_at after another write")
    check(instant(changed["updated_at"]) >= instant(first["updated_at"]), "updated_at went back")
    same(session.read(scope, "a"), changed, "the document read")
    rows = [(row["version"], row["action"], row["content"]) for row in session.versions(scope, "a")]
    same(rows, [(3, "modified", "two"), (2, "modified", "two"), (1, "created", "one")], "versions")


@case("memory.content_is_verbatim")
def content_is_verbatim(session: Session) -> None:
    scope = session.scope()
    for number, content in enumerate(CONTENTS):
        session.write(scope, f"a{number}", content)
        same(session.read(scope, f"a{number}")["content"], content, f"content {content!a}")
        same(session.versions(scope, f"a{number}")[0]["content"], content, f"version content {content!a}")


@case("memory.version_fence", "supports_optimistic_concurrency")
def version_fence(session: Session) -> None:
    scope = session.scope()
    for asked in (0, 1):
        session.refused(
            "memory/write", "memory_conflict", scope=scope, path="a", content="x", expected_version=asked,
            details={"scope": scope, "path": "a", "reason": "document_absent", "expected_version": asked,
                     "actual_version": None},
        )  # fmt: skip
    same(session.history(scope), [], "history after refused writes")
    session.write(scope, "a", "one")
    for asked in (0, 2, 5):
        session.refused(
            "memory/write", "memory_conflict", scope=scope, path="a", content="x", expected_version=asked,
            details={"scope": scope, "path": "a", "reason": "version_mismatch", "expected_version": asked,
                     "actual_version": 1},
        )  # fmt: skip
    same(len(session.history(scope)), 1, "rows after refused writes")
    same(session.write(scope, "a", "two", expected_version=1)["version"], 2, "version of a fenced write")
    same(session.read(scope, "a")["content"], "two", "content after a fenced write")


@case("memory.delete")
def delete(session: Session) -> None:
    scope = session.scope()
    same(session.ok("memory/delete", scope=scope, path="a"), {"deleted": False}, "delete of nothing")
    session.write(scope, "a", "one")
    same(session.ok("memory/delete", scope=scope, path="a"), {"deleted": True}, "delete")
    same(session.read(scope, "a"), None, "the deleted document")
    same(session.entries(scope), [], "entries after the delete")
    same(session.ok("memory/delete", scope=scope, path="a"), {"deleted": False}, "the same delete again")
    rows = [(row["version"], row["action"], row["content"]) for row in session.versions(scope, "a")]
    same(rows, [(2, "deleted", "one"), (1, "created", "one")], "versions after the delete")
    same(session.write(scope, "a", "two")["version"], 3, "version of a document written again")
    same(session.versions(scope, "a")[0]["action"], "created", "action of a document written again")


@case("memory.rename")
def rename(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "one")
    session.write(scope, "a", "two")
    moved = session.ok("memory/rename", scope=scope, src="a", dst="b/c")["document"]
    same((moved["path"], moved["content"], moved["version"]), ("b/c", "two", 1), "the moved document")
    same(session.read(scope, "a"), None, "the source")
    same(session.read(scope, "b/c"), moved, "the destination")
    same([entry["path"] for entry in session.entries(scope)], ["b/c"], "entries")
    source, target = session.versions(scope, "a")[0], only(session.versions(scope, "b/c"), "the destination's versions")
    same((source["version"], source["action"]), (3, "deleted"), "the source's last row")
    same((target["version"], target["action"], target["content"]), (1, "created", "two"), "the destination's row")


@case("memory.rename_refusals")
def rename_refusals(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "one")
    session.write(scope, "b", "two")
    before = session.history(scope)
    absent = {"scope": scope, "path": "c"}
    session.refused("memory/rename", "memory_document_not_found", scope=scope, src="c", dst="d", details=absent)
    occupied = {"scope": scope, "path": "b", "reason": "destination_exists"}
    session.refused("memory/rename", "memory_conflict", scope=scope, src="a", dst="b", details=occupied)
    session.refused("memory/rename", "memory_path_invalid", scope=scope, src="a", dst="../b")
    same(session.history(scope), before, "history after refused renames")
    same(session.read(scope, "b")["content"], "two", "the occupied destination")


@case("memory.scopes_are_apart")
def scopes_are_apart(session: Session) -> None:
    scope = session.scope()
    child = session.keep_scope(f"{scope}/proj:x")
    longer = session.keep_scope(f"{scope}x")
    for name in (scope, child, longer):
        session.write(name, "a", name)
    same([entry["path"] for entry in session.entries(scope)], ["a"], "entries")
    session.ok("memory/redact", scope=scope)
    for name in (child, longer):
        same(session.read(name, "a")["content"], name, f"a document of {name} after {scope} was redacted")
        same(session.redactions(name), [], f"trail of {name}")


@case("memory.names")
def names(session: Session) -> None:
    scope = session.scope()
    for bad in (*SCOPES, "/".join(f"t:{number}" for number in range(9)), "user:" + "a" * 129):
        session.refused("memory/read", "memory_scope_invalid", scope=bad, path="a", details={"scope": bad})
        session.refused("memory/write", "memory_scope_invalid", scope=bad, path="a", content="x")
    for bad in (*PATHS, "/".join("a" * 17), "a" * 129):
        session.refused("memory/read", "memory_path_invalid", scope=scope, path=bad, details={"path": bad})
        session.refused("memory/write", "memory_path_invalid", scope=scope, path=bad, content="x")
    same(session.history(scope), [], "history after refused names")
    for good in ("a", "A", "a.md", ".hidden", "-x", "_", "a/b", "/".join("a" * 16), "a" * 128):
        session.write(scope, good, good)
        same(session.read(scope, good)["content"], good, f"document {good}")
    wide = session.keep_scope("/".join([scope, *(f"t_1:{number}.x-Y_" for number in range(7))]))
    same(session.write(wide, "a", "x")["scope"], wide, "a scope of eight segments")


@case("memory.attribution")
def attribution(session: Session) -> None:
    scope, client = session.scope(), session.client_actor
    for label in ("me", "bad actor/é", f"{client}x"):
        same(
            session.write(scope, "a", "x", actor=label)["actor"], f"{client}/{label}", f"actor of a write by {label!r}"
        )
        same(session.versions(scope, "a")[0]["actor"], f"{client}/{label}", f"actor of the row by {label!r}")
    moved = session.ok("memory/rename", scope=scope, src="a", dst="b", actor="mover")["document"]
    same(moved["actor"], f"{client}/mover", "actor of the moved document")
    same(session.versions(scope, "a")[0]["actor"], f"{client}/mover", "actor of the source's row")
    session.ok("memory/delete", scope=scope, path="b", actor="deleter")
    same(session.versions(scope, "b")[0]["actor"], f"{client}/deleter", "actor of the deletion")
    session.ok("memory/redact", scope=scope, path="b", actor="eraser")
    same(only(session.redactions(scope), "trail")["actor"], f"{client}/eraser", "actor of the redaction")
    same(session.versions(scope, "b")[0]["actor"], f"{client}/deleter", "actor of a redacted row")
