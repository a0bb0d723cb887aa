"""Grants kept in the database: read, put, removed, imported (seeds/wire "Exact-scope grants").

A client's grants are written whole, in one transaction with their place in the trail; every server process follows
within the cache time of ``authz.tokens``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.db import transaction

from authz import models
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.models import GrantClient, Project
from authz.names import check_actor
from authz.operations import events
from neosian_site.core.errors import InvalidValue


class GrantsMissing(InvalidValue):
    """The project has no grants for this actor."""


def entries(*, project: Project) -> tuple[ClientEntry, ...]:
    """Every client's grants, by actor."""
    found = GrantClient.objects.filter(project=project).order_by("actor").prefetch_related("scopes", "conversations")
    return tuple(entry(client) for client in found)


def entry(client: GrantClient) -> ClientEntry:
    """A client's rows as the value they make."""
    scopes = sorted(client.scopes.all(), key=lambda row: row.scope)
    conversations = sorted(client.conversations.all(), key=lambda row: row.pk)
    return ClientEntry(
        client.actor,
        client.operator,
        tuple(ScopeGrant(row.scope, row.read, row.write) for row in scopes),
        tuple(
            ConversationGrant(row.prefix, None if row.ids is None else tuple(row.ids), row.read, row.append)
            for row in conversations
        ),
    )


def shape(value: ClientEntry | None) -> dict[str, Any] | None:
    """The entry as JSON, for the trail and for programs."""
    return None if value is None else asdict(value)


def of(*, project: Project, actor: str) -> ClientEntry | None:
    """The grants of one client, or none."""
    client = GrantClient.objects.filter(project=project, actor=actor).first()
    return None if client is None else entry(client)


def put(*, project: Project, value: ClientEntry, by: str) -> None:
    """Make a client's grants exactly ``value``, whatever they were.

    :raises InvalidValue: no actor
    """
    check_actor(value.actor)
    with transaction.atomic():
        _lock(project)
        _put(project, value, by)


def remove(*, project: Project, actor: str, by: str) -> None:
    """Take a client's grants away; while the project is scoped it may then do nothing.

    :raises GrantsMissing: it has none
    """
    with transaction.atomic():
        _lock(project)
        if not _remove(project, actor, by):
            raise GrantsMissing(f"project {project.slug!r} has no grants for {actor!r}")


def replace(*, project: Project, values: Iterable[ClientEntry], by: str) -> dict[str, list[str]]:
    """Make the project's grants exactly ``values``; which actors were added, changed and removed by it."""
    wanted = {value.actor: value for value in values}
    for actor in wanted:
        check_actor(actor)
    with transaction.atomic():
        _lock(project)
        present = {found.actor: found for found in entries(project=project)}
        done: dict[str, list[str]] = {
            "added": sorted(wanted.keys() - present.keys()),
            "changed": sorted(actor for actor in wanted.keys() & present.keys() if wanted[actor] != present[actor]),
            "removed": sorted(present.keys() - wanted.keys()),
        }
        for actor in [*done["added"], *done["changed"]]:
            _put(project, wanted[actor], by)
        for actor in done["removed"]:
            _remove(project, actor, by)
    return done


def _lock(project: Project) -> None:
    # One change of a project's grants at a time: the trail's before and after are what they say.
    Project.objects.select_for_update().get(pk=project.pk)


def _put(project: Project, value: ClientEntry, by: str) -> None:
    before = of(project=project, actor=value.actor)
    client, _ = GrantClient.objects.update_or_create(
        project=project, actor=value.actor, defaults={"operator": value.operator}
    )
    client.scopes.all().delete()
    client.conversations.all().delete()
    models.ScopeGrant.objects.bulk_create(
        models.ScopeGrant(client=client, scope=grant.scope, read=grant.read, write=grant.write)
        for grant in value.scopes
    )
    models.ConversationGrant.objects.bulk_create(
        models.ConversationGrant(
            client=client,
            prefix=grant.prefix,
            ids=None if grant.ids is None else list(grant.ids),
            read=grant.read,
            append=grant.append,
        )
        for grant in value.conversations
    )
    events.record(project=project, by=by, subject=f"grants {value.actor}", before=shape(before), after=shape(value))


def _remove(project: Project, actor: str, by: str) -> bool:
    before = of(project=project, actor=actor)
    if before is None:
        return False
    GrantClient.objects.filter(project=project, actor=actor).delete()
    events.record(project=project, by=by, subject=f"grants {actor}", before=shape(before), after=None)
    return True
