"""Wire clients kept in the database."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from authz import token_table, tokens
from authz.models import ApiToken, Project
from authz.names import check_actor
from authz.operations import events
from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.text import storable

TOKEN_PREFIX = "ns_"  # noqa: S105 - a label, so that a leaked token can be recognised
TOKEN_BYTES = 32
HINT_CHARS = 8
MAX_PREFIX_CHARS = 512


class ClientTaken(InvalidValue):
    """The project has a live client of this actor."""


class ClientMissing(InvalidValue):
    """The project has no live client of this actor."""


@dataclass(frozen=True, slots=True)
class IssuedClient:
    """A client as made; the only moment its token can be seen."""

    client: ApiToken
    token: str


def create(
    *,
    project: Project,
    actor: str,
    scope_prefix: str | None = None,
    conversation_prefix: str | None = None,
    expires_at: datetime | None = None,
    by: str = events.COMMAND,
) -> IssuedClient:
    """A client with a fresh token.

    No prefix: it reaches the whole project. With one, the half that is not given is closed (``""`` opens it).

    :raises ClientTaken: the project has a live client of this actor
    """
    check_actor(actor)
    for prefix in (scope_prefix, conversation_prefix):
        if prefix is not None and (len(prefix) > MAX_PREFIX_CHARS or not storable(prefix)):
            raise InvalidValue(f"{quoted(prefix[:100])} is no prefix: at most {MAX_PREFIX_CHARS} characters of text")
    token = TOKEN_PREFIX + secrets.token_urlsafe(TOKEN_BYTES)
    return IssuedClient(_add(project, actor, token, scope_prefix, conversation_prefix, expires_at, by), token)


def _add(
    project: Project,
    actor: str,
    token: str,
    scope_prefix: str | None,
    conversation_prefix: str | None,
    expires_at: datetime | None,
    by: str,
) -> ApiToken:
    try:
        with transaction.atomic():
            client = ApiToken.objects.create(
                project=project,
                actor=actor,
                token_sha256=tokens.digest(os.fsencode(token)),
                hint=_hint(token),
                constrained=scope_prefix is not None or conversation_prefix is not None,
                scope_prefix=scope_prefix,
                conversation_prefix=conversation_prefix,
                created_at=clock.now(),
                expires_at=expires_at,
            )
            events.record(project=project, by=by, subject=f"client {actor}", before=None, after=shape(client))
    except IntegrityError as error:
        if "apitoken_digest_uniq" in str(error):
            raise ClientTaken(f"the token of {actor!r} is another client's already") from error
        raise ClientTaken(f"project {project.slug!r} has a live client {actor!r} already; revoke it first") from error
    return client


def _hint(token: str) -> str:
    # Of a short token, which only a table can bring, the hint would be most of it.
    return token[:HINT_CHARS] if len(token) >= 4 * HINT_CHARS else ""


def import_table(*, project: Project, table: str, by: str = events.COMMAND) -> tuple[list[str], list[str]]:
    """Make a client of each entry of a token table, all or none; which actors were made and which were there.

    An entry keeps what it reaches in the table: only ``+prefix`` leaves every scope open, which is stored as such.
    Importing a table again changes nothing.

    :raises TableRefused: the table cannot be read
    :raises ClientTaken: an actor has a live client with another token, or a token is another client's
    """
    made: list[str] = []
    present: list[str] = []
    with transaction.atomic():
        for entry in token_table.parse(table):
            live = ApiToken.objects.filter(project=project, actor=entry.actor, revoked_at=None).first()
            if live is not None and bytes(live.token_sha256) == tokens.digest(os.fsencode(entry.token)):
                present.append(entry.actor)
                continue
            allowance = entry.allowance
            _add(
                project,
                entry.actor,
                entry.token,
                None if allowance is None else allowance.scope_prefix,
                None if allowance is None else allowance.conversation_prefix,
                None,
                by,
            )
            made.append(entry.actor)
    return made, present


def revoke(*, project: Project, actor: str, by: str = events.COMMAND) -> ApiToken:
    """End a client for good; its token is refused everywhere within the cache time of ``authz.tokens``.

    :raises ClientMissing: no live client of this actor
    """
    return _change(project, actor, by, revoked_at=clock.now())


def suspend(*, project: Project, actor: str, by: str = events.COMMAND) -> ApiToken:
    """Refuse a client's token until it is resumed; repeating changes nothing.

    :raises ClientMissing: no live client of this actor
    """
    return _change(project, actor, by, suspended_at=clock.now())


def resume(*, project: Project, actor: str, by: str = events.COMMAND) -> ApiToken:
    """Take a suspended client's token again.

    :raises ClientMissing: no live client of this actor
    """
    return _change(project, actor, by, suspended_at=None)


def expire(*, project: Project, actor: str, at: datetime | None, by: str = events.COMMAND) -> ApiToken:
    """Set when a client's token ends by itself; ``None`` for never.

    :raises ClientMissing: no live client of this actor
    """
    return _change(project, actor, by, expires_at=at)


def _change(project: Project, actor: str, by: str, **values: datetime | None) -> ApiToken:
    with transaction.atomic():
        client = ApiToken.objects.select_for_update().filter(project=project, actor=actor, revoked_at=None).first()
        if client is None:
            raise ClientMissing(f"project {project.slug!r} has no live client {actor!r}")
        before = shape(client)
        for name, value in values.items():
            if name == "suspended_at" and value is not None and client.suspended_at is not None:
                continue  # It stays suspended since when it was.
            setattr(client, name, value)
        client.save(update_fields=list(values))
        events.record(project=project, by=by, subject=f"client {actor}", before=before, after=shape(client))
    return client


def shape(client: ApiToken) -> dict[str, Any]:
    """A client as JSON, without its token or its digest."""
    times = ("created_at", "expires_at", "suspended_at", "revoked_at")
    return {
        "actor": client.actor,
        "hint": client.hint,
        "constrained": client.constrained,
        "scope_prefix": client.scope_prefix,
        "id_prefix": client.conversation_prefix,
        **{name: None if (at := getattr(client, name)) is None else clock.render(at) for name in times},
    }


def listed(*, project: Project | None = None) -> list[ApiToken]:
    """Clients by project and actor, revoked ones too; never their tokens."""
    found = ApiToken.objects.select_related("project").order_by("project__slug", "actor", "created_at", "id")
    return list(found if project is None else found.filter(project=project))
