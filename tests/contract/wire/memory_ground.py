"""What the tests of the memory and store routes share: the stored rows, archive rows, walks, the routes' table."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

TABLES = ("memory_scope", "memory_document", "memory_documentversion", "memory_redaction")

# Every memory route with a body that is good for the scope ``filled`` makes.
BODIES: dict[str, dict[str, Any]] = {
    "memory/read": {"scope": "user:a", "path": "x"},
    "memory/write": {"scope": "user:a", "path": "x", "content": "new"},
    "memory/delete": {"scope": "user:a", "path": "x"},
    "memory/rename": {"scope": "user:a", "src": "x", "dst": "free"},
    "memory/list_documents": {"scope": "user:a"},
    "memory/versions": {"scope": "user:a", "path": "x"},
    "memory/redact": {"scope": "user:a"},
    "memory/history": {"scope": "user:a"},
    "memory/redactions": {"scope": "user:a"},
}

# Listing: its route, the key its rows stand under, the rows of a page when no limit is given.
LISTINGS = {
    "list": ("memory/list_documents", "entries", 500),
    "versions": ("memory/versions", "versions", 50),
    "history": ("memory/history", "versions", 500),
    "trail": ("memory/redactions", "redactions", 500),
}


def stored() -> dict[str, list[str]]:
    """Every memory row there is, as the database prints it."""
    found = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"SELECT t::text FROM {table} t ORDER BY 1")
            found[table] = [row for (row,) in cursor.fetchall()]
    return found


@contextmanager
def unchanged() -> Iterator[None]:
    """What happens inside must leave every memory row as it was."""
    before = stored()
    yield
    assert stored() == before


def filled(wire: Any, scope: str = "user:a") -> None:
    """A scope with something of everything: live, deleted and redacted documents, and a trail."""
    wire.ok("memory/write", scope=scope, path="x", content="one")
    wire.ok("memory/write", scope=scope, path="x", content="two")
    wire.ok("memory/write", scope=scope, path="gone", content="old")
    wire.ok("memory/delete", scope=scope, path="gone")
    wire.ok("memory/write", scope=scope, path="blank", content="secret")
    wire.ok("memory/redact", scope=scope, path="blank")


def moment(second: int) -> str:
    """A time that differs for each second of an hour."""
    return f"2026-03-01T10:{second // 60:02}:{second % 60:02}Z"


def document_row(path: str = "x", **other: Any) -> dict[str, Any]:
    return {
        "scope": "user:r",
        "path": path,
        "content": "body",
        "version": 1,
        "created_at": moment(0),
        "updated_at": moment(1),
        "actor": "client:z",
        "redacted": False,
        "extra": {},
    } | other


def version_row(path: str = "x", version: Any = 1, **other: Any) -> dict[str, Any]:
    return {
        "path": path,
        "version": version,
        "action": "created" if version == 1 else "modified",
        "content": f"body {version}",
        "actor": "client:z",
        "created_at": moment(2),
        "redacted": False,
    } | other


def redaction_row(path: str | None = "x", **other: Any) -> dict[str, Any]:
    return {"path": path, "actor": "client:z", "created_at": moment(9), "count": 1} | other


def archive(
    documents: list[Any] | None = None,
    versions: list[Any] | None = None,
    redactions: list[Any] | None = None,
    scope: str = "user:r",
) -> dict[str, Any]:
    """The body of a restore."""
    return {
        "scope": scope,
        "documents": documents or [],
        "versions": versions or [],
        "redactions": redactions or [],
    }


def walk(wire: Any, listing: str, **body: Any) -> list[list[dict[str, Any]]]:
    """Every page of a listing, from the first to the one without a continuation."""
    route, key, _ = LISTINGS[listing]
    pages = []
    cursor = None
    while True:
        answer = wire.ok(route, **body, cursor=cursor)
        assert list(answer) == [key, "next_cursor"]
        pages.append(answer[key])
        assert len(pages) < 2000, "the walk does not end"
        cursor = answer["next_cursor"]
        if cursor is None:
            return pages


def forge(payload: Any) -> str:
    """A cursor made by a stranger who knows how ours are made; text is taken as JSON already."""
    packed = payload if isinstance(payload, str) else json.dumps(payload)
    return base64.urlsafe_b64encode(packed.encode()).decode()
