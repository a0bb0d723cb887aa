"""What the commands that move a store to and from an archive share: names, reports, failures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from neosian_site.core.names import conversation_fault, scope_fault
from neosian_site.management.bridge import coded, show
from neosian_site.workflows.archive.export import Moved, MoveFailed
from neosian_site.workflows.archive.layout import ArchiveRefused


def names(check: Callable[[str], str | None], what: str) -> Callable[..., tuple[str, ...]]:
    """A click callback that refuses a name outside its grammar before anything is opened."""

    def judge(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
        for value in values:
            if (fault := check(value)) is not None:
                raise click.BadParameter(f"{value!r} is no {what}: {fault}")
        return values

    return judge


def directory_argument(*, must_exist: bool) -> Callable[[Any], Any]:
    """The archive's directory; anything else of this name is a wrong command line."""

    def judge(context: click.Context, parameter: click.Parameter, value: Path) -> Path:
        if not value.is_dir() and (must_exist or os.path.lexists(value)):
            raise click.BadParameter(f"{value} is not a directory")
        return value

    return click.argument("directory", metavar="DIR", type=click.Path(path_type=Path), callback=judge)


scope_option = click.option(
    "--scope", "scopes", multiple=True, callback=names(scope_fault, "scope"), help="Only this scope; repeatable."
)
conversation_option = click.option(
    "--conversation",
    "conversations",
    multiple=True,
    callback=names(conversation_fault, "conversation id"),
    help="Only this conversation; repeatable.",
)


def shape(moved: Moved) -> dict[str, Any]:
    value: dict[str, Any] = {
        "kind": moved.unit.kind,
        "name": moved.unit.name,
        "documents": moved.documents,
        "versions": moved.versions,
        "redactions": moved.redactions,
        "turns": moved.turns,
        "projections": moved.projections,
    }
    return {**value, "present": True} if moved.present else value


def _line(moved: Moved) -> str:
    counts = (
        (("document", moved.documents), ("version", moved.versions), ("redaction", moved.redactions))
        if moved.unit.kind == "scope"
        else (("turn", moved.turns), ("projection", moved.projections))
    )
    told = "  ".join(counted(number, noun) for noun, number in counts)
    return f"{moved.unit.kind:12} {moved.unit.name}  {told}{'  present' if moved.present else ''}"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def report(verb: str, root: Path, moved: list[Moved], *, as_json: bool) -> None:
    """What was moved, by unit and in all."""
    past, where = {"export": ("exported", "to"), "import": ("imported", "from")}[verb]
    landed = [unit for unit in moved if not unit.present]
    scopes = sum(unit.unit.kind == "scope" for unit in landed)
    total = f"{past} {counted(scopes, 'scope')}, {counted(len(landed) - scopes, 'conversation')} {where} {root}"
    text = "\n".join([*map(_line, moved), total]) if moved else f"nothing to {verb}"
    value = {"verb": verb, "archive": str(root.absolute()), "client": None, "units": [shape(unit) for unit in moved]}
    show(value, text, as_json=as_json)


def failed(verb: str, error: MoveFailed, hint: str, *, as_json: bool) -> int:
    """A move that broke off: why, what landed before, and how to go on. Exit status 1."""
    message = _plain(error.cause) if isinstance(error.cause, OSError) else coded(error.cause)
    if as_json:
        show({"error": message, "hint": hint, "units": [shape(unit) for unit in error.moved]}, "", as_json=True)
    else:
        for moved in error.moved:
            click.echo(_line(moved))
    click.echo(f"error: {message}", err=True)
    click.echo(f"hint: {hint}", err=True)
    return 1


@contextmanager
def files() -> Iterator[None]:
    """What the file system refuses before anything was moved is a refusal like another."""
    try:
        yield
    except OSError as error:
        raise ArchiveRefused(_plain(error)) from error


def _plain(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
