"""``manage.py conformance``: is a server one of wire 6?"""

from __future__ import annotations

import json
import logging
from urllib.parse import urlsplit

import click

from neosian_site.conformance import runner
from neosian_site.conformance.checks import scrub
from neosian_site.conformance.registry import BASE, FULL, Case
from neosian_site.conformance.target import Unusable, connect
from neosian_site.management.bridge import ClickCommand, json_option, table


@click.command()
@click.option("--base-url", metavar="URL", help="Where the server's routes begin, e.g. https://memory.example.")
@click.option(
    "--token",
    envvar="NEOSIAN_CONFORMANCE_TOKEN",
    show_envvar=True,
    help="An unconstrained bearer token; prefer the variable, other users of a machine see command lines.",
)
@click.option(
    "--profile",
    type=click.Choice([BASE, FULL]),
    default=FULL,
    show_default=True,
    help="base: the handshake, the gate, every route, and search where it is declared; full: all that is declared.",
)
@click.option(
    "--constrained-token",
    metavar="TOKEN",
    envvar="NEOSIAN_CONFORMANCE_CONSTRAINED_TOKEN",
    show_envvar=True,
    help="A second token that reaches a part of the store only; adds the authorization cases.",
)
@click.option("--scope-prefix", help="What the second token's scopes begin with (with grants: a scope it may read).")
@click.option("--id-prefix", help="What the second token's conversation ids begin with.")
@click.option("--only", "only", metavar="NAME", multiple=True, help="Only this case or group; may be repeated.")
@click.option("--list", "list_", is_flag=True, help="Print the cases and ask no server.")
@click.option("--keep", is_flag=True, help="Do not redact what the cases wrote.")
@json_option
def conformance(
    base_url: str | None,
    token: str | None,
    profile: str,
    constrained_token: str | None,
    scope_prefix: str | None,
    id_prefix: str | None,
    only: tuple[str, ...],
    list_: bool,
    keep: bool,
    as_json: bool,
) -> int:
    """Hold a server to wire 6 from outside, over HTTP.

    Every case uses names nobody used before and redacts what it wrote, so the server may be in use; what stays are
    blank rows and the trail of their redaction. What a server does not declare is skipped and said so.

    Where exact-scope grants are on, no token reaches a fresh scope: the storage cases are skipped, and those of the
    grants run. Certify storage with the grants off.

    Exit status: 0 all held, 1 something failed or nothing ran, 2 the command line is wrong or the server cannot be
    reached.
    """
    try:
        cases = runner.select(profile, only)
    except ValueError as error:
        raise click.UsageError(f"no case and no group is called {error}; --list names them") from error
    if list_:
        _list(cases, as_json=as_json)
        return 0
    url = _url(base_url)
    # It would log a line for each request.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    if constrained_token is None and (scope_prefix is not None or id_prefix is not None):
        raise click.UsageError("--scope-prefix and --id-prefix describe --constrained-token; give it, too")
    if constrained_token is not None and scope_prefix is None and id_prefix is None:
        raise click.UsageError("give --scope-prefix, --id-prefix or both with --constrained-token")
    try:
        target = connect(
            url,
            _token(token, "--token"),
            constrained_token=None if constrained_token is None else _token(constrained_token, "--constrained-token"),
            scope_prefix=scope_prefix,
            id_prefix=id_prefix,
        )
    except Unusable as error:
        click.echo(f"error: {scrub(str(error))}", err=True)
        return 2
    try:
        report = runner.run(
            target,
            cases,
            base_url=url,
            profile=profile,
            keep=keep,
            on_result=None if as_json else _show,
        )
    finally:
        target.close()
    click.echo(scrub(json.dumps(report.shape()) if as_json else report.summary))
    return 0 if report.good else 1


def _list(cases: list[Case], *, as_json: bool) -> None:
    if as_json:
        shown = [{"name": c.name, "group": c.group, "profile": c.profile, "needs": list(c.needs)} for c in cases]
        click.echo(json.dumps({"cases": shown}))
    else:
        rows = [(c.name, c.profile, ", ".join(c.needs)) for c in cases]
        click.echo(table(("CASE", "PROFILE", "NEEDS"), rows))


def _show(result: runner.Result) -> None:
    colour = {runner.PASS: "green", runner.FAIL: "red", runner.SKIP: "yellow"}[result.outcome]
    reason = f" - {scrub(result.reason)}" if result.reason else ""
    click.echo(f"{click.style(result.outcome, fg=colour)} {result.name}{reason}")


def _url(text: str | None) -> str:
    if text is None:
        raise click.UsageError("give --base-url")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable or parts.query or parts.fragment:
        raise click.UsageError("--base-url must be an http or https address, such as http://127.0.0.1:8000")
    if "@" in parts.netloc:
        raise click.UsageError("--base-url must hold no credentials; tokens have options of their own")
    return text.rstrip("/")


def _token(text: str | None, option: str) -> str:
    if not text:
        raise click.UsageError(f"give {option} or set its variable")
    if text != text.strip() or any(ord(char) < 32 or ord(char) == 127 for char in text):
        # It would be no header; and what it is, is not said.
        raise click.UsageError(f"{option} holds blanks at an end, or control characters")
    return text


class Command(ClickCommand):
    help = "Hold any server of wire 6 to its contract, over HTTP."
    command = conformance
