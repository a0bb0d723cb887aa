"""``manage.py client``: wire clients kept in the database."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from authz.models import ApiToken
from authz.operations import clients, projects
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, json_option, show, table

project_option = click.option("--project", required=True, help="The project's name.")
actor_option = click.option("--actor", required=True, help="Whom its writes are recorded under, e.g. client:alice.")


@click.group()
def client() -> None:
    """Make, list and revoke clients of the wire. A token is shown once, when its client is made."""


@client.command()
@project_option
@actor_option
@click.option("--scope-prefix", help="Literal start of every memory scope it may use; '' for any.")
@click.option("--id-prefix", help="Literal start of every conversation id it may use; '' for any.")
@json_option
def create(project: str, actor: str, scope_prefix: str | None, id_prefix: str | None, as_json: bool) -> None:
    """Make a client and print its token.

    With neither prefix it reaches the whole project. With one, the half that is not given is closed.
    """
    issued = clients.create(
        project=projects.named(project), actor=actor, scope_prefix=scope_prefix, conversation_prefix=id_prefix
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


def _state(row: ApiToken) -> str:
    return "live" if row.revoked_at is None else "revoked"


def _reach(row: ApiToken) -> str:
    if not row.constrained:
        return "everything"
    halves = (("scopes", row.scope_prefix), ("ids", row.conversation_prefix))
    return ", ".join(f"no {name}" if prefix is None else f"{name} {prefix}*" for name, prefix in halves)


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else clock.render(moment)


def _shape(row: ApiToken) -> dict[str, Any]:
    return {
        "project": row.project.slug,
        "actor": row.actor,
        "hint": row.hint,
        "constrained": row.constrained,
        "scope_prefix": row.scope_prefix,
        "id_prefix": row.conversation_prefix,
        "created_at": clock.render(row.created_at),
        "expires_at": _time(row.expires_at),
        "revoked_at": _time(row.revoked_at),
        "last_used_at": _time(row.last_used_at),
    }


class Command(ClickCommand):
    help = "Make, list and revoke wire clients."
    command = client
