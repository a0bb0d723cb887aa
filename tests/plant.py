"""Put one row behind the server's back: what a newer version, or damage, would leave in the database.

One JSON object on standard input; the row goes to project ``default`` of the database of DATABASE_URL:

    {"kind": "document", "scope", "path", "content", "format_version", "extra"}
    {"kind": "turn" | "projection", "conversation_id", "line"}

``line`` is the row as a file store would hold it: JSON that may name a ``neosian_format``, or text that is no JSON at
all, which is planted as a damaged row (format 0). Exit status 3: this row cannot be planted.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

DAMAGED = 0


def main() -> None:
    if "DATABASE_URL" not in os.environ:
        _cannot("DATABASE_URL is not set")
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "neosian_site.settings")
    import django
    from django.db import Error, transaction

    django.setup()
    try:
        row = json.load(sys.stdin)
        plant = {"document": _document, "turn": _turn, "projection": _projection}[row["kind"]]
        with transaction.atomic():
            plant(row)
    except (ValueError, KeyError, TypeError, Error) as error:
        _cannot(f"{type(error).__name__}: {error}")


def _cannot(why: str) -> NoReturn:
    print(why, file=sys.stderr)
    sys.exit(3)


def _project() -> Any:
    from authz.models import Project
    from authz.models.project import DEFAULT_SLUG

    return Project.objects.filter(slug=DEFAULT_SLUG).values_list("id", flat=True).get()


def _document(row: dict[str, Any]) -> None:
    from memory.models import Document, DocumentVersion, Scope
    from neosian_site.core import clock

    now = clock.now()
    where = {"project_id": _project(), "scope": row["scope"]}
    Scope.objects.get_or_create(project_id=where["project_id"], name=row["scope"], defaults={"created_at": now})
    Document.objects.create(
        **where,
        path=row["path"],
        live=True,
        version=1,
        last_version=1,
        created_version=1,
        content=row["content"],
        extra=json.dumps(row.get("extra") or {}, ensure_ascii=False, separators=(",", ":")),
        created_at=now,
        updated_at=now,
        format=row["format_version"],
    )
    DocumentVersion.objects.create(
        **where, path=row["path"], version=1, action="created", content=row["content"], created_at=now
    )


def _line(text: str) -> tuple[int, dict[str, Any]]:
    """The format a line is of, and what it holds."""
    try:
        held = json.loads(text)
    except ValueError:
        return DAMAGED, {}
    if not isinstance(held, dict):
        return DAMAGED, {}
    return held.get("neosian_format", 1), held


def _conversation(row: dict[str, Any], counter: str) -> tuple[dict[str, Any], int]:
    """Whose row it is, and its number in the conversation."""
    from conversations.models import Conversation
    from neosian_site.core import clock

    project = _project()
    Conversation.objects.get_or_create(
        project_id=project, id=row["conversation_id"], defaults={"created_at": clock.now()}
    )
    found = Conversation.objects.select_for_update().filter(project_id=project, id=row["conversation_id"])
    number = found.values_list(counter, flat=True).get() + 1
    found.update(**{counter: number})
    return {"project_id": project, "conversation": row["conversation_id"]}, number


def _turn(row: dict[str, Any]) -> None:
    from conversations.models import Turn
    from neosian_site.core import clock

    where, number = _conversation(row, "last_turn")
    row_format, held = _line(row["line"])
    Turn.objects.create(
        **where,
        turn=number,
        # The schema knows no blank turn that is not redacted, so what cannot be read stands there as it is.
        messages=json.dumps(held.get("messages") or [row["line"]], ensure_ascii=False, separators=(",", ":")),
        search_text="",
        created_at=clock.parse(held["created_at"]) if "created_at" in held else clock.now(),
        format=row_format,
    )


def _projection(row: dict[str, Any]) -> None:
    from conversations.models import Projection

    where, position = _conversation(row, "entries")
    row_format, held = _line(row["line"])
    Projection.objects.create(
        **where,
        position=position,
        turn=held.get("turn", 1),
        span=held.get("span", 1),
        kind=held.get("kind", "log"),
        text=held.get("text", ""),
        format=row_format,
    )


if __name__ == "__main__":
    main()
