"""Rows of conversation archives, valid by default, for tests that need many of them quickly; and all rows there are."""

from __future__ import annotations

from typing import Any

from django.apps import apps

STORE_APPS = ("memory", "conversations")
WHEN = "2026-01-02T03:04:05Z"


def message(content: Any = "hello", **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": content, **more}


def canonical(content: Any = "hello", role: str = "user") -> dict[str, Any]:
    """A plain message as it is answered."""
    return {"role": role, "content": content, "reasoning": None, "tool_calls": [], "tool_call_id": None}


def turn(number: int, content: Any = "hello", conversation_id: str = "c", **more: Any) -> dict[str, Any]:
    return {
        "conversation_id": conversation_id,
        "turn": number,
        "messages": [canonical(content)],
        "created_at": WHEN,
        "actor": "client:first",
        "redacted": False,
        **more,
    }


def blanked(number: int, conversation_id: str = "c", **more: Any) -> dict[str, Any]:
    return {**turn(number, conversation_id=conversation_id), "messages": [], "redacted": True, **more}


def projection(number: int, text: str = "t", kind: str = "log", span: int = 1) -> dict[str, Any]:
    return {"turn": number, "kind": kind, "text": text, "span": span}


def act(turns: list[int], conversation_id: str = "c", **more: Any) -> dict[str, Any]:
    return {
        "conversation_id": conversation_id,
        "turns": turns,
        "actor": "client:first",
        "created_at": WHEN,
        **more,
    }


def restore(wire: Any, conversation_id: str = "c", **lists: list[Any]) -> None:
    """A conversation of these rows, in one request."""
    body = {"conversation_id": conversation_id, "turns": [], "projections": [], **lists}
    assert wire.ok("store/restore_conversation", body) == {}


def store_rows(project: int | None = None) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every store table, of one project or of all; a new table is part of it by itself."""
    found = {}
    for model in apps.get_models():
        if model._meta.app_label in STORE_APPS:
            rows = model.objects.all() if project is None else model.objects.filter(project=project)
            found[model._meta.label] = sorted(rows.values_list(), key=repr)
    return found
