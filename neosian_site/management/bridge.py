"""Click commands behind ``manage.py``: parse, call, print.

A refusal is one line on standard error and exit status 1 (2 for a wrong command line). ``--json`` prints one object,
of a refusal too: ``{"error", "hint"}``, where ``error`` is ``usage`` for a wrong command line.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import click
from django.core.management.base import BaseCommand
from django.db import InterfaceError, OperationalError, connections

from authz.models.project import DEFAULT_SLUG
from authz.operations.projects import ProjectMissing
from conversations.errors import ConversationFormatUnsupported, ConversationIdInvalid, ConversationOccupied
from memory.errors import DocumentNotFound, MemoryConflict, MemoryFormatUnsupported, PathInvalid, ScopeInvalid
from neosian_site.core.errors import DomainError

# The contract's codes, for refusals a person may look up.
CODES: dict[type, str] = {
    ScopeInvalid: "memory_scope_invalid",
    PathInvalid: "memory_path_invalid",
    DocumentNotFound: "memory_document_not_found",
    MemoryConflict: "memory_conflict",
    MemoryFormatUnsupported: "memory_format_unsupported",
    ConversationIdInvalid: "agent_conversation_id_invalid",
    ConversationOccupied: "agent_conversation_conflict",
    ConversationFormatUnsupported: "agent_conversation_format_unsupported",
    ProjectMissing: "project_not_found",
}


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
            if "--json" in args:
                message = error.format_message()
                usage = isinstance(error, click.UsageError)
                _echo({"error": "usage", "hint": message} if usage else {"error": message, "hint": None})
            error.show()
            return error.exit_code
        except click.Abort:
            click.echo("aborted", err=True)
            return 130
        except DomainError as error:
            return _refused(coded(error), as_json="--json" in args)
        except (OperationalError, InterfaceError) as error:
            reason = str(error).strip().partition("\n")[0]
            return _refused(f"the database is not available: {reason}", as_json="--json" in args)
        finally:
            connections.close_all()
        return status if isinstance(status, int) else 0

    def print_help(self, prog_name: str, subcommand: str) -> None:
        self.run(["--help"], prog_name=f"{prog_name} {subcommand}")

    def handle(self, *args: Any, **options: Any) -> None:
        raise NotImplementedError("the command line is click's")


def _refused(message: str, *, as_json: bool) -> int:
    if as_json:
        _echo({"error": message, "hint": None})
    click.echo(f"error: {message}", err=True)
    return 1


def coded(error: Exception) -> str:
    """A refusal's message, behind the contract's code where it has one."""
    code = next((CODES[kind] for kind in type(error).__mro__ if kind in CODES), None)
    return str(error) if code is None else f"[{code}] {error}"


project_option = click.option(
    "--project", default=DEFAULT_SLUG, envvar="NEOSIAN_PROJECT", show_default=True, help="The project's name."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")


def show(value: dict[str, Any], text: str, *, as_json: bool) -> None:
    """The command's result, for a program or for a person."""
    if as_json:
        _echo(value)
    else:
        click.echo(text)


def _echo(value: dict[str, Any]) -> None:
    click.echo(json.dumps(value, ensure_ascii=False))


def table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Aligned columns, for a person."""
    widths = [max(len(row[column]) for row in (headings, *rows)) for column in range(len(headings))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    )


class Progress:
    """How far long work has come, on standard error: on a terminal, or once it takes longer than a moment."""

    PATIENCE_SECONDS = 2.0
    # A line that is written over may change often, a log that grows may not.
    TERMINAL_STEP_SECONDS = 0.5
    LOG_STEP_SECONDS = 10.0

    def __init__(self, what: str) -> None:
        self.what = what
        self.started = time.monotonic()
        self.told = float("-inf")
        self.said = False

    def __call__(self, done: int, total: int | None = None) -> None:
        now, terminal = time.monotonic(), sys.stderr.isatty()
        step = self.TERMINAL_STEP_SECONDS if terminal else self.LOG_STEP_SECONDS
        if now - self.told < step or not (terminal or now - self.started > self.PATIENCE_SECONDS):
            return
        self.told, self.said = now, True
        text = f"{self.what}: {done}" + ("" if total is None else f" of {total}")
        click.echo(f"\r{text}" if terminal else text, err=True, nl=not terminal)

    def close(self) -> None:
        """End the line a terminal is left on."""
        if self.said and sys.stderr.isatty():
            click.echo(err=True)
