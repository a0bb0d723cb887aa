"""Filters the lists share: a project by its name, a name by its literal beginning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def beginning(field: str, prefix: str) -> Q:
    """The rows whose ``field`` (ordered by bytes) begins with ``prefix``: a range an index can walk, and literal."""
    if not prefix:
        return Q()
    end = below(prefix)
    return Q(**{f"{field}__gte": prefix}) & (Q() if end is None else Q(**{f"{field}__lt": end}))


def below(prefix: str) -> str | None:
    """The least text above every one that begins with ``prefix``; ``None`` where there is none."""
    for length in range(len(prefix), 0, -1):
        code = ord(prefix[length - 1]) + 1
        if code in _SURROGATES:
            code = _SURROGATES.stop
        if code <= _LAST:
            return prefix[: length - 1] + chr(code)
    return None


class ProjectFilter(admin.SimpleListFilter):
    """A field for the project's name: a list of 5,000 to choose from helps nobody."""

    title = "project"
    parameter_name = "project"
    template = "admin/neosian/project_filter.html"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("", "")]  # Django shows no filter that has none.

    def choices(self, changelist: Any) -> Iterator[Any]:
        others = changelist.get_filters_params()
        kept = [(name, value) for name, values in others.items() if name != self.parameter_name for value in values]
        if changelist.query:
            kept.append(("q", changelist.query))
        yield {"value": self.value() or "", "kept": kept}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(project__slug=self.value()) if self.value() else queryset
