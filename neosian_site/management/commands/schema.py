"""``manage.py schema``: the published machine contracts, as they are or as one archive."""

from __future__ import annotations

from pathlib import Path

import click

from neosian_site import contracts
from neosian_site.core.errors import InvalidValue
from neosian_site.management.bridge import ClickCommand, json_option, show, table


@click.command()
@click.argument("name", type=click.Choice(contracts.names()), required=False)
@click.option(
    "--archive",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write every contract into this new zip file; an existing one is refused.",
)
@json_option
def schema(name: str | None, archive: Path | None, as_json: bool) -> None:
    """Print the contract NAME, byte for byte; without NAME list them.

    A contract is JSON already, with --json or without. Its identifier is a name, never an address.
    """
    if name is not None and archive is not None:
        raise click.UsageError("--archive holds every contract: give no NAME with it")
    if archive is not None:
        _write(archive, as_json=as_json)
    elif name is not None:
        click.echo(contracts.content(name), nl=False)
    else:
        _list(as_json=as_json)


def _write(archive: Path, *, as_json: bool) -> None:
    try:
        contracts.write_archive(archive)
    except FileExistsError as error:
        raise InvalidValue(f"{archive} exists already; nothing was written") from error
    except OSError as error:
        raise InvalidValue(f"{archive}: {error.strerror or 'cannot be written'}") from error
    files = list(contracts.FILES.values())
    show({"archive": str(archive), "files": files}, f"wrote {len(files)} contracts to {archive}", as_json=as_json)


def _list(*, as_json: bool) -> None:
    rows = [(name, file, contracts.identifier(name), contracts.title(name)) for name, file in contracts.FILES.items()]
    keys = ("name", "file", "id", "title")
    show(
        {"schemas": [dict(zip(keys, row, strict=True)) for row in rows]},
        table(("NAME", "FILE", "IDENTIFIER", "TITLE"), rows),
        as_json=as_json,
    )


class Command(ClickCommand):
    help = "Print the published machine contracts."
    command = schema
