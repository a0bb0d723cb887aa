"""The trail of who changed who may do what, newest first; read only."""

from __future__ import annotations

import json
import re
from typing import Any

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from authz.models import AuthzEvent
from neosian_site.admin.listing import Asked, Cell, Listing, address
from neosian_site.core import clock

# Of each side of a change, in the list.
SHOWN_CHARS = 200
_OPERATOR_NUMBER = re.compile(r"admin:([0-9]{1,9})")


def _operators(names: set[str]) -> dict[str, str]:
    """Who the operators behind ``admin:<number>`` are, as far as there are such accounts."""
    numbers = [int(found[1]) for name in names if (found := _OPERATOR_NUMBER.fullmatch(name))]
    known = get_user_model().objects.filter(pk__in=numbers).values_list("pk", "username") if numbers else ()
    return {f"admin:{pk}": f"admin:{pk} ({username})" for pk, username in known}


def _changed(before: Any, after: Any) -> tuple[str, str]:
    """Both sides of a change, as far as they differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        differing = [key for key in keys if before.get(key) != after.get(key)]
        before, after = ({key: side.get(key) for key in differing} for side in (before, after))
    return _short(before), _short(after)


def _short(value: Any) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}…"


class Trail(Listing):
    name, path, app = "trail", "authz/changes/", "authz"
    title = "Access changes"
    help = "Of projects, clients, grants and feeds: what was, what became of it, and by whom."
    permission = "authz.view_authzevent"
    headings = ("At", "Project", "What", "By", "Before", "After")
    source = "authz_authzevent e"
    columns = ("e.project_id", "e.at", "e.by", "e.subject", "e.before::text AS before", "e.after::text AS after")
    # In the order in which they were noted.
    key, kinds = ("e.id",), (int,)
    descending = True
    project_column = "e.project_id"

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        names = _operators({row["by"] for row in found})
        cells = []
        for row in found:
            before, after = (None if row[side] is None else json.loads(row[side]) for side in ("before", "after"))
            was, became = _changed(before, after)
            cells.append(
                [
                    Cell(clock.render(row["at"]), address("event", args=(row["key0"],))),
                    Cell(row["slug"] or "", address("authz_project_change", args=(row["project_id"],))),
                    Cell(row["subject"]),
                    Cell(names.get(row["by"], row["by"])),
                    Cell(was),
                    Cell(became),
                ]
            )
        return cells


class EventPage:
    """One change, whole."""

    name, path = "event", "authz/changes/<int:pk>/"

    def __init__(self, site: Any) -> None:
        self.site = site

    def __call__(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not request.user.has_perm(Trail.permission):
            raise PermissionDenied
        event = AuthzEvent.objects.select_related("project").filter(pk=pk).first()
        if event is None:
            messages.error(request, f"There is no access change {pk}.")
            return HttpResponseRedirect(address("trail"))
        context = {
            **self.site.each_context(request),
            "title": "Access change",
            "subtitle": event.subject,
            "event": event,
            "at": clock.render(event.at),
            "by": _operators({event.by}).get(event.by, event.by),
            "sides": [(name, _whole(value)) for name, value in (("Before", event.before), ("After", event.after))],
            "list": address("trail", project=event.project.slug),
        }
        return TemplateResponse(request, "admin/neosian/event.html", context)


def _whole(value: Any) -> str:
    return "(none)" if value is None else json.dumps(value, ensure_ascii=False, indent=2)
