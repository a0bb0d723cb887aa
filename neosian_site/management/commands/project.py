"""``manage.py project``: tenants."""

from __future__ import annotations

import click

from authz.models.project import OPEN, SCOPED
from authz.operations import grants, projects
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, json_option, show, table


@click.group()
def project() -> None:
    """Make, list, suspend and scope projects. A project is a whole store: its names and rows are its own."""


@project.command()
@click.option("--name", required=True, help="Its name: lower-case letters, digits and hyphens.")
@click.option("--label", default="", help="A title for people.")
@json_option
def create(name: str, label: str, as_json: bool) -> None:
    """Make an empty project."""
    made = projects.create(slug=name, label=label)
    show({"project": projects.shape(made)}, f"project {made.slug} made", as_json=as_json)


@project.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Every project."""
    found = projects.listed()
    rows = [
        (p.slug, "suspended" if p.suspended_at else "active", p.access, clock.render(p.created_at), p.label)
        for p in found
    ]
    show(
        {"projects": [projects.shape(p) for p in found]},
        table(("NAME", "STATE", "ACCESS", "CREATED", "LABEL"), rows),
        as_json=as_json,
    )


@project.command()
@click.option("--name", required=True, help="The project's name.")
@json_option
def suspend(name: str, as_json: bool) -> None:
    """Refuse every token of a project, on every server within 5 seconds, until it is resumed. Nothing is removed."""
    changed = projects.suspend(project=projects.named(name))
    show({"project": projects.shape(changed)}, f"project {name} suspended", as_json=as_json)


@project.command()
@click.option("--name", required=True, help="The project's name.")
@json_option
def resume(name: str, as_json: bool) -> None:
    """Take a suspended project's tokens again."""
    changed = projects.resume(project=projects.named(name))
    show({"project": projects.shape(changed)}, f"project {name} resumed", as_json=as_json)


@project.command()
@click.option("--name", required=True, help="The project's name.")
@click.argument("mode", type=click.Choice([OPEN, SCOPED]))
@json_option
def access(name: str, mode: str, as_json: bool) -> None:
    """Switch grants on (scoped) or off (open) for every client of a project.

    While it is scoped a client may do what its grants say and nothing else; see "grants explain".
    """
    named = projects.named(name)
    changed = projects.set_access(project=named, access=mode)
    text = f"project {name} is {mode}"
    if mode == SCOPED and not (count := len(grants.entries(project=named))):
        text += "; it has no grants, so no client may do anything"
    elif mode == SCOPED:
        text += f"; {count} {'client has' if count == 1 else 'clients have'} grants"
    show({"project": projects.shape(changed)}, text, as_json=as_json)


class Command(ClickCommand):
    help = "Make, list, suspend and scope projects."
    command = project
