from __future__ import annotations

from django.db import models
from django.db.models import F, Q

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField


class Scope(models.Model):
    """A scope that holds a document, a version row or a redaction, and how many redactions it recorded."""

    pk = models.CompositePrimaryKey("project_id", "name")
    # No foreign key constraint here or in any store table: checking one would lock the project's single row on each
    # insert. Projects are never deleted while they hold rows (docs/decisions).
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    name = ByteOrderedField()
    acts = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()
    # The change feed of the scope (memory.models.change): its name, the last number given and the last one pruned.
    # No stream while nothing was changed since the feed exists.
    stream = models.UUIDField(null=True)
    origin = models.TextField(null=True)
    head = models.BigIntegerField(default=0, db_default=0)
    floor = models.BigIntegerField(default=0, db_default=0)

    class Meta:
        db_table = "memory_scope"
        constraints = [
            models.CheckConstraint(condition=Q(floor__gte=0, head__gte=F("floor")), name="scope_floor_below_head"),
            models.CheckConstraint(
                condition=Q(stream__isnull=True, origin__isnull=True, head=0)
                | Q(stream__isnull=False, origin__in=["empty", "untracked", "restored"]),
                name="scope_stream_has_origin",
            ),
        ]

    def __str__(self) -> str:
        return str(self.name)


class Redaction(models.Model):
    """One act of erasing: of a document, or of a whole scope (``path`` NULL)."""

    pk = models.CompositePrimaryKey("project_id", "scope", "position")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    scope = ByteOrderedField()
    position = models.BigIntegerField()
    path = ByteOrderedField(null=True)
    actor = models.TextField(null=True)
    created_at = models.DateTimeField()
    count = models.BigIntegerField()

    class Meta:
        db_table = "memory_redaction"
        constraints = [
            models.CheckConstraint(condition=Q(position__gte=1), name="redaction_position_from_one"),
        ]
        indexes = [
            models.Index(fields=["project", "scope", "-created_at", "-position"], name="redaction_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} act {self.position}"
