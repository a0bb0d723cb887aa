"""Projects: made and listed by operators (commands and admin), never by a request."""

from __future__ import annotations

from typing import Any

from django.db import IntegrityError, transaction

from authz.models import Project
from authz.models.project import OPEN, SCOPED
from authz.names import check_slug
from authz.operations import events
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


def suspend(*, project: Project, by: str = events.COMMAND) -> Project:
    """Refuse every token of the project, as if it did not exist, until it is resumed; repeating changes nothing."""
    return _change(project, by, suspended_at=project.suspended_at or clock.now())


def resume(*, project: Project, by: str = events.COMMAND) -> Project:
    """Take a suspended project's tokens again."""
    return _change(project, by, suspended_at=None)


def set_access(*, project: Project, access: str, by: str = events.COMMAND) -> Project:
    """Switch grants on (``scoped``) or off (``open``) for every client of the project.

    :raises InvalidValue: another word
    """
    if access not in (OPEN, SCOPED):
        raise InvalidValue(f"access is {OPEN!r} or {SCOPED!r}, not {access!r}")
    return _change(project, by, access=access)


def _change(project: Project, by: str, **values: Any) -> Project:
    with transaction.atomic():
        locked = Project.objects.select_for_update().get(pk=project.pk)
        before = shape(locked)
        for name, value in values.items():
            setattr(locked, name, value)
        locked.save(update_fields=list(values))
        events.record(project=locked, by=by, subject="project", before=before, after=shape(locked))
    return locked


def shape(project: Project) -> dict[str, Any]:
    """A project as JSON."""
    return {
        "name": project.slug,
        "label": project.label,
        "access": project.access,
        "created_at": clock.render(project.created_at),
        "suspended_at": None if project.suspended_at is None else clock.render(project.suspended_at),
    }
