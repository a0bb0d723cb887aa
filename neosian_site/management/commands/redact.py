"""``manage.py redact``: blank turns of a conversation."""

from __future__ import annotations

import re

import click

from authz.caller import Caller
from authz.operations import projects
from neosian_site.core.names import conversation_fault
from neosian_site.management.bridge import ClickCommand, json_option, project_option, show
from neosian_site.management.moving import counted
from neosian_site.workflows import erasure

_NUMBERS = re.compile(r"[0-9]{1,18}(?:,[0-9]{1,18})*")


def _id(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if (fault := conversation_fault(value)) is not None:
        raise click.BadParameter(f"{value!r} is no conversation id: {fault}")
    return value


def _turns(context: click.Context, parameter: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    numbers = [int(number) for number in value.split(",")] if _NUMBERS.fullmatch(value) else []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter("turn numbers start at 1 and are joined by commas")
    return numbers


@click.command()
@click.argument("conversation", callback=_id)
@click.option("--all", "every", is_flag=True, help="Every turn, and the sessions documents of every scope.")
@click.option("--through", type=click.IntRange(1), metavar="N", help="Turns 1 to N.")
@click.option("--turns", callback=_turns, metavar="N[,N...]", help="These turns.")
@project_option
@click.option("--actor", default="admin:redact", show_default=True, help="Whom the trail names.")
@json_option
def redact(
    conversation: str,
    every: bool,
    through: int | None,
    turns: list[int] | None,
    project: str,
    actor: str,
    as_json: bool,
) -> None:
    """Blank turns of a conversation, and every projection over them. Numbers, times and authors stay.

    What was exported or delivered before is not recalled, and documents other than sessions/<id> are not touched.
    """
    if every + (through is not None) + (turns is not None) != 1:
        raise click.UsageError("give exactly one of --all, --through N or --turns N[,N...]")
    caller = Caller(projects.named(project).pk, actor)
    count, documents = erasure.redact(caller, conversation_id=conversation, through=through, turns=turns)
    first = f"redacted {counted(count, 'turn')} of {conversation}" if count else f"no turns matched in {conversation}"
    lines = [first, *(f"redacted /{document.path} in {document.scope}" for document in documents)]
    value = {
        "verb": "redact",
        "conversation_id": conversation,
        "count": count,
        "documents": [{"scope": document.scope, "path": document.path} for document in documents],
        "client": None,
    }
    show(value, "\n".join(lines), as_json=as_json)


class Command(ClickCommand):
    help = "Blank turns of a conversation."
    command = redact
