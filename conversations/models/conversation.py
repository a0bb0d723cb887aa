from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField


class Conversation(models.Model):
    """The counters of one conversation. Its row is the one lock of every change below it."""

    pk = models.CompositePrimaryKey("project_id", "id")
    # No foreign key constraint: see memory.models.scope.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    id = ByteOrderedField()
    # The highest turn number ever assigned, projection entries ever appended, redactions ever recorded.
    last_turn = models.BigIntegerField(default=0)
    entries = models.BigIntegerField(default=0)
    acts = models.BigIntegerField(default=0)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "conversations_conversation"
        constraints = [
            models.CheckConstraint(
                condition=Q(last_turn__gte=0, entries__gte=0, acts__gte=0), name="conversation_counters_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return str(self.id)


class TurnRedaction(models.Model):
    """One act of blanking turns: the numbers it matched, ascending."""

    pk = models.CompositePrimaryKey("project_id", "conversation", "position")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    conversation = ByteOrderedField()
    position = models.BigIntegerField()
    turns = ArrayField(models.BigIntegerField())
    actor = models.TextField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "conversations_turnredaction"
        constraints = [
            models.CheckConstraint(condition=Q(position__gte=1), name="turnredaction_position_from_one"),
        ]
        indexes = [
            models.Index(fields=["project", "-created_at", "-conversation", "-position"], name="turnredaction_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} act {self.position}"
