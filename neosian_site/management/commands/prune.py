"""``manage.py prune``: erase conversations nobody continued for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from authz.caller import Caller
from authz.operations import projects
from conversations.operations.idle import IdleConversation
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, Progress, json_option, project_option, show
from neosian_site.management.moving import counted
from neosian_site.management.times import duration, moment_of
from neosian_site.workflows import erasure


@click.command()
@click.option("--older-than", metavar="Nd|Nh", help="Conversations whose newest turn is older than N days or hours.")
@click.option("--before", metavar="TIMESTAMP", help="Conversations whose newest turn was made before this time.")
@click.option("--write", is_flag=True, help="Erase them; without it only say which they are.")
@click.option("--dry-run", is_flag=True, help="Only say which they are (which is what happens without --write).")
@project_option
@click.option("--actor", default="admin:prune", show_default=True, help="Whom the trail names.")
@json_option
def prune(
    older_than: str | None,
    before: str | None,
    write: bool,
    dry_run: bool,
    project: str,
    actor: str,
    as_json: bool,
) -> None:
    """Erase every conversation whose newest turn is old, with its sessions documents. A preview unless --write.

    One turn that is young keeps its whole conversation. A run that broke off is finished by the next one.
    """
    if (older_than is None) == (before is None):
        raise click.UsageError("give exactly one of --older-than and --before")
    if write and dry_run:
        raise click.UsageError("--write and --dry-run exclude each other")
    cutoff = clock.now() - duration(older_than) if older_than is not None else moment_of(before or "")
    caller = Caller(projects.named(project).pk, actor)
    rows: list[IdleConversation] = []
    documents: list[erasure.SessionDocument] = []
    progress = Progress("conversations")
    for page in erasure.stale(caller, before=cutoff):
        if write:
            for pruned in erasure.prune(caller, page, before=cutoff):
                rows.append(pruned.conversation)
                documents += pruned.documents
                progress(len(rows))
        else:
            rows += page
            documents += erasure.session_documents(caller, [row.conversation_id for row in page])
            progress(len(rows))
    progress.close()
    show(_shape(cutoff, rows, documents, write=write), _text(cutoff, rows, documents, write=write), as_json=as_json)


def _shape(
    cutoff: datetime, rows: list[IdleConversation], documents: list[erasure.SessionDocument], *, write: bool
) -> dict[str, Any]:
    return {
        "verb": "prune",
        "cutoff": _whole(cutoff),
        "dry_run": not write,
        "turns": sum(row.turns for row in rows),
        "conversations": [
            {"conversation_id": row.conversation_id, "turns": row.turns, "last_at": _whole(row.last_at)} for row in rows
        ],
        "documents": [{"scope": document.scope, "path": document.path} for document in documents],
        "client": None,
    }


def _text(
    cutoff: datetime, rows: list[IdleConversation], documents: list[erasure.SessionDocument], *, write: bool
) -> str:
    if not rows:
        return f"nothing older than {_whole(cutoff)}"
    did = "redacted" if write else "would redact"
    turns = counted(sum(row.turns for row in rows), "turn")
    return "\n".join(
        [
            *(f"{row.conversation_id}  {counted(row.turns, 'turn')}  last {_whole(row.last_at)}" for row in rows),
            *(f"{did} /{document.path} in {document.scope}" for document in documents),
            f"{did} {counted(len(rows), 'conversation')}, {turns} older than {_whole(cutoff)}",
        ]
    )


def _whole(moment: datetime) -> str:
    return clock.render(moment.replace(microsecond=0))


class Command(ClickCommand):
    help = "Erase conversations nobody continued for a while."
    command = prune
