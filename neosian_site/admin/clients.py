"""Clients: made here with a token that is seen once, suspended, resumed, ended; never removed, never renamed."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path

from authz.models import ApiToken
from authz.operations import clients, explanation
from neosian_site.admin.acts import Act, ActingAdmin, Stale, by
from neosian_site.admin.client_form import ClientForm, grants_of
from neosian_site.admin.filters import ProjectFilter, beginning
from neosian_site.admin.listing import address
from neosian_site.core import clock
from neosian_site.core.errors import DomainError
from neosian_site.core.text import storable

# Names an explanation lists for each permission.
EXPLAINED = 200


def _live(pk: int) -> ApiToken:
    """The row, locked, if it is live.

    An operation finds a client by its actor: were the row of a revoked client taken for the live one of the same
    name, an old page would end the wrong one.
    """
    found = ApiToken.objects.select_for_update(of=("self",)).select_related("project").get(pk=pk)
    if found.revoked_at is not None:
        at = clock.render(found.revoked_at)
        raise Stale(f"Client {found.actor} is revoked already, since {at}. To let it in again, add a client.")
    return found


@transaction.atomic
def _suspend(pk: int, who: str) -> str:
    client = _live(pk)
    if client.suspended_at is not None:
        since = clock.render(client.suspended_at)
        raise Stale(f"Client {client.actor} is suspended already, since {since}. To take its token again, resume it.")
    clients.suspend(project=client.project, actor=client.actor, by=who)
    return f"Client {client.actor} is suspended: every server refuses its token within 5 seconds."


@transaction.atomic
def _resume(pk: int, who: str) -> str:
    client = _live(pk)
    if client.suspended_at is None:
        raise Stale(f"Client {client.actor} is not suspended. To refuse its token, suspend it.")
    clients.resume(project=client.project, actor=client.actor, by=who)
    return f"Client {client.actor} is resumed."


@transaction.atomic
def _revoke(pk: int, who: str) -> str:
    client = _live(pk)
    clients.revoke(project=client.project, actor=client.actor, by=who)
    return f"Client {client.actor} is revoked: every server refuses its token within 5 seconds. Its grants stay."


@transaction.atomic
def _expire(pk: int, who: str, at: datetime | None) -> str:
    client = _live(pk)
    clients.expire(project=client.project, actor=client.actor, at=at, by=who)
    return f"Client {client.actor} ends {'only when revoked' if at is None else clock.render(at)}."


class ExpiryForm(forms.Form):
    at = forms.SplitDateTimeField(
        label="Ends at (UTC)", required=False, widget=AdminSplitDateTime, help_text="Empty: it does not end by itself."
    )


def _is_live(client: ApiToken) -> bool:
    return client.revoked_at is None


ACTS = (
    Act(
        "suspend",
        "Suspend",
        "Its token is refused until it is resumed.",
        lambda client: _is_live(client) and client.suspended_at is None,
        _suspend,
    ),
    Act(
        "resume",
        "Resume",
        "Its token is taken again.",
        lambda client: _is_live(client) and client.suspended_at is not None,
        _resume,
    ),
    Act("expire", "Set its end", "When does its token end by itself?", _is_live, _expire, ExpiryForm),
    Act(
        "revoke",
        "Revoke",
        "Its token is refused for good; this cannot be taken back. Its grants and all it wrote stay.",
        _is_live,
        _revoke,
    ),
)


class StateFilter(admin.SimpleListFilter):
    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(state, state) for state in ("live", "suspended", "expired", "revoked")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        now = clock.now()
        ended, kept = Q(expires_at__lte=now), queryset.filter(revoked_at=None)
        match self.value():
            case "revoked":
                return queryset.exclude(revoked_at=None)
            case "expired":
                return kept.filter(ended)
            case "suspended":
                return kept.exclude(suspended_at=None).exclude(ended)
            case "live":
                return kept.filter(suspended_at=None).exclude(ended)
        return queryset


class ClientAdmin(ActingAdmin):
    acts = ACTS
    form = ClientForm
    autocomplete_fields = ("project",)
    list_display = ("actor", "project", "token", "state", "reach", "created", "last_used")
    list_display_links = ("actor",)
    list_select_related = ("project",)
    list_filter = (ProjectFilter, StateFilter)
    ordering = ("project__slug", "actor", "-id")
    search_fields = ("actor",)
    search_help_text = (
        "The beginning of the client's name, or the first 8 characters of its token. Never a whole token."
    )
    actions = ("suspend_selected", "resume_selected")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": "Clients", **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not storable(search_term):
            return queryset.none(), False
        found = beginning("actor", search_term)
        if len(search_term) == clients.HINT_CHARS:
            found |= Q(hint=search_term)
        return queryset.filter(found), False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        # No page needs the digest, so none has it at hand.
        return super().get_queryset(request).defer("token_sha256")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if obj is not None:
            shown = ("actor", "project", "token", "state", "reach", "created", "ends", "last_used", "granted")
            return [(None, {"fields": shown})]
        prefixes = ("constrained", "scope_prefix", "any_scope", "conversation_prefix", "any_conversation")
        return [
            (None, {"fields": ("project", "actor", "expires_at", "reactivate")}),
            ("Reach", {"fields": prefixes}),
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return () if obj is None else self.get_fieldsets(request, obj)[0][1]["fields"]

    def links(self, obj: ApiToken) -> list[tuple[str, str]]:
        return [
            ("What it may do", address("client_explained", args=(obj.pk,))),
            ("Its project", address("authz_project_change", args=(obj.project_id,))),
            ("Its grants", address("authz_grantclient_changelist", project=obj.project.slug, q=obj.actor)),
        ]

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.explained)
        return [path("<int:pk>/explained/", view, name="client_explained"), *super().get_urls()]

    def explained(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Everything the client may do now, and why."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        client = self.get_object(request, str(pk))
        if client is None:
            messages.error(request, f"There is no client {pk}.")
            return HttpResponseRedirect(address("authz_apitoken_changelist"))
        found = explanation.explain(project=client.project, actor=client.actor)
        permissions = [
            (name, reasons[:EXPLAINED], len(reasons) > EXPLAINED) for name, reasons in found.permissions().items()
        ]
        context = {
            **self.admin_site.each_context(request),
            "title": f"What {client.actor} may do",
            "opts": self.opts,
            "object": client,
            "back": self.url_of(pk),
            "explanation": found,
            "permissions": permissions,
        }
        return TemplateResponse(request, "admin/neosian/explained.html", context)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        try:
            return super().add_view(request, form_url, extra_context)
        except DomainError as refused:
            # Another operator was faster than the form's own check.
            messages.error(request, f"{refused}. Nothing was made.")
            return HttpResponseRedirect(address("authz_apitoken_add"))

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        given = form.cleaned_data
        issued = clients.create(
            project=given["project"],
            actor=given["actor"],
            scope_prefix=given["scope_prefix"],
            conversation_prefix=given["conversation_prefix"],
            expires_at=given["expires_at"],
            by=by(request),
        )
        obj.pk, obj.hint = issued.client.pk, issued.client.hint
        # For this answer alone: it is kept nowhere.
        obj.issued = issued  # type: ignore[attr-defined]

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        issued: clients.IssuedClient = obj.issued  # type: ignore[attr-defined]
        context = {
            **self.admin_site.each_context(request),
            "title": f"Client {obj.actor} of project {obj.project.slug} made",
            "opts": self.opts,
            "client": issued.client,
            "token": issued.token,
            "url": self.url_of(obj.pk),
            "grants": grants_of(obj.project, obj.actor).exists(),
            "grants_url": address("authz_grantclient_changelist", project=obj.project.slug, q=obj.actor),
        }
        return TemplateResponse(request, "admin/neosian/token.html", context)

    @admin.display(description="token")
    def token(self, obj: ApiToken) -> str:
        return f"{obj.hint}…"

    @admin.display(description="state")
    def state(self, obj: ApiToken) -> str:
        said = _state(obj)
        return f"{said}, but its project is suspended" if obj.project.suspended_at is not None else said

    @admin.display(description="reach")
    def reach(self, obj: ApiToken) -> str:
        if not obj.constrained:
            return "the whole project"
        halves = (("scope", obj.scope_prefix), ("conversation", obj.conversation_prefix))
        return ", ".join(_half(name, prefix) for name, prefix in halves)

    @admin.display(description="created", ordering="created_at")
    def created(self, obj: ApiToken) -> str:
        return clock.render(obj.created_at)

    @admin.display(description="ends")
    def ends(self, obj: ApiToken) -> str:
        return "only when revoked" if obj.expires_at is None else clock.render(obj.expires_at)

    @admin.display(description="last used")
    def last_used(self, obj: ApiToken) -> str:
        return "never" if obj.last_used_at is None else clock.render(obj.last_used_at)

    @admin.display(description="grants")
    def granted(self, obj: ApiToken) -> str:
        kept = "kept" if grants_of(obj.project_id, obj.actor).exists() else "none"
        return f"{kept}; the project is {obj.project.access}"

    @admin.action(description="Suspend the selected clients", permissions=["operate"])
    def suspend_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.act_on_selected(request, queryset, "suspend")

    @admin.action(description="Resume the selected clients", permissions=["operate"])
    def resume_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.act_on_selected(request, queryset, "resume")


def _state(client: ApiToken) -> str:
    if client.revoked_at is not None:
        return f"revoked since {clock.render(client.revoked_at)}"
    if client.expires_at is not None and client.expires_at <= clock.now():
        return f"expired since {clock.render(client.expires_at)}"
    return "live" if client.suspended_at is None else f"suspended since {clock.render(client.suspended_at)}"


def _half(name: str, prefix: str | None) -> str:
    if prefix is None:
        return f"no {name}"
    return f"{name}s that begin with {prefix}" if prefix else f"any {name}"
