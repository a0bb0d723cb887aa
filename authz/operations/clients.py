"""Wire clients kept in the database."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError, transaction

from authz import tokens
from authz.models import ApiToken, Project
from authz.names import check_actor
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
    try:
        with transaction.atomic():
            client = ApiToken.objects.create(
                project=project,
                actor=actor,
                token_sha256=tokens.digest(token.encode()),
                hint=token[:HINT_CHARS],
                constrained=scope_prefix is not None or conversation_prefix is not None,
                scope_prefix=scope_prefix,
                conversation_prefix=conversation_prefix,
                created_at=clock.now(),
                expires_at=expires_at,
            )
    except IntegrityError as error:
        raise ClientTaken(f"project {project.slug!r} has a live client {actor!r} already; revoke it first") from error
    return IssuedClient(client, token)


def revoke(*, project: Project, actor: str) -> ApiToken:
    """End a client; its token is refused everywhere within the cache time of ``authz.tokens``.

    :raises ClientMissing: no live client of this actor
    """
    with transaction.atomic():
        client = ApiToken.objects.select_for_update().filter(project=project, actor=actor, revoked_at=None).first()
        if client is None:
            raise ClientMissing(f"project {project.slug!r} has no live client {actor!r}")
        client.revoked_at = clock.now()
        client.save(update_fields=["revoked_at"])
    return client


def listed(*, project: Project | None = None) -> list[ApiToken]:
    """Clients by project and actor, revoked ones too; never their tokens."""
    found = ApiToken.objects.select_related("project").order_by("project__slug", "actor", "created_at", "id")
    return list(found if project is None else found.filter(project=project))
