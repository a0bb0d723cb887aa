"""``manage.py client``: wire clients kept in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TextIO

import click
from django.conf import settings

from authz.models import ApiToken
from authz.models.project import DEFAULT_SLUG
from authz.operations import clients, projects
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, json_option, show, table
from neosian_site.management.times import moment_of

project_option = click.option("--project", required=True, help="The project's name.")
actor_option = click.option("--actor", required=True, help="Whom its writes are recorded under, e.g. client:alice.")


@click.group()
def client() -> None:
    """Make, list, suspend and revoke clients of the wire. A token is shown once, when its client is made."""


@client.command()
@project_option
@actor_option
@click.option("--scope-prefix", help="Literal start of every memory scope it may use; '' for any.")
@click.option("--id-prefix", help="Literal start of every conversation id it may use; '' for any.")
@click.option("--expires", help="When its token ends by itself, e.g. 2027-01-01T00:00:00Z; never if not given.")
@json_option
def create(
    project: str, actor: str, scope_prefix: str | None, id_prefix: str | None, expires: str | None, as_json: bool
) -> None:
    """Make a client and print its token.

    With neither prefix it reaches the whole project. With one, the half that is not given is closed.
    """
    issued = clients.create(
        project=projects.named(project),
        actor=actor,
        scope_prefix=scope_prefix,
        conversation_prefix=id_prefix,
        expires_at=None if expires is None else moment_of(expires),
    )
    text = f"client {actor} of project {project} made; its token, shown only now:\n{issued.token}"
    show({"client": _shape(issued.client), "token": issued.token}, text, as_json=as_json)


@client.command("list")
@click.option("--project", help="Only this project's.")
@json_option
def list_(project: str | None, as_json: bool) -> None:
    """Every client, revoked ones too; never a token."""
    found = clients.listed(project=None if project is None else projects.named(project))
    rows = [
        (c.project.slug, c.actor, f"{c.hint}…", _reach(c), _state(c), _time(c.last_used_at) or "never") for c in found
    ]
    show(
        {"clients": [_shape(c) for c in found]},
        table(("PROJECT", "ACTOR", "TOKEN", "REACH", "STATE", "LAST USED"), rows),
        as_json=as_json,
    )


@client.command()
@project_option
@actor_option
@json_option
def revoke(project: str, actor: str, as_json: bool) -> None:
    """End a client. Every server process refuses its token within 5 seconds."""
    ended = clients.revoke(project=projects.named(project), actor=actor)
    show({"client": _shape(ended)}, f"client {actor} of project {project} revoked", as_json=as_json)


@client.command()
@project_option
@actor_option
@json_option
def suspend(project: str, actor: str, as_json: bool) -> None:
    """Refuse a client's token, on every server within 5 seconds, until it is resumed."""
    changed = clients.suspend(project=projects.named(project), actor=actor)
    show({"client": _shape(changed)}, f"client {actor} of project {project} suspended", as_json=as_json)


@client.command()
@project_option
@actor_option
@json_option
def resume(project: str, actor: str, as_json: bool) -> None:
    """Take a suspended client's token again."""
    changed = clients.resume(project=projects.named(project), actor=actor)
    show({"client": _shape(changed)}, f"client {actor} of project {project} resumed", as_json=as_json)


@client.command()
@project_option
@actor_option
@click.option("--at", "moment", help="When its token ends by itself, e.g. 2027-01-01T00:00:00Z.")
@click.option("--never", is_flag=True, help="It does not end by itself.")
@json_option
def expire(project: str, actor: str, moment: str | None, never: bool, as_json: bool) -> None:
    """Set when a client's token ends by itself."""
    if never == (moment is not None):
        raise click.UsageError("give exactly one of --at and --never")
    at = None if moment is None else moment_of(moment)
    changed = clients.expire(project=projects.named(project), actor=actor, at=at)
    text = f"client {actor} of project {project} ends {'never' if at is None else clock.render(at)}"
    show({"client": _shape(changed)}, text, as_json=as_json)


@client.command("import-table")
@click.option("--project", default=DEFAULT_SLUG, show_default=True, help="The project's name.")
@click.option("--file", type=click.File(), help="Read the table from a file ('-' for standard input).")
@json_option
def import_table(project: str, file: TextIO | None, as_json: bool) -> None:
    """Make a client of each entry of the environment's token table (NEOSIAN_SERVE_TOKEN); all of them or none.

    Each keeps its token and what it reaches. Afterwards take the table out of the environment: while a token stands
    there it is judged there.
    """
    table = settings.NEOSIAN_SERVE_TOKEN if file is None else file.read().strip()
    if table is None:
        raise click.UsageError("NEOSIAN_SERVE_TOKEN is not set; set it or give --file")
    made, present = clients.import_table(project=projects.named(project), table=table)
    lines = [*(f"made     {actor}" for actor in made), *(f"present  {actor}" for actor in present)]
    text = "\n".join([*lines, f"imported {len(made)} of {len(made) + len(present)} entries into project {project}"])
    show({"project": project, "made": made, "present": present}, text, as_json=as_json)


def _state(row: ApiToken) -> str:
    if row.revoked_at is not None:
        return "revoked"
    if row.expires_at is not None and row.expires_at <= clock.now():
        return "expired"
    return "live" if row.suspended_at is None else "suspended"


def _reach(row: ApiToken) -> str:
    if not row.constrained:
        return "everything"
    halves = (("scopes", row.scope_prefix), ("ids", row.conversation_prefix))
    return ", ".join(f"no {name}" if prefix is None else f"{name} {prefix}*" for name, prefix in halves)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else clock.render(moment)


def _shape(row: ApiToken) -> dict[str, Any]:
    return {"project": row.project.slug, **clients.shape(row), "last_used_at": _time(row.last_used_at)}


class Command(ClickCommand):
    help = "Make, list, suspend and revoke wire clients."
    command = client
