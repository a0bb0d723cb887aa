from __future__ import annotations

from django.db import models

from neosian_site.core.fields import ByteOrderedField

DEFAULT_SLUG = "default"


class Project(models.Model):
    """A tenant: one whole wire store and one whole v1 project. Every other row carries its number."""

    slug = ByteOrderedField()
    label = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    # A suspended project's tokens answer as if they did not exist.
    suspended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["slug"], name="project_slug_uniq")]

    def __str__(self) -> str:
        return str(self.slug)
