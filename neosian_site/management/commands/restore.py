"""``manage.py restore``: a project's store from an archive. ``manage.py import`` is another name of it."""

from __future__ import annotations

from pathlib import Path

import click

from authz.caller import Caller
from authz.operations import projects
from neosian_site.management import moving
from neosian_site.management.bridge import ClickCommand, Progress, json_option, project_option
from neosian_site.workflows.archive import restore as workflow
from neosian_site.workflows.archive.export import MoveFailed
from neosian_site.workflows.archive.stores import LocalStore


@click.command()
@moving.directory_argument(must_exist=True)
@project_option
@moving.scope_option
@moving.conversation_option
@click.option("--resume", is_flag=True, help="Go on after a run that broke off: pass over what is there, the same.")
@json_option
def restore(
    directory: Path, project: str, scopes: tuple[str, ...], conversations: tuple[str, ...], resume: bool, as_json: bool
) -> int:
    """Fill a project's store from the archive in DIR: all of it, or only the units named.

    Verbatim: numbers, times and actors are the archive's. Every unit must be empty in the store; one that is not
    refuses the run before anything is written. Each unit lands whole or not at all.
    """
    target = LocalStore(Caller(projects.named(project).pk, "admin:restore"))
    checked, progress = Progress("checked units"), Progress("imported units")
    try:
        with moving.files():
            moved = workflow.restore(
                target,
                directory,
                scopes=scopes,
                conversations=conversations,
                resume=resume,
                checked=checked,
                progress=progress,
            )
    except MoveFailed as error:
        return moving.failed("import", error, "run it again with --resume", as_json=as_json)
    finally:
        checked.close()
        progress.close()
    moving.report("import", directory, moved, as_json=as_json)
    return 0


class Command(ClickCommand):
    help = "Fill a project's store from a directory written by export."
    command = restore
