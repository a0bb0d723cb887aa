"""Units to restore, and a unit read back off the wire."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.session import Body, Session
from neosian_site.conformance.shapes import instant


def instants(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its times as moments, however they were spelled."""
    return {key: instant(value) if key.endswith("_at") else value for key, value in row.items()}


def scope_unit(scope: str) -> dict[str, Any]:
    """A scope with gaps, foreign actors, another offset, a redacted and a deleted document, rows in no order."""
    early, late = "2026-01-02T03:04:05.678901Z", "2026-02-03T06:05:06+02:00"

    def document(path: str, content: str, version: int, **more: Any) -> dict[str, Any]:
        return {
            "scope": scope, "path": path, "content": content, "version": version, "created_at": early,
            "updated_at": late, "actor": None, "redacted": False, **more,
        }  # fmt: skip

    def row(path: str, version: int, action: str, content: str, at: str, **more: Any) -> dict[str, Any]:
        return {
            "path": path, "version": version, "action": action, "content": content, "actor": "client:elsewhere/x",
            "created_at": at, "redacted": False, **more,
        }  # fmt: skip

    return {
        "scope": scope,
        "documents": [
            document("notes/a", "three é\r\n", 3, actor="client:elsewhere", extra={"k": [1, "é", {"z": None}]}),
            document("erased", "", 2, redacted=True),
        ],
        "versions": [
            row("notes/a", 3, "modified", "three é\r\n", late),
            row("notes/a", 1, "created", "one", early, actor=None),
            row("erased", 2, "modified", "", late, redacted=True),
            row("gone", 8, "deleted", "was here", late),
        ],
        "redactions": [
            {"path": "erased", "actor": "client:elsewhere/ops", "created_at": early, "count": 1},
            {"path": None, "actor": None, "created_at": late, "count": 2},
        ],
    }


def conversation_unit(conversation: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A conversation with a gap, defaults left out, an unknown key, an erased turn; and what reads must answer."""
    at = "2026-01-02T05:04:05.5+02:00"
    message = {"role": "user", "content": "Restored needle"}
    whole: Body = {**message, "reasoning": None, "tool_calls": [], "tool_call_id": None}
    named = {"conversation_id": conversation, "created_at": at}
    unit = {
        "conversation_id": conversation,
        "turns": [
            {**named, "turn": 2, "messages": [message], "unknown": 1},
            {**named, "turn": 7, "messages": [], "actor": "client:elsewhere/a", "redacted": True},
        ],
        "projections": [
            {"turn": 7, "kind": "digest", "text": "d", "span": 6},
            {"turn": 2, "kind": "log", "text": "l"},
        ],
        "redactions": [{**named, "turns": [7], "actor": "client:elsewhere"}],
    }
    kept = {
        "turns": [
            instants({**named, "turn": 2, "messages": [whole], "actor": None, "redacted": False}),
            instants({**named, "turn": 7, "messages": [], "actor": "client:elsewhere/a", "redacted": True}),
        ],
        "projections": [
            {"turn": 2, "kind": "log", "text": "l", "span": 1},
            {"turn": 7, "kind": "digest", "text": "d", "span": 6},
        ],
    }
    return unit, kept


def moved(session: Session, source: str, target: str) -> dict[str, Any]:
    """Everything of one scope, as a unit that makes another of it."""
    documents = [session.read(source, entry["path"]) for entry in session.entries(source)]
    return {
        "scope": target,
        "documents": [document | {"scope": target} for document in documents],
        "versions": session.history(source),
        "redactions": session.redactions(source),
    }
