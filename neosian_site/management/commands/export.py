"""``manage.py export``: a project's store, whole or in part, as a directory of readable files."""

from __future__ import annotations

from pathlib import Path

import click

from authz.caller import Caller
from authz.operations import projects
from neosian_site.management import moving
from neosian_site.management.bridge import ClickCommand, Progress, json_option, project_option
from neosian_site.workflows.archive import export as workflow
from neosian_site.workflows.archive.export import MoveFailed
from neosian_site.workflows.archive.stores import LocalStore


@click.command()
@moving.directory_argument(must_exist=False)
@project_option
@moving.scope_option
@moving.conversation_option
@json_option
def export(
    directory: Path, project: str, scopes: tuple[str, ...], conversations: tuple[str, ...], as_json: bool
) -> int:
    """Write a project's store to DIR: every scope and conversation, or only those named.

    Pause writers for a picture of one moment. Nothing in DIR is ever overwritten.
    """
    source = LocalStore(Caller(projects.named(project).pk, "admin:export"))
    progress = Progress("exported units")
    try:
        with moving.files():
            units = workflow.named_units(scopes, conversations) or source.units()
            moved = workflow.export(source, directory, units, progress)
    except MoveFailed as error:
        return moving.failed("export", error, "export again into an empty directory", as_json=as_json)
    finally:
        progress.close()
    moving.report("export", directory, moved, as_json=as_json)
    return 0


class Command(ClickCommand):
    help = "Write a project's store to a directory."
    command = export
