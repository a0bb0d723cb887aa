from __future__ import annotations

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.lookups import GreaterThan, LessThanOrEqual

from authz.models import Project
from neosian_site.core.fields import ByteOrderedField, VerbatimJsonField

FORMAT = 1
# Documents whose search text is longer have no trigrams in the index.
INDEXED_BYTES = 1024 * 1024

_SEARCH_BYTES = Func(F("search_text"), function="octet_length", output_field=models.IntegerField())


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
    # What a search reads: the folded path, a line feed, the folded content. A term holds no white space, so it never
    # spans the two. Written and blanked by the statements that write and blank ``content``; empty for what takes no
    # part in a search (memory.operations.finding).
    search_text = models.TextField(db_collation="C", default="", db_default="")
    # What the content says of its own review (memory.knowledge.governance), worked out when it was written; an
    # approval's window in time is judged by whoever asks.
    governance = models.TextField(default="unmanaged", db_default="unmanaged")
    effective_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "memory_document"
        constraints = [
            models.CheckConstraint(
                condition=Q(version__gte=0, last_version__gte=models.F("version")), name="document_versions_in_order"
            ),
            models.CheckConstraint(condition=Q(redacted=False) | Q(content=""), name="document_redacted_is_blank"),
            models.CheckConstraint(condition=Q(live=True) | Q(content=""), name="document_deleted_is_blank"),
            models.CheckConstraint(
                condition=Q(live=True, redacted=False) | Q(search_text=""), name="document_blank_is_not_found"
            ),
        ]
        indexes = [
            # Listings meet live documents only, however many paths a scope has buried.
            models.Index(fields=["project", "scope", "path"], condition=Q(live=True), name="document_live"),
            # What takes part in a search, in the order of its answer, however many sessions a scope records.
            models.Index(fields=["project", "scope", "path"], condition=~Q(search_text=""), name="document_searched"),
            # Trigrams, scope by scope: a term common in one scope costs another nothing. Documents beyond
            # INDEXED_BYTES are few, would take seconds to index, and are read whole by whoever searches their scope.
            GinIndex(
                F("project"),
                F("scope"),
                OpClass(F("search_text"), name="gin_trgm_ops"),
                condition=~Q(search_text="") & Q(LessThanOrEqual(_SEARCH_BYTES, INDEXED_BYTES)),
                name="document_search_trgm",
                # KiB of entries waiting to be sorted in: the write that fills the list empties it.
                gin_pending_list_limit=1024,
            ),
            models.Index(
                fields=["project", "scope", "path"],
                condition=Q(GreaterThan(_SEARCH_BYTES, INDEXED_BYTES)),
                name="document_search_long",
            ),
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
