"""Click commands behind ``manage.py``: parse, call, print.

A refusal is one line on standard error and exit status 1 (2 for a wrong command line); ``--json`` prints one object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any, ClassVar

import click
from django.core.management.base import BaseCommand
from django.db import connections

from neosian_site.core.errors import DomainError


class ClickCommand(BaseCommand):
    """A Django command that hands its whole command line to ``command``."""

    command: ClassVar[click.Command]

    def run_from_argv(self, argv: list[str]) -> None:
        sys.exit(self.run(argv[2:], prog_name=f"manage.py {argv[1]}"))

    def run(self, args: list[str], prog_name: str) -> int:
        """The exit status of the command line ``args``."""
        try:
            status = self.command.main(args, prog_name=prog_name, standalone_mode=False)
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            click.echo("aborted", err=True)
            return 130
        except DomainError as error:
            click.echo(f"error: {error}", err=True)
            return 1
        finally:
            connections.close_all()
        return status if isinstance(status, int) else 0

    def print_help(self, prog_name: str, subcommand: str) -> None:
        self.run(["--help"], prog_name=f"{prog_name} {subcommand}")

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("the command line is click's")


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def show(value: dict[str, Any], text: str, *, as_json: bool) -> None:
    """The command's result, for a program or for a person."""
    click.echo(json.dumps(value, ensure_ascii=False) if as_json else text)


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Aligned columns, for a person."""
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    )
