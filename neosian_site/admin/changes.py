"""Change feeds: how far each is, what still waits for its number; pruned and reset here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from authz.caller import Caller
from authz.models import Project
from authz.operations import events
from memory.operations import changes, feed
from neosian_site.admin import figures
from neosian_site.admin.acts import Stale, by
from neosian_site.admin.listing import Asked, Cell, Listing, address, number
from neosian_site.core import clock, sql
from neosian_site.core.errors import DomainError, InvalidValue
from neosian_site.core.text import storable

_WAITING = """
    SELECT k.place, w.waiting
    FROM unnest(%(projects)s::bigint[], %(names)s::text[]) WITH ORDINALITY AS k(project_id, name, place)
    CROSS JOIN LATERAL (
        SELECT count(*) AS waiting FROM (
            SELECT 1 FROM memory_pendingchange p
            WHERE p.project_id = k.project_id AND p.scope = k.name ORDER BY p.arrival LIMIT %(most)s
        ) c
    ) w
    ORDER BY k.place
"""
_STREAM = "SELECT stream, origin, head, floor FROM memory_scope WHERE project_id = %(project)s AND name = %(scope)s"


def _waiting(projects: list[int], names: list[str]) -> list[int]:
    params = {"projects": projects, "names": names, "most": figures.CAP + 1}
    return [row[1] for row in sql.rows(_WAITING, params)]


class Streams(Listing):
    name, path, app = "streams", "memory/changes/", "memory"
    title = "Change feeds"
    help = "Numbers are given when a feed is read; until then a change waits."
    permission = "memory.view_scope"
    headings = ("Project", "Scope", "Stream", "Began", "Last number", "Pruned up to", "Waiting")
    source = "memory_scope s"
    columns = ("s.stream", "s.origin", "s.head", "s.floor")
    key, kinds = ("s.project_id", "s.name"), (int, str)
    project_column = "s.project_id"
    prefix = ("prefix", "Scope", "s.name")

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        waiting = _waiting([row["key0"] for row in found], [row["key1"] for row in found])
        return [
            [
                Cell(row["slug"] or "", address("authz_project_change", args=(row["key0"],))),
                Cell(row["key1"], address("stream", project=row["slug"], scope=row["key1"])),
                Cell("(none yet)" if row["stream"] is None else str(row["stream"])),
                Cell(row["origin"] or ""),
                number(row["head"]),
                number(row["floor"]),
                number(figures.shown(count)),
            ]
            for row, count in zip(found, waiting, strict=True)
        ]


class RetentionForm(forms.Form):
    """What a feed is to forget."""

    days = forms.IntegerField(required=False, min_value=0, max_value=36_500, label="Forget events older than (days)")
    keep = forms.IntegerField(
        required=False, min_value=0, max_value=1_000_000_000, label="Forget events beyond the newest"
    )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and given.get("days") is None and given.get("keep") is None:
            raise forms.ValidationError("Give at least one.")
        return given


class StreamPage:
    """One scope's feed, and what can be done to it."""

    name, path = "stream", "memory/changes/stream/"
    view_permission, act_permission = "memory.view_scope", "memory.change_scope"

    def __init__(self, site: Any) -> None:
        self.site = site

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.user.has_perm(self.view_permission):
            raise PermissionDenied
        slug, scope = request.GET.get("project", ""), request.GET.get("scope", "")
        project = Project.objects.filter(slug=slug).first() if storable(slug) else None
        found = None
        if project is not None and storable(scope):
            found = sql.row(_STREAM, {"project": project.pk, "scope": scope})
        if project is None or found is None:
            messages.error(request, f"Project {slug!r} has no scope {scope!r}. Choose one from the list.")
            return HttpResponseRedirect(address("streams"))
        here = address("stream", project=slug, scope=scope)
        context: dict[str, Any] = {"retention": RetentionForm()}
        if request.method == "POST":
            if not request.user.has_perm(self.act_permission):
                raise PermissionDenied
            try:
                answered = self._act(request, project, scope, context)
            except DomainError as refused:
                messages.error(request, str(refused))
                return HttpResponseRedirect(here)
            if answered is not None:
                messages.success(request, answered)
                return HttpResponseRedirect(here)
            found = sql.row(_STREAM, {"project": project.pk, "scope": scope}) or found
        stream, origin, head, floor = found
        context |= {
            **self.site.each_context(request),
            "title": "Change feed",
            "subtitle": scope,
            "project": project,
            "scope": scope,
            "stream": stream,
            "origin": origin,
            "head": head,
            "floor": floor,
            "kept": head - floor,
            "waiting": figures.shown(_waiting([project.pk], [scope])[0]),
            "here": here,
            "list": address("streams", project=slug),
            "documents": address("documents", project=slug, scope=scope),
            "may_act": request.user.has_perm(self.act_permission),
        }
        return TemplateResponse(request, "admin/neosian/stream.html", context)

    def _act(self, request: HttpRequest, project: Project, scope: str, context: dict[str, Any]) -> str | None:
        """What was done; ``None`` where the page asks first."""
        who = by(request)
        shown = request.POST.get("stream", "")
        match request.POST.get("do"):
            case "preview":
                context["retention"] = form = RetentionForm(request.POST)
                if form.is_valid():
                    context["preview"] = _preview(project, scope, who, form.cleaned_data)
                return None
            case "prune":
                return _prune(project, scope, who, request.POST.get("through", ""))
            case "ask":
                context["asked"] = True
                return None
            case "reset":
                return _reset(project, scope, who, shown)
        raise InvalidValue("The page sent nothing to do.")


