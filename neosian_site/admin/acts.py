"""Acts: what an operator does to one row from its page, after a question; always through an operation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from neosian_site.admin.bases import ModelAdmin
from neosian_site.core.errors import DomainError


class Stale(DomainError):
    """The page the operator acted on was overtaken: what it offered is done, or can no longer be."""


def by(request: HttpRequest) -> str:
    """How the trail names whoever is logged in."""
    return f"admin:{request.user.pk}"


@dataclass(frozen=True)
class Act:
    """One thing that can be done to a row.

    ``run`` takes the row's key, who acts and the form's values, and answers what to say; it locks the row and refuses
    (a :class:`DomainError`) what the page could not know.
    """

    name: str
    label: str
    question: str | Callable[[Any], str]
    offered: Callable[[Any], bool]
    run: Callable[..., str]
    form: type[forms.Form] | None = None


class ActingAdmin(ModelAdmin):
    """A model whose rows are looked at, added, and changed by acts; never edited in place and never deleted."""

    acts: ClassVar[tuple[Act, ...]] = ()
    change_form_template = "admin/neosian/acting.html"
    show_full_result_count = False
    list_per_page = 50

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def url_of(self, pk: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=(pk,))

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_act"
        act = path("<int:pk>/act/<slug:act>/", self.admin_site.admin_view(self.act_view), name=name)
        return [act, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        obj = self.get_object(request, object_id)
        offered = [act for act in self.acts if act.offered(obj)] if obj and self.has_operate_permission(request) else []
        links = [] if obj is None else self.links(obj)
        context = {"acts": offered, "links": links, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    def links(self, obj: Any) -> list[tuple[str, str]]:
        """Where to look next: labels and addresses."""
        return []

    def act_view(self, request: HttpRequest, pk: int, act: str) -> HttpResponse:
        """Ask, then do."""
        chosen = next((one for one in self.acts if one.name == act), None)
        if chosen is None:
            raise Http404
        if not self.has_operate_permission(request):
            raise PermissionDenied
        obj = self.get_object(request, str(pk))
        if obj is None:
            messages.error(request, f"There is no {self.opts.verbose_name} {pk}.")
            return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))
        form = None if chosen.form is None else chosen.form(request.POST if request.method == "POST" else None)
        if request.method == "POST" and (form is None or form.is_valid()):
            try:
                done = chosen.run(pk, by(request), **({} if form is None else form.cleaned_data))
            except DomainError as refused:
                messages.error(request, str(refused))
            else:
                messages.success(request, done)
            return HttpResponseRedirect(self.url_of(pk))
        context = {
            **self.admin_site.each_context(request),
            "title": chosen.label,
            "subtitle": str(obj),
            "opts": self.opts,
            "object": obj,
            "act": chosen,
            # On a page that was overtaken the question would make no sense; pressing the button says what happened.
            "question": chosen.question if isinstance(chosen.question, str) else chosen.question(obj),
            "back": self.url_of(pk),
            "form": form,
            "media": self.media + (forms.Media() if form is None else form.media),
        }
        return TemplateResponse(request, "admin/neosian/act.html", context)

    def act_on_selected(self, request: HttpRequest, selected: models.QuerySet[Any], name: str) -> None:
        """Do an act to each selected row, one transaction each; say what was done and what was refused."""
        act = next(one for one in self.acts if one.name == name)
        done, refused = 0, []
        for pk in _keys(selected):
            try:
                act.run(pk, by(request))
                done += 1
            except DomainError as error:
                refused.append(str(error))
        if done:
            messages.success(request, f"{act.label}: {done} done.")
        for reason in refused[:20]:
            messages.error(request, reason)
        if len(refused) > 20:
            messages.error(request, f"{len(refused) - 20} more were refused.")


def _keys(selected: models.QuerySet[Any]) -> Iterable[Any]:
    return list(selected.order_by("pk").values_list("pk", flat=True))
