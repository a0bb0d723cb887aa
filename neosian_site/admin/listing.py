"""Lists of rows that Django's own lists cannot hold: keys of several columns, tables that may be large.

A page is a range of the key's own order, so its cost does not grow with what stands before it; figures of the rows
shown are one statement; totals are counted to a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.contrib.admin import AdminSite
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse

from authz.models import Project
from neosian_site.admin import figures
from neosian_site.admin.filters import below
from neosian_site.core import cursors, sql
from neosian_site.core.errors import InvalidValue
from neosian_site.core.text import storable

PAGE_ROWS = 25


def address(name: str, args: Sequence[Any] = (), **query: str | None) -> str:
    """A page's address; whatever a name holds, it travels as a parameter's value."""
    given = {key: value for key, value in query.items() if value}
    return reverse(f"admin:{name}", args=args) + (f"?{urlencode(given)}" if given else "")


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a row; text is escaped by the template."""

    text: str
    url: str = ""
    number: bool = False


def number(figure: str | int) -> Cell:
    return Cell(figure if isinstance(figure, str) else f"{figure:,}", number=True)


@dataclass(slots=True)
class Asked:
    """What a page was asked for, and what came of it."""

    values: dict[str, str]
    project: Project | None = None
    conditions: list[str] = field(default_factory=lambda: ["true"])
    params: dict[str, Any] = field(default_factory=dict)


class Listing:
    """One list. A subclass names its statement's parts, which are constants, and makes rows of what it finds."""

    # A template would call it, as it calls every function it is handed.
    do_not_call_in_templates = True
    name: ClassVar[str]
    # Under the admin's own address.
    path: ClassVar[str]
    app: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str] = ""
    permission: ClassVar[str]
    # Lists that are reached from a row of another are not in the menu.
    in_menu: ClassVar[bool] = True
    headings: ClassVar[tuple[str, ...]]
    source: ClassVar[str]
    columns: ClassVar[tuple[str, ...]]
    # The order, and the cursor: the project's number first.
    key: ClassVar[tuple[str, ...]]
    kinds: ClassVar[tuple[type, ...]]
    descending: ClassVar[bool] = False
    project_column: ClassVar[str]
    # Parameter, label and column of what must be named whole, and of what may be filtered by its beginning.
    whole: ClassVar[tuple[str, str, str] | None] = None
    prefix: ClassVar[tuple[str, str, str] | None] = None

    def __init__(self, site: AdminSite) -> None:
        self.site = site

    def rows(self, asked: Asked, found: list[dict[str, Any]]) -> list[list[Cell]]:
        """The cells of each row, under the headings; one statement more at most."""
        raise NotImplementedError

    def tools(self, asked: Asked) -> list[tuple[str, str]]:
        """Where to go from this list: labels and addresses."""
        return []

    def allows(self, request: HttpRequest) -> bool:
        return request.user.has_perm(self.permission)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not self.allows(request):
            raise PermissionDenied
        names = ["project", *(part[0] for part in (self.whole, self.prefix) if part is not None)]
        asked = Asked({name: request.GET.get(name, "") for name in names})
        found: list[dict[str, Any]] = []
        problem, total, following = "", "0", None
        try:
            self._judge(asked)
            found = self._page(asked, request.GET.get("after", ""))
            total = figures.count(self.source, " AND ".join(asked.conditions), ", ".join(self.key), asked.params)
        except InvalidValue as refused:
            problem = str(refused)
        if len(found) > PAGE_ROWS:
            found = found[:PAGE_ROWS]
            after = cursors.mint(self.name, *(found[-1][f"key{place}"] for place in range(len(self.key))))
            following = address(self.name, **asked.values, after=after)
        context = {
            **self.site.each_context(request),
            "title": self.title,
            "listing": self,
            "fields": self._fields(asked),
            "rows": self.rows(asked, found) if found else [],
            "problem": problem,
            "total": total,
            "first": address(self.name, **asked.values),
            "is_first": "after" not in request.GET,
            "following": following,
            "unfiltered": address(self.name),
            "tools": [] if problem else self.tools(asked),
        }
        return TemplateResponse(request, "admin/neosian/listing.html", context)

    def _fields(self, asked: Asked) -> list[tuple[str, str, str]]:
        given = [("project", "Project", "")]
        if self.whole is not None:
            given.append(self.whole)
        if self.prefix is not None:
            given.append((self.prefix[0], f"{self.prefix[1]} begins with", ""))
        return [(name, label, asked.values[name]) for name, label, _ in given]

    def _judge(self, asked: Asked) -> None:
        """:raises InvalidValue: a filter that names nothing"""
        for value in asked.values.values():
            if not storable(value):
                raise InvalidValue("a filter holds a character no name can hold")
        if slug := asked.values["project"]:
            asked.project = Project.objects.filter(slug=slug).first()
            if asked.project is None:
                raise InvalidValue(f"There is no project {slug!r}.")
            asked.conditions.append(f"{self.project_column} = %(project)s")
            asked.params["project"] = asked.project.pk
        if self.whole is not None:
            name, label, column = self.whole
            if asked.project is None or not asked.values[name]:
                raise InvalidValue(f"Name a project and a {label.lower()}.")
            asked.conditions.append(f"{column} = %(whole)s")
            asked.params["whole"] = asked.values[name]
        if self.prefix is not None and (prefix := asked.values[self.prefix[0]]):
            if asked.project is None:
                raise InvalidValue("Name a project, too: names are looked up project by project.")
            column = self.prefix[2]
            asked.conditions.append(f"{column} >= %(prefix)s")
            asked.params["prefix"] = prefix
            if (end := below(prefix)) is not None:
                asked.conditions.append(f"{column} < %(below)s")
                asked.params["below"] = end

    def _page(self, asked: Asked, cursor: str) -> list[dict[str, Any]]:
        """One row more than a page shows."""
        conditions, params = list(asked.conditions), {**asked.params, "rows": PAGE_ROWS + 1}
        if cursor:
            position = cursors.read(self.name, cursor, *self.kinds)
            params |= {f"key{place}": value for place, value in enumerate(position)}
            places = ", ".join(f"%(key{place})s" for place in range(len(self.key)))
            conditions.append(f"({', '.join(self.key)}) {'<' if self.descending else '>'} ({places})")
        order = ", ".join(f"{column} DESC" if self.descending else column for column in self.key)
        keys = [f"{column} AS key{place}" for place, column in enumerate(self.key)]
        slug = f"(SELECT p.slug FROM authz_project p WHERE p.id = {self.project_column}) AS slug"
        names = [*(f"key{place}" for place in range(len(self.key))), "slug", *self.columns]
        statement = (
            f"SELECT {', '.join([*keys, slug, *self.columns])} FROM {self.source}"
            f" WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT %(rows)s"
        )
        named = [name.rpartition(" AS ")[2].rpartition(".")[2] for name in names]
        return [dict(zip(named, row, strict=True)) for row in sql.rows(statement, params)]
