from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField, VerbatimJsonField

FORMAT = 1


class Turn(models.Model):
    """One turn: its messages as the JSON they are answered with, and the folded text a search reads."""

    pk = models.CompositePrimaryKey("project_id", "conversation", "turn")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    conversation = ByteOrderedField()
    turn = models.BigIntegerField()
    messages = VerbatimJsonField()
    # Written and blanked by the statements that write and blank ``messages``: an erased turn cannot be found.
    search_text = models.TextField(db_collation="C")
    actor = models.TextField(null=True)
    redacted = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # What wrote the row; a reader refuses a number it does not know.
    format = models.SmallIntegerField(default=FORMAT)

    class Meta:
        db_table = "conversations_turn"
        constraints = [
            models.CheckConstraint(condition=Q(turn__gte=1), name="turn_number_from_one"),
            models.CheckConstraint(condition=Q(redacted=False) | Q(search_text=""), name="turn_redacted_is_blank"),
        ]
        indexes = [
            models.Index(fields=["project", "-created_at", "-conversation", "-turn"], name="turn_newest"),
            # Trigrams, project by project: a term common in one costs another nothing.
            GinIndex(
                F("project"),
                OpClass(F("search_text"), name="gin_trgm_ops"),
                name="turn_search_trgm",
                # KiB of entries waiting to be sorted in: the write that fills the list empties it.
                gin_pending_list_limit=1024,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} turn {self.turn}"


class Projection(models.Model):
    """A text that stands for a turn, or for the ``span`` turns that end with it."""

    pk = models.CompositePrimaryKey("project_id", "conversation", "position")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    conversation = ByteOrderedField()
    # The order of arrival in the conversation.
    position = models.BigIntegerField()
    turn = models.BigIntegerField()
    span = models.BigIntegerField(default=1)
    kind = models.TextField()
    text = models.TextField()
    format = models.SmallIntegerField(default=FORMAT)

    class Meta:
        db_table = "conversations_projection"
        constraints = [
            models.CheckConstraint(condition=Q(span__gte=1, turn__gte=F("span")), name="projection_span_within_turns"),
            models.CheckConstraint(condition=Q(kind__in=["log", "digest", "epoch"]), name="projection_kind_known"),
        ]
        indexes = [
            models.Index(fields=["project", "conversation", "turn", "span", "position"], name="projection_by_turn"),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} projection {self.position}"