def _preview(project: Project, scope: str, who: str, given: dict[str, Any]) -> dict[str, Any]:
    """How many events a prune would remove, and up to where; ``through`` empty for none."""
    caller = Caller(project.pk, who)
    before = None if given["days"] is None else clock.now() - timedelta(days=given["days"])
    through = changes.retention_cursor(caller, scope=scope, before=before, keep=given["keep"])
    if through is None:
        return {"removed": 0, "through": ""}
    return {"removed": changes.prune(caller, scope=scope, through=through).removed, "through": through}


def _locked(project: Project, scope: str) -> tuple[Any, ...]:
    found = sql.row(feed.LOCK_STREAM, {"project": project.pk, "scope": scope})
    if found is None:
        raise changes.ScopeMissing(f"Project {project.slug} holds no scope {scope!r} any more.")
    return found


@transaction.atomic
def _prune(project: Project, scope: str, who: str, through: str) -> str:
    stream, _, _, floor = _locked(project, scope)
    done = changes.prune(Caller(project.pk, who), scope=scope, through=through, write=True)
    now = _locked(project, scope)
    if done.removed == 0 and now[3] == floor:
        raise Stale("These events are pruned already. Preview again to prune more.")
    events.record(
        project=project,
        by=who,
        subject=f"changes {scope}",
        before={"stream": str(stream), "floor": floor},
        after={"stream": str(stream), "floor": now[3], "removed": done.removed},
    )
    return f"{done.removed:,} events pruned; the feed now begins after {now[3]:,}."


@transaction.atomic
def _reset(project: Project, scope: str, who: str, shown: str) -> str:
    stream, _, head, floor = _locked(project, scope)
    if shown != ("" if stream is None else str(stream)):
        raise Stale(f"The feed was reset meanwhile; its stream is {stream} now. Look at it before you reset it again.")
    made = changes.reset(Caller(project.pk, who), scope=scope)
    events.record(
        project=project,
        by=who,
        subject=f"changes {scope}",
        before={"stream": None if stream is None else str(stream), "head": head, "floor": floor},
        after={"stream": str(made), "head": 0, "floor": 0},
    )
    return f"The feed has a new stream, {made}; every reader is told to read the scope in full."
