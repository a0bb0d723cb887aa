"""``manage.py prune``: erase conversations nobody continued for a while."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from authz.caller import Caller
from authz.operations import projects
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
    # What is said is what is done: whole seconds.
    cutoff = cutoff.replace(microsecond=0)
    caller = Caller(projects.named(project).pk, actor)
    report = _Report(cutoff, write=write, as_json=as_json)
    progress = Progress("conversations")
    try:
        for page in erasure.stale(caller, before=cutoff):
            for pruned in erasure.prune(caller, page, before=cutoff) if write else erasure.preview(caller, page):
                report.add(pruned)
                progress(report.count)
    finally:
        progress.close()
        report.end()


class _Report:
    """What was erased, or would be: lines as it happens, or one object at the end.

    Told even where a run breaks off, because what was erased until then stays erased.
    """

    def __init__(self, cutoff: datetime, *, write: bool, as_json: bool) -> None:
        self.cutoff, self.write, self.as_json = clock.render(cutoff), write, as_json
        self.count = self.turns = 0
        self.rows: list[dict[str, Any]] = []
        self.documents: list[erasure.SessionDocument] = []

    def add(self, pruned: erasure.Pruned) -> None:
        row = pruned.conversation
        self.count += 1
        self.turns += row.turns
        self.documents += pruned.documents
        last = clock.render(row.last_at.replace(microsecond=0))
        if self.as_json:
            self.rows.append({"conversation_id": row.conversation_id, "turns": row.turns, "last_at": last})
        else:
            click.echo(f"{row.conversation_id}  {counted(row.turns, 'turn')}  last {last}")

    def end(self) -> None:
        value = {
            "verb": "prune",
            "cutoff": self.cutoff,
            "dry_run": not self.write,
            "turns": self.turns,
            "conversations": self.rows,
            "documents": [{"scope": document.scope, "path": document.path} for document in self.documents],
            "client": None,
        }
        show(value, self._total(), as_json=self.as_json)

    def _total(self) -> str:
        if not self.count:
            return f"nothing older than {self.cutoff}"
        did = "redacted" if self.write else "would redact"
        conversations, turns = counted(self.count, "conversation"), counted(self.turns, "turn")
        return "\n".join(
            [
                f"{did} {conversations}, {turns} older than {self.cutoff}",
                *(f"{did} /{document.path} in {document.scope}" for document in self.documents),
            ]
        )


class Command(ClickCommand):
    help = "Erase conversations nobody continued for a while."
    command = prune
