from __future__ import annotations

from django.db import models
from django.db.models import Q

from authz.models.project import Project
from neosian_site.core.fields import ByteOrderedField


class ApiToken(models.Model):
    """A wire client kept in the database: the digest of its token, whom it makes the caller, and what it reaches.

    A half of a constrained token that is not given (NULL) is closed; ``""`` opens it.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="tokens")
    actor = ByteOrderedField()
    token_sha256 = models.BinaryField(max_length=32)
    # The token's first characters, so that an operator can tell two apart.
    hint = models.TextField()
    constrained = models.BooleanField(default=False)
    scope_prefix = ByteOrderedField(null=True, blank=True)
    conversation_prefix = ByteOrderedField(null=True, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True, blank=True)
    # A suspended client's token is refused until it is resumed; a revoked one's for good.
    suspended_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "client"
        constraints = [
            # The one lookup that cannot begin with its project: the digest is how the project is found.
            models.UniqueConstraint(fields=["token_sha256"], name="apitoken_digest_uniq"),
            models.UniqueConstraint(
                fields=["project", "actor"], condition=Q(revoked_at__isnull=True), name="apitoken_live_actor_uniq"
            ),
            models.CheckConstraint(
                condition=Q(constrained=True) | Q(scope_prefix__isnull=True, conversation_prefix__isnull=True),
                name="apitoken_unconstrained_has_no_prefix",
            ),
            models.CheckConstraint(
                condition=Q(constrained=False) | Q(scope_prefix__isnull=False) | Q(conversation_prefix__isnull=False),
                name="apitoken_constrained_has_a_prefix",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} in {self.project_id}"
