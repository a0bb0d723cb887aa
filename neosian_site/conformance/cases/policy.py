"""Knowledge policy version 1: governance filters what a search looks at, never what is read."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from neosian_site.conformance.cases.search import ROUTE, found
from neosian_site.conformance.checks import check, same, show
from neosian_site.conformance.registry import case
from neosian_site.conformance.session import Session

NEEDS = ("memory_search", "knowledge_policy")
POLICIES = ("all", "effective", "approved")
PAST, COMING = "2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"
BODY = "word\n"


def digest(header: dict[str, Any], body: str, effective_at: str | None = None, expires_at: str | None = None) -> str:
    """What an approval is bound to: the document's text and its window."""
    bound = {
        "governance_format": 1,
        "header": header,
        "body": body,
        "effective_at": effective_at,
        "expires_at": expires_at,
    }
    text = json.dumps(bound, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def governed(state: str, *, title: str = "Release", approved_body: str = BODY, **window: str) -> str:
    """A document under governance; its approval is bound to ``approved_body``."""
    governance: dict[str, Any] = {"format": 1, "state": state, **window}
    if state != "draft":
        bound = digest({"knowledge": 1, "title": title}, approved_body, **window)
        governance["approval"] = {"by": "reviewer", "at": PAST, "digest": bound}
    attributes = json.dumps({"governance": governance}, sort_keys=True)
    return f'---\nknowledge: 1\ntitle: "{title}"\nattributes: {attributes}\n---\n{BODY}'


# A document, and the policies that look at it.
DOCUMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "approved": (governed("approved"), POLICIES),
    "draft": (governed("draft"), ("all",)),
    "expired": (governed("approved", effective_at=PAST, expires_at="2002-01-01T00:00:00Z"), ("all",)),
    "in-window": (governed("approved", effective_at=PAST, expires_at=COMING), POLICIES),
    "invalid": (governed("draft").replace('"format": 1', '"format": 2'), ("all",)),
    "scheduled": (governed("approved", effective_at=COMING), ("all",)),
    "stale": (governed("approved", approved_body="another\n"), ("all",)),
    "superseded": (governed("superseded"), ("all",)),
    "unmanaged": (BODY, ("all", "effective")),
    "unmanaged-header": (f'---\nknowledge: 1\ntitle: "x"\n---\n{BODY}', ("all", "effective")),
}


@case("policy.unmanaged_documents", *NEEDS)
def unmanaged_documents(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "word")
    for policy, expected in (("all", ["a"]), ("effective", ["a"]), ("approved", [])):
        same(found(session, scope, "word", knowledge_policy=policy), expected, f"paths found under {policy}")


@case("policy.states", *NEEDS)
def states(session: Session) -> None:
    scope = session.scope()
    for path, (content, _) in DOCUMENTS.items():
        session.write(scope, path, content)
    for policy in POLICIES:
        expected = [path for path, (_, seen) in DOCUMENTS.items() if policy in seen]
        same(found(session, scope, "word", knowledge_policy=policy), expected, f"paths found under {policy}")
    same(found(session, scope, "word"), list(DOCUMENTS), "paths found without a policy")
    same(session.read(scope, "draft")["content"], DOCUMENTS["draft"][0], "a draft, read")
    same([row["path"] for row in session.entries(scope)], list(DOCUMENTS), "entries")


@case("policy.edits", *NEEDS)
def edits(session: Session) -> None:
    scope = session.scope()
    approved = {"knowledge_policy": "approved"}
    session.write(scope, "a", governed("approved"))
    same(found(session, scope, "word", **approved), ["a"], "paths found after the approval")
    session.write(scope, "a", f"{governed('approved')}and more\n")
    same(found(session, scope, "word", **approved), [], "paths found after an edit of approved text")
    session.write(scope, "a", governed("approved"))
    session.ok("memory/rename", scope=scope, src="a", dst="b")
    same(found(session, scope, "word", **approved), ["b"], "paths found after a rename")


@case("policy.pages", *NEEDS)
def pages(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", governed("draft"))
    session.write(scope, "b", governed("approved"))
    session.write(scope, "c", governed("draft"))
    page = session.ok(ROUTE, scope=scope, query="word", knowledge_policy="approved", limit=1)
    shown = ([hit["path"] for hit in page["hits"]], page["next_cursor"])
    same(shown, (["b"], None), "a page of one hit before an excluded document")
    cursor = session.ok(ROUTE, scope=scope, query="word", limit=1)["next_cursor"]
    check(cursor is not None, "no next_cursor with limit 1 of three hits")
    for policy in ("effective", "approved"):
        session.refused(
            ROUTE, "value_error", scope=scope, query="word", cursor=cursor, knowledge_policy=policy,
            why=f"a cursor of policy all under {policy}",
        )  # fmt: skip
    rest = found(session, scope, "word", cursor=cursor, knowledge_policy="all")
    same(rest, ["b", "c"], "paths after the cursor, the default policy spelled out")


@case("policy.parameters", *NEEDS)
def parameters(session: Session) -> None:
    scope = session.scope()
    for bad in ("draft", "ALL", "", None, 1, True, ["all"]):
        session.refused(ROUTE, "value_error", scope=scope, query="x", knowledge_policy=bad, why=f"policy {show(bad)}")
