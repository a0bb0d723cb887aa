from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from authz.models.project import Project
from neosian_site.core.fields import ByteOrderedField


class GrantClient(models.Model):
    """The grants of one client of a project, by its actor; they outlive its tokens.

    Looked at only while the project is ``scoped``; a client without a row may then do nothing.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="grant_clients")
    actor = ByteOrderedField()
    operator = models.BooleanField(
        default=False, help_text="May erase, prune, enumerate and restore. For trusted administrators only."
    )

    class Meta:
        verbose_name = "grant"
        constraints = [models.UniqueConstraint(fields=["project", "actor"], name="grantclient_actor_uniq")]

    def __str__(self) -> str:
        return str(self.actor)


class ScopeGrant(models.Model):
    """What a client may do in one memory scope, matched as a whole string."""

    client = models.ForeignKey(GrantClient, on_delete=models.CASCADE, related_name="scopes")
    scope = ByteOrderedField()
    read = models.BooleanField(default=False)
    write = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["client", "scope"], name="scopegrant_scope_uniq")]

    def __str__(self) -> str:
        return str(self.scope)


class ConversationGrant(models.Model):
    """What a client may do in the conversations that begin with a prefix, or in those of a list."""

    client = models.ForeignKey(GrantClient, on_delete=models.CASCADE, related_name="conversations")
    prefix = ByteOrderedField(null=True, blank=True)
    ids = ArrayField(ByteOrderedField(), null=True, blank=True)
    read = models.BooleanField(default=False)
    append = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["client", "prefix"], name="conversationgrant_prefix_uniq"),
            models.CheckConstraint(
                condition=Q(prefix__isnull=True) ^ Q(ids__isnull=True), name="conversationgrant_prefix_or_ids"
            ),
            models.CheckConstraint(
                condition=Q(ids__isnull=True) | Q(ids__len__gte=1), name="conversationgrant_ids_not_empty"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}…" if self.prefix is not None else ", ".join((self.ids or [])[:3])


class AuthzEvent(models.Model):
    """One change of who may do what: by whom, to what, from what to what. Rows are never changed or removed."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="authz_events")
    at = models.DateTimeField()
    # "admin:<user id>" or the command's --by.
    by = models.TextField()
    # What was changed: "client client:alice", "grants client:alice", "project".
    subject = models.TextField()
    # JSON objects without a secret; null for what was not there.
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        verbose_name = "access change"
        indexes = [models.Index(fields=["project", "-at", "-id"], name="authzevent_newest")]

    def __str__(self) -> str:
        return f"{self.subject} by {self.by}"
