from __future__ import annotations

from django.db import models
from django.db.models import Q

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField, VerbatimJsonField

FORMAT = 1


class Document(models.Model):
    """The current state of one path of a scope.

    The row outlives the document: a deleted path keeps it (``live`` false, content blank), because ``last_version``
    is the path's counter and its row lock decides who of two writers gets which number.
    """

    pk = models.CompositePrimaryKey("project_id", "scope", "path")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    scope = ByteOrderedField()
    path = ByteOrderedField()
    live = models.BooleanField()
    version = models.BigIntegerField()
    # The highest number ever issued for the path; above ``version`` after a restore without rows or a delete.
    last_version = models.BigIntegerField()
    # The number under which the current document was created; 0 where a restore did not say.
    created_version = models.BigIntegerField()
    content = models.TextField()
    extra = VerbatimJsonField(default="{}")
    actor = models.TextField(null=True)
    redacted = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    # What wrote the row; a reader refuses a number it does not know.
    format = models.SmallIntegerField(default=FORMAT)

    class Meta:
        db_table = "memory_document"
        constraints = [
            models.CheckConstraint(
                condition=Q(version__gte=0, last_version__gte=models.F("version")), name="document_versions_in_order"
            ),
            models.CheckConstraint(condition=Q(redacted=False) | Q(content=""), name="document_redacted_is_blank"),
            models.CheckConstraint(condition=Q(live=True) | Q(content=""), name="document_deleted_is_blank"),
        ]
        indexes = [
            # Listings meet live documents only, however many paths a scope has buried.
            models.Index(fields=["project", "scope", "path"], condition=Q(live=True), name="document_live"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.path}"


class DocumentVersion(models.Model):
    """One row of a path's history."""

    pk = models.CompositePrimaryKey("project_id", "scope", "path", "version")
    project = models.ForeignKey(Project, on_delete=models.PROTECT, db_constraint=False, db_index=False)
    scope = ByteOrderedField()
    path = ByteOrderedField()
    version = models.BigIntegerField()
    action = models.TextField()
    content = models.TextField()
    actor = models.TextField(null=True)
    redacted = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        db_table = "memory_documentversion"
        constraints = [
            models.CheckConstraint(condition=Q(version__gte=1), name="documentversion_version_from_one"),
            models.CheckConstraint(
                condition=Q(action__in=["created", "modified", "deleted"]), name="documentversion_action_known"
            ),
            models.CheckConstraint(
                condition=Q(redacted=False) | Q(content=""), name="documentversion_redacted_is_blank"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "scope", "-created_at", "path", "-version"], name="documentversion_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.path} version {self.version}"
