"""``manage.py project``: tenants."""

from __future__ import annotations

from typing import Any

import click

from authz.models import Project
from authz.operations import projects
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, json_option, show, table


@click.group()
def project() -> None:
    """Make and list projects. A project is a whole store: its names and rows are its own."""


@project.command()
@click.option("--name", required=True, help="Its name: lower-case letters, digits and hyphens.")
@click.option("--label", default="", help="A title for people.")
@json_option
def create(name: str, label: str, as_json: bool) -> None:
    """Make an empty project."""
    made = projects.create(slug=name, label=label)
    show({"project": _shape(made)}, f"project {made.slug} made", as_json=as_json)


@project.command("list")
@json_option
def list_(as_json: bool) -> None:
    """Every project."""
    found = projects.listed()
    rows = [(p.slug, "suspended" if p.suspended_at else "active", clock.render(p.created_at), p.label) for p in found]
    show({"projects": [_shape(p) for p in found]}, table(("NAME", "STATE", "CREATED", "LABEL"), rows), as_json=as_json)


def _shape(row: Project) -> dict[str, Any]:
    return {
        "name": row.slug,
        "label": row.label,
        "created_at": clock.render(row.created_at),
        "suspended_at": clock.render(row.suspended_at) if row.suspended_at else None,
    }


class Command(ClickCommand):
    help = "Make and list projects."
    command = project
