from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField


class _Event(models.Model):
    """What both tables say of a change: which document, at which version, by whom; never its content."""

    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    scope = ByteOrderedField()
    kind = models.TextField()
    path = ByteOrderedField(null=True)
    version = models.BigIntegerField(null=True)
    previous_path = ByteOrderedField(null=True)
    previous_version = models.BigIntegerField(null=True)
    actor = models.TextField(null=True)
    count = models.BigIntegerField(null=True)
    recorded_at = models.DateTimeField()

    class Meta:
        abstract = True


class PendingChange(_Event):
    """A committed change that has no number in its scope's feed yet.

    A write puts it here in its own transaction; numbering (memory.operations.feed) moves it to :class:`ChangeEvent`.
    Numbers cannot be given by the write: they are dense and in commit order, so one write of a scope would have to
    wait for the other's commit (docs/decisions).
    """

    pk = models.CompositePrimaryKey("project_id", "scope", "arrival")
    # Taken once the locks that order changes of one path are held: ascending arrivals are their order.
    arrival = models.BigIntegerField(db_default=RawSQL("nextval('memory_change_arrival')", ()))

    class Meta:
        db_table = "memory_pendingchange"

    def __str__(self) -> str:
        return f"{self.scope} pending {self.arrival}"


class ChangeEvent(_Event):
    """One numbered event of a scope's feed."""

    pk = models.CompositePrimaryKey("project_id", "scope", "sequence")
    sequence = models.BigIntegerField()

    class Meta:
        db_table = "memory_changeevent"
        constraints = [
            models.CheckConstraint(condition=Q(sequence__gte=1), name="changeevent_sequence_from_one"),
            models.CheckConstraint(
                condition=Q(kind__in=["created", "modified", "renamed", "deleted", "erased"]),
                name="changeevent_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} change {self.sequence}"
