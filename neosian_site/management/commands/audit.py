"""``manage.py audit``: what was done in a scope, by whom and when."""

from __future__ import annotations

from datetime import datetime

import click

from authz.caller import Caller
from authz.operations import projects
from memory.operations import inventory
from memory.operations.inventory import LedgerEntry
from neosian_site.core import clock
from neosian_site.core.names import scope_fault
from neosian_site.management.bridge import ClickCommand, json_option, project_option, show
from neosian_site.management.times import moment_of


def _scope(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if (fault := scope_fault(value)) is not None:
        raise click.BadParameter(f"{value!r} is no scope: {fault}")
    return value


def _since(context: click.Context, parameter: click.Parameter, value: str | None) -> datetime | None:
    return None if value is None else moment_of(value)


@click.command()
@click.option("--scope", required=True, callback=_scope, help="The scope.")
@click.option("--actor", help="Only this actor, and what it wrote under its name.")
@click.option("--since", metavar="TIMESTAMP", callback=_since, help="Only since this time, which counts.")
@click.option("--limit", type=click.IntRange(1), help="Only the newest N entries.")
@project_option
@json_option
def audit(
    scope: str, actor: str | None, since: datetime | None, limit: int | None, project: str, as_json: bool
) -> None:
    """A scope's ledger, newest first: writes, deletions and erasures. Never content."""
    caller = Caller(projects.named(project).pk, "admin:audit")
    found = inventory.audit(caller, scope=scope, since=since, actor=actor, limit=limit)
    value = {
        "scope": scope,
        "conversation_id": None,
        "client": None,
        "entries": [
            {
                "created_at": clock.render(entry.created_at),
                "actor": entry.actor,
                "event": entry.event,
                "path": entry.path,
                "version": entry.version,
                "redacted": entry.redacted,
                "count": entry.count,
                "conversation_id": None,
                "turn": None,
                "continues": entry.continues,
                "turns": [],
            }
            for entry in found
        ],
    }
    show(value, "\n".join(map(_line, found)) or f"no ledger entries for scope {scope!r}", as_json=as_json)


def _line(entry: LedgerEntry) -> str:
    if entry.event == "redacted":
        what = f"{entry.count} at {'scope-wide' if entry.path is None else f'/{entry.path}'}"
    else:
        what = f"/{entry.path} v{entry.version}{' (redacted)' if entry.redacted else ''}"
    if entry.continues:
        what += f"  continues {', '.join(entry.continues)}"
    return f"{clock.render(entry.created_at)}  {entry.actor or '-'}  {entry.event}  {what}"


class Command(ClickCommand):
    help = "What was done in a scope, by whom and when."
    command = audit
