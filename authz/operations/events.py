"""The trail of who changed who may do what."""

from __future__ import annotations

from typing import Any

from authz.models import AuthzEvent, Project
from neosian_site.core import clock

COMMAND = "command"


def record(
    *, project: Project, by: str, subject: str, before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    """Note a change in the transaction that makes it; one that changed nothing is not noted."""
    if before != after:
        AuthzEvent.objects.create(project=project, at=clock.now(), by=by, subject=subject, before=before, after=after)
