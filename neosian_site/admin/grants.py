"""Grants: one form for all a client may do, judged by the rules of the grants file and written whole."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from authz import grants, tokens
from authz.models import ApiToken, ConversationGrant, GrantClient, Project, ScopeGrant
from authz.models.project import DEFAULT_SLUG
from authz.operations import grants as operations
from neosian_site.admin.acts import Stale, by
from neosian_site.admin.bases import ModelAdmin, TabularInline
from neosian_site.admin.filters import ProjectFilter, beginning
from neosian_site.admin.grant_form import (
    ConversationGrantForm,
    GrantForm,
    GrantFormSet,
    ScopeGrantForm,
    conversation_of,
    mark,
    scope_of,
)
from neosian_site.admin.listing import address
from neosian_site.core import clock, sql
from neosian_site.core.errors import DomainError
from neosian_site.core.text import storable


class _GrantInline(TabularInline):
    formset = GrantFormSet
    extra = 1

    # Whoever may change a client's grants may change all of them.
    def _may(self, request: HttpRequest) -> bool:
        return request.user.has_perm("authz.change_grantclient") or request.user.has_perm("authz.add_grantclient")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request) or request.user.has_perm("authz.view_grantclient")


class ScopeGrantInline(_GrantInline):
    model = ScopeGrant
    form = ScopeGrantForm
    verbose_name_plural = "Memory scopes, each matched as a whole name"
    ordering = ("scope",)


class ConversationGrantInline(_GrantInline):
    model = ConversationGrant
    form = ConversationGrantForm
    verbose_name_plural = "Conversations, by a prefix or by their ids"
    ordering = ("id",)


class FlagFilter(admin.SimpleListFilter):
    title = "client"
    parameter_name = "client"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("live", "live"), ("none", "no live client")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        used = Q(is_live=True) | Q(project__slug=DEFAULT_SLUG, actor__in=tokens.table_actors())
        if self.value() == "live":
            return queryset.filter(used)
        return queryset.exclude(used) if self.value() == "none" else queryset


class WithFigures(ChangeList):
    """A page of grants with how many rules each has."""

    def get_results(self, request: HttpRequest) -> None:
        super().get_results(request)
        self.result_list = list(self.result_list)
        numbers = [grant.pk for grant in self.result_list]
        found = {row[0]: row[1:] for row in sql.rows(_FIGURES, {"numbers": numbers})}
        for grant in self.result_list:
            grant.figures = found[grant.pk]


_FIGURES = """
    SELECT g.id, (SELECT count(*) FROM authz_scopegrant s WHERE s.client_id = g.id),
        (SELECT count(*) FROM authz_conversationgrant c WHERE c.client_id = g.id)
    FROM unnest(%(numbers)s::bigint[]) AS g(id)
