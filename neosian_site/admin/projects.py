"""Projects: made here, suspended, resumed, scoped; never removed."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from authz.models import ApiToken, GrantClient, Project
from authz.models.project import OPEN, SCOPED
from authz.names import check_slug
from authz.operations import events, projects
from neosian_site.admin import figures
from neosian_site.admin.acts import Act, ActingAdmin, Stale, by
from neosian_site.admin.bases import ModelForm
from neosian_site.admin.filters import beginning
from neosian_site.admin.listing import address
from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue
from neosian_site.core.text import storable

# Names of clients that a switch would shut out, as far as a question can list them.
NAMED = 10


def _locked(pk: int) -> Project:
    return Project.objects.select_for_update().get(pk=pk)


@transaction.atomic
def _suspend(pk: int, who: str) -> str:
    project = _locked(pk)
    if project.suspended_at is not None:
        since = clock.render(project.suspended_at)
        raise Stale(f"Project {project.slug} is suspended already, since {since}. To take its tokens again, resume it.")
    projects.suspend(project=project, by=who)
    return f"Project {project.slug} is suspended: every server refuses its tokens within 5 seconds."


@transaction.atomic
def _resume(pk: int, who: str) -> str:
    project = _locked(pk)
    if project.suspended_at is None:
        raise Stale(f"Project {project.slug} is not suspended. To refuse its tokens, suspend it.")
    projects.resume(project=project, by=who)
    return f"Project {project.slug} is resumed."


@transaction.atomic
def _switch(pk: int, who: str, access: str) -> str:
    project = _locked(pk)
    if project.access == access:
        raise Stale(f"Project {project.slug} is {access} already. Nothing was changed.")
    projects.set_access(project=project, access=access, by=who)
    return f"Project {project.slug} is {access} now; every server follows within 5 seconds."


def _without_grants(project: Project) -> list[str]:
    """Clients that a switch to scoped would shut out, a few of them."""
    granted = GrantClient.objects.filter(project=OuterRef("project"), actor=OuterRef("actor"))
    live = ApiToken.objects.filter(project=project, revoked_at=None).filter(~Q(Exists(granted)))
    return list(live.order_by("actor").values_list("actor", flat=True)[: NAMED + 1])


def _scope_question(project: Project) -> str:
    shut_out = _without_grants(project)
    if not shut_out:
        return "Grants will decide what its clients may do. Every live client has grants."
    more = " and others" if len(shut_out) > NAMED else ""
    return (
        "Grants will decide what its clients may do. These have none and will be able to do nothing: "
        f"{', '.join(shut_out[:NAMED])}{more}."
    )


ACTS = (
    Act(
        "suspend",
        "Suspend",
        "Every token of the project is refused until it is resumed. Nothing is removed.",
        lambda project: project.suspended_at is None,
        _suspend,
    ),
    Act(
        "resume",
        "Resume",
        "The project's tokens are taken again.",
        lambda project: project.suspended_at is not None,
        _resume,
    ),
    Act(
        "scope",
        "Switch grants on",
        _scope_question,
        lambda project: project.access == OPEN,
        lambda pk, who: _switch(pk, who, SCOPED),
    ),
    Act(
        "open",
        "Switch grants off",
        "Every client may do what its token's allowance says; grants are kept but not asked.",
        lambda project: project.access == SCOPED,
        lambda pk, who: _switch(pk, who, OPEN),
    ),
)


class ProjectForm(ModelForm):
    slug = forms.CharField(
        label="Name", strip=False, help_text="1 to 63 of a-z, 0-9 and '-'. It cannot be changed later."
    )
    label = forms.CharField(required=False, max_length=200, help_text="A title for people.")

    class Meta:
        model = Project
        fields = ("slug", "label")

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"]
        try:
            check_slug(slug)
        except InvalidValue as error:
            raise forms.ValidationError(str(error)) from error
        if Project.objects.filter(slug=slug).exists():
            raise forms.ValidationError(f"Project {slug} exists already; choose another name.")
        return slug


class WithFigures(ChangeList):
    """A page of projects with what each holds."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        found = figures.of_projects([project.pk for project in self.result_list], figures.LIST_CAP)
        for project in self.result_list:
            project.figures = found[project.pk]


class ProjectAdmin(ActingAdmin):
    acts = ACTS
    form = ProjectForm
    list_display = ("name", "label", "state", "access", "clients", "grants", "scopes", "conversations", "created")
    list_display_links = ("name",)
    list_filter = ("access", ("suspended_at", admin.EmptyFieldListFilter))
    ordering = ("slug",)
    # What is searched is said by get_search_results; Django shows the field only where this names one.
    search_fields = ("slug",)
    search_help_text = "The beginning of the project's name."
    actions = ("suspend_selected", "resume_selected")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WithFigures

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not storable(search_term):
            return queryset.none(), False
        return queryset.filter(beginning("slug", search_term)), False

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Project | None:
        found: Project | None = super().get_object(request, object_id, from_field)
        if found is not None:
            found.figures = figures.of_projects([found.pk], figures.CAP)[found.pk]  # type: ignore[attr-defined]
        return found

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        if obj is None:
            return ("slug", "label")
        return ("name", "label", "state", "access", "created", "clients", "grants", "scopes", "conversations")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return () if obj is None else self.get_fields(request, obj)

    def links(self, obj: Project) -> list[tuple[str, str]]:
        return [
            ("Document redactions", address("redactions", project=obj.slug)),
            ("Turn redactions", address("turn_redactions", project=obj.slug)),
            ("Change feeds", address("streams", project=obj.slug)),
            ("Access changes", address("trail", project=obj.slug)),
        ]

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        # The operation notes nothing of itself: whoever has no project yet has no trail.
        made = projects.create(slug=obj.slug, label=obj.label)
        events.record(project=made, by=by(request), subject="project", before=None, after=projects.shape(made))
        obj.pk, obj.created_at = made.pk, made.created_at

    @admin.display(description="name", ordering="slug")
    def name(self, obj: Project) -> str:
        return str(obj)

    @admin.display(description="state")
    def state(self, obj: Project) -> str:
        return "active" if obj.suspended_at is None else f"suspended since {clock.render(obj.suspended_at)}"

    @admin.display(description="created", ordering="created_at")
    def created(self, obj: Project) -> str:
        return clock.render(obj.created_at)

    @admin.display(description="clients")
    def clients(self, obj: Project) -> SafeString:
        return _linked(obj, "clients", "authz_apitoken_changelist")

    @admin.display(description="grants")
    def grants(self, obj: Project) -> SafeString:
        return _linked(obj, "grants", "authz_grantclient_changelist")

    @admin.display(description="scopes")
    def scopes(self, obj: Project) -> SafeString:
        return _linked(obj, "scopes", "scopes")

    @admin.display(description="conversations")
    def conversations(self, obj: Project) -> SafeString:
        return _linked(obj, "conversations", "conversations")

    @admin.action(description="Suspend the selected projects", permissions=["operate"])
    def suspend_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.act_on_selected(request, queryset, "suspend")

    @admin.action(description="Resume the selected projects", permissions=["operate"])
    def resume_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.act_on_selected(request, queryset, "resume")


def _linked(project: Any, figure: str, name: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', address(name, project=project.slug), project.figures[figure])
