"""Projects: made and listed by operators (commands and admin), never by a request."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from authz.models import Project
from authz.names import check_slug
from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue


class ProjectMissing(InvalidValue):
    """No project has this name."""


class ProjectTaken(InvalidValue):
    """A project has this name already."""


def create(*, slug: str, label: str = "") -> Project:
    """A new, empty project.

    :raises ProjectTaken: the name is in use
    """
    check_slug(slug)
    try:
        with transaction.atomic():
            return Project.objects.create(slug=slug, label=label, created_at=clock.now())
    except IntegrityError as error:
        raise ProjectTaken(f"project {slug!r} exists already") from error


def named(slug: str) -> Project:
    """The project of this name.

    :raises ProjectMissing: none has it; the message lists a few that exist
    """
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.order_by("slug").values_list("slug", flat=True)[:10]) or "none"
        raise ProjectMissing(f"no project {slug!r} (projects: {known}); make it with: project create --name {slug}")
    return project


def listed() -> list[Project]:
    """Every project, by name."""
    return list(Project.objects.order_by("slug"))