"""


class GrantAdmin(ModelAdmin):
    form = GrantForm
    change_form_template = "admin/neosian/grant.html"
    inlines = (ScopeGrantInline, ConversationGrantInline)
    autocomplete_fields = ("project",)
    list_display = ("actor", "project", "operator", "client", "scopes", "conversations")
    list_display_links = ("actor",)
    list_select_related = ("project",)
    list_filter = (ProjectFilter, "operator", FlagFilter)
    list_per_page = 50
    show_full_result_count = False
    ordering = ("project__slug", "actor")
    search_fields = ("actor",)
    search_help_text = "The beginning of the client's name."

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        return WithFigures

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        live = ApiToken.objects.filter(project=OuterRef("project"), actor=OuterRef("actor"), revoked_at=None)
        found: QuerySet[Any] = super().get_queryset(request).annotate(is_live=Exists(live))
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not storable(search_term):
            return queryset.none(), False
        return queryset.filter(beginning("actor", search_term)), False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Without the permission to change Django shows values alone, and "seen" is none of the model's.
        fields = ["project", "actor", "operator"]
        if obj is not None:
            fields.append("client")
            if self.has_change_permission(request, obj):
                fields.append("seen")
        return fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else ("project", "actor", "client")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {name: value for name, value in request.GET.items() if name in ("project", "actor")}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        try:
            if object_id is not None and request.method == "POST":
                # Before the rows are compared: of rows another page replaced, Django would only say that they are gone.
                found = self.get_object(request, object_id)
                if found is not None and self.has_change_permission(request, found):
                    _check_seen(found, operations.entry(found), request.POST.get("seen", ""))
            return super().changeform_view(request, object_id, form_url, extra_context)
        except DomainError as refused:
            messages.error(request, str(refused))
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: GrantClient, form: Any, change: bool) -> None:
        """Nothing yet: a client and its rows are written together."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        scopes, conversations = (formset.kept() for formset in formsets)
        wanted = grants.ClientEntry(
            form.instance.actor,
            form.cleaned_data["operator"],
            tuple(map(scope_of, scopes)),
            tuple(map(conversation_of, conversations)),
        )
        for formset in formsets:
            formset.new_objects, formset.changed_objects, formset.deleted_objects = [], [], []
        project: Project = form.instance.project
        with transaction.atomic():
            Project.objects.select_for_update().get(pk=project.pk)
            present = operations.of(project=project, actor=wanted.actor)
            if change:
                _check_seen(form.instance, present, form.cleaned_data["seen"])
            elif present is not None:
                raise Stale(f"Client {wanted.actor} of project {project.slug} has grants already; change those.")
            operations.put(project=project, value=wanted, by=by(request))
        form.instance.pk = GrantClient.objects.values_list("pk", flat=True).get(project=project, actor=wanted.actor)
        self._flag(request, project, wanted.actor)

    def _flag(self, request: HttpRequest, project: Project, actor: str) -> None:
        said = _client(project, actor)
        if said is not None:
            messages.warning(request, f"Saved, but {said}; add the client for these grants to be of use.")

    def delete_model(self, request: HttpRequest, obj: GrantClient) -> None:
        operations.remove(project=obj.project, actor=obj.actor, by=by(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset.select_related("project"):
            try:
                operations.remove(project=obj.project, actor=obj.actor, by=by(request))
            except DomainError as refused:
                messages.error(request, f"{refused}; they were removed already.")

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except DomainError as refused:
            messages.error(request, f"{refused}; they were removed already.")
            return HttpResponseRedirect(address("authz_grantclient_changelist"))

    @admin.display(description="client")
    def client(self, obj: GrantClient) -> str:
        if obj.is_live:  # type: ignore[attr-defined] # get_queryset's
            return "live"
        return "⚠ no live client" if not _in_table(obj.project, obj.actor) else "in the environment's table"

    @admin.display(description="scopes")
    def scopes(self, obj: GrantClient) -> int:
        return obj.figures[0]  # type: ignore[attr-defined, no-any-return]

    @admin.display(description="conversation rules")
    def conversations(self, obj: GrantClient) -> int:
        return obj.figures[1]  # type: ignore[attr-defined, no-any-return]


def _check_seen(client: GrantClient, present: grants.ClientEntry | None, seen: str) -> None:
    if present is None:
        raise Stale(f"The grants of {client.actor} were removed meanwhile; nothing was saved.")
    if mark(present) != seen:
        raise Stale(
            f"The grants of {client.actor} were changed since you opened this page; nothing was saved. They are shown"
            " as they are now: make your change again."
        )


def _in_table(project: Project, actor: str) -> bool:
    return project.slug == DEFAULT_SLUG and actor in tokens.table_actors()


def _client(project: Project, actor: str) -> str | None:
    """Why no client uses an actor's grants now; ``None`` where one does."""
    if _in_table(project, actor):
        return None
    newest = ApiToken.objects.filter(project=project, actor=actor).order_by("-id").first()
    if newest is None:
        return f"project {project.slug} has no client {actor} yet"
    if newest.revoked_at is not None:
        return f"client {actor} was revoked at {clock.render(newest.revoked_at)}"
    return None
