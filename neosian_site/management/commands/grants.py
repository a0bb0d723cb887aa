"""``manage.py grants``: what each client of a project may do while the project is scoped."""

from __future__ import annotations

from typing import BinaryIO

import click

from authz import grants_file, tokens
from authz.grants import ClientEntry
from authz.models import ApiToken, Project
from authz.models.project import DEFAULT_SLUG, SCOPED
from authz.operations import explanation, projects
from authz.operations import grants as operations
from neosian_site.management.bridge import ClickCommand, json_option, project_option, show, table


@click.group()
def grants() -> None:
    """Show, export, import and explain exact-scope grants. They are in force while the project is scoped."""


@grants.command("show")
@project_option
@json_option
def show_(project: str, as_json: bool) -> None:
    """Every client's grants."""
    named = projects.named(project)
    found = operations.entries(project=named)
    rows = [row for entry in found for row in _rows(entry)]
    text = table(("CLIENT", "ON", "NAME", "MAY"), rows) if rows else "no grants"
    value = {"project": project, "access": named.access, "clients": [operations.shape(entry) for entry in found]}
    show(value, f"{text}\n{_state(named)}", as_json=as_json)


def _rows(entry: ClientEntry) -> list[tuple[str, str, str, str]]:
    rows = [(entry.actor, "store", "", "operate")] if entry.operator else []
    rows += [(entry.actor, "scope", row.scope, _may(read=row.read, write=row.write)) for row in entry.scopes]
    for grant in entry.conversations:
        name = f"{grant.prefix}*" if grant.prefix is not None else ", ".join(grant.ids or ())
        rows.append((entry.actor, "conversations", name, _may(read=grant.read, append=grant.append)))
    return rows or [(entry.actor, "", "", "nothing")]


def _may(**flags: bool) -> str:
    return ", ".join(name for name, value in flags.items() if value) or "nothing"


def _state(project: Project) -> str:
    if project.access == SCOPED:
        return f"project {project.slug} is scoped: these grants are in force"
    return (
        f"project {project.slug} is open: these grants are not in force (project access --name {project.slug} scoped)"
    )


@grants.command()
@project_option
@click.option("--out", type=click.Path(dir_okay=False, writable=True), help="Write here instead of standard output.")
@json_option
def export(project: str, out: str | None, as_json: bool) -> None:
    """The project's grants as a TOML file, which "grants import" and NEOSIAN_SERVE_GRANTS read."""
    found = operations.entries(project=projects.named(project))
    text = grants_file.render(found)
    if out is not None:
        with click.open_file(out, "w") as file:
            file.write(text)
        show(
            {"project": project, "clients": len(found), "file": out},
            f"exported {_clients(found)} to {out}",
            as_json=as_json,
        )
    elif as_json:
        show({"project": project, "clients": [operations.shape(entry) for entry in found]}, "", as_json=True)
    else:
        click.echo(text, nl=False)


def _clients(found: tuple[ClientEntry, ...]) -> str:
    return f"{len(found)} {'client' if len(found) == 1 else 'clients'}"


@grants.command("import")
@project_option
@click.argument("file", type=click.File("rb"))
@json_option
def import_(project: str, file: BinaryIO, as_json: bool) -> None:
    """Make the project's grants exactly those of FILE ('-' for standard input), all of them or none.

    Every server process follows within 5 seconds. An actor without a live client is taken, with a warning.
    """
    named = projects.named(project)
    values = grants_file.parse(file.read(grants_file.MAX_BYTES + 1))
    done = operations.replace(project=named, values=values, by="command")
    known = set(ApiToken.objects.filter(project=named, revoked_at=None).values_list("actor", flat=True))
    known |= tokens.table_actors() if named.slug == DEFAULT_SLUG else set()
    without = [value.actor for value in values if value.actor not in known]
    for actor in without:
        click.echo(f"warning: project {project} has no live client {actor}", err=True)
    text = ", ".join(f"{len(actors)} {what}" for what, actors in done.items())
    show(
        {"project": project, "access": named.access, **done, "without_client": without},
        f"grants of project {project}: {text}\n{_state(named)}",
        as_json=as_json,
    )


@grants.command()
@project_option
@click.option("--client", "actor", required=True, help="The client's actor, e.g. client:alice.")
@json_option
def explain(project: str, actor: str, as_json: bool) -> int:
    """Everything one client can read, write, append and operate now, and why; status 1 where no token makes it."""
    found = explanation.explain(project=projects.named(project), actor=actor)
    show(found.shape(), _explained(found), as_json=as_json)
    return 0 if found.exists else 1


def _explained(found: explanation.Explanation) -> str:
    lines = [f"{found.actor} in project {found.project}", *(f"  {line}" for line in found.because)]
    for heading, names in found.permissions().items():
        lines.append(f"{heading}:")
        lines += [f"  {name}  ({why})" for name, why in names] or ["  nothing"]
    return "\n".join(lines)


class Command(ClickCommand):
    help = "Show, export, import and explain grants."
    command = grants
