"""``manage.py changes``: how long change feeds are kept, and starting one over."""

from __future__ import annotations

import click

from authz.caller import Caller
from authz.operations import projects
from memory.operations import changes as operations
from memory.operations import store
from neosian_site.core import clock
from neosian_site.management.bridge import ClickCommand, json_option, project_option, show
from neosian_site.management.moving import counted
from neosian_site.management.times import duration

actor_option = click.option("--actor", default="admin:changes", show_default=True, help="Whom the log names.")


@click.group()
def changes() -> None:
    """Prune and reset the change feeds of a project's scopes. Documents and their history are never touched."""


@changes.command()
@project_option
@click.option("--scope", "scopes", multiple=True, help="Only this scope's feed; may be given several times.")
@click.option("--older-than", metavar="Nd", help="Events recorded more than N days (Nd) or hours (Nh) ago.")
@click.option("--keep", type=click.IntRange(0), help="Events beyond the newest N of each feed.")
@click.option("--write", is_flag=True, help="Remove them; without it only say how many there are.")
@actor_option
@json_option
def prune(
    project: str,
    scopes: tuple[str, ...],
    older_than: str | None,
    keep: int | None,
    write: bool,
    actor: str,
    as_json: bool,
) -> None:
    """Forget old events of every feed, or of the named scopes'. A preview unless --write is given.

    A reader that has not come so far is told what it missed, and reads its scope in full.
    """
    if older_than is None and keep is None:
        raise click.UsageError("give --older-than, --keep or both")
    before = None if older_than is None else clock.now() - duration(older_than)
    caller = Caller(projects.named(project).pk, actor)
    feeds: list[dict[str, str | int]] = []
    removed = 0
    # One scope after the other, each in a transaction of its own.
    for scope in scopes or store.scopes(caller):
        through = operations.retention_cursor(caller, scope=scope, before=before, keep=keep)
        if through is None:
            continue
        pruned = operations.prune(caller, scope=scope, through=through, write=write)
        if pruned.removed:
            removed += pruned.removed
            feeds.append({"scope": scope, "removed": pruned.removed, "earliest_cursor": pruned.earliest})
    verb = "removed" if write else "would remove"
    lines = [f"{feed['scope']}  {feed['removed']}" for feed in feeds]
    total = f"{verb} {counted(removed, 'event')} of {counted(len(feeds), 'feed')}"
    lines.append(total if feeds else "nothing to remove")
    value = {"verb": "prune", "project": project, "write": write, "removed": removed, "feeds": feeds}
    show(value, "\n".join(lines), as_json=as_json)


@changes.command()
@project_option
@click.option("--scope", "scopes", multiple=True, help="This scope's feed; may be given several times.")
@click.option("--all", "every", is_flag=True, help="Every feed of the project.")
@actor_option
@json_option
def reset(project: str, scopes: tuple[str, ...], every: bool, actor: str, as_json: bool) -> None:
    """Start feeds over, which tells every reader to read its scope in full.

    To be run after the database was taken back to an earlier moment: until then a feed could repeat numbers.
    """
    if every == bool(scopes):
        raise click.UsageError("give --scope or --all")
    caller = Caller(projects.named(project).pk, actor)
    held = store.scopes(caller)
    for scope in scopes:
        # Before the first one is reset: a mistyped name changes nothing.
        if scope not in held:
            raise operations.ScopeMissing(f"no scope {scope!r} holds anything")
    streams = {scope: str(operations.reset(caller, scope=scope)) for scope in scopes or held}
    lines = [*(f"{scope}  {stream}" for scope, stream in streams.items()), f"reset {counted(len(streams), 'feed')}"]
    value = {
        "verb": "reset",
        "project": project,
        "feeds": [{"scope": scope, "stream": stream} for scope, stream in streams.items()],
    }
    show(value, "\n".join(lines), as_json=as_json)


class Command(ClickCommand):
    help = "Prune and reset change feeds."
    command = changes
