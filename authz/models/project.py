from __future__ import annotations

from django.db import models
from django.db.models import Q

from neosian_site.core.fields import ByteOrderedField

DEFAULT_SLUG = "default"
OPEN, SCOPED = "open", "scoped"


class Project(models.Model):
    """A tenant: one whole wire store and one whole v1 project. Every other row carries its number."""

    slug = ByteOrderedField()
    label = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    # A suspended project's tokens answer as if they did not exist.
    suspended_at = models.DateTimeField(null=True, blank=True)
    # OPEN: tokens and their allowances decide alone. SCOPED: the client's grants must allow, too.
    access = models.TextField(choices=[(OPEN, "open"), (SCOPED, "scoped by grants")], default=OPEN, db_default=OPEN)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slug"], name="project_slug_uniq"),
            models.CheckConstraint(condition=Q(access__in=[OPEN, SCOPED]), name="project_access_known"),
        ]

    def __str__(self) -> str:
        return str(self.slug)
