"""The admin's site: what is registered, and the pages beside Django's own lists."""

from __future__ import annotations

from typing import Any

from django.contrib.admin import AdminSite
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.urls import path, re_path

from authz.models import ApiToken, GrantClient, Project
from neosian_site.admin.changes import StreamPage, Streams
from neosian_site.admin.clients import ClientAdmin
from neosian_site.admin.grants import GrantAdmin
from neosian_site.admin.listing import Listing, address
from neosian_site.admin.projects import ProjectAdmin
from neosian_site.admin.stores import Conversations, Documents, Redactions, Scopes, TurnRedactions, Turns
from neosian_site.admin.trail import EventPage, Trail
from neosian_site.admin.users import OperatorAdmin, RoleAdmin

LISTINGS: tuple[type[Listing], ...] = (
    Scopes,
    Documents,
    Redactions,
    Streams,
    Conversations,
    Turns,
    TurnRedactions,
    Trail,
)
PAGES = (StreamPage, EventPage)

# What a section is called, in the order of the menu.
SECTIONS = {"authz": "Projects and access", "memory": "Memory", "conversations": "Conversations", "auth": "Operators"}

# The words of the commands and the documentation.
NAMES = {"ApiToken": "Clients", "User": "Accounts", "Group": "Roles"}


class NeosianAdminSite(AdminSite):
    site_title = "neosian-site"
    site_header = "neosian-site"
    index_title = "Operating"
    # The service has no page for people.
    site_url = None

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self.listings = [listing(self) for listing in LISTINGS]
        self.pages = [page(self) for page in PAGES]

    def get_urls(self) -> list[Any]:
        ours: list[Any] = [
            path(page.path, self.admin_view(page), name=page.name) for page in (*self.listings, *self.pages)
        ]
        # Django knows only the sections of registered models.
        index = re_path(r"^(?P<app_label>memory|conversations)/$", self.admin_view(self.app_index), name="app_list")
        return [*ours, index, *super().get_urls()]

    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        django: list[Any] = super().get_app_list(request, app_label)
        sections = {section["app_label"]: section for section in django}
        for listing in self.listings:
            if listing.in_menu and app_label in (None, listing.app) and listing.allows(request):
                section = sections.setdefault(listing.app, self._section(listing.app))
                section["models"].append(
                    {
                        "name": listing.title,
                        "object_name": listing.name,
                        "perms": {},
                        "admin_url": address(listing.name),
                        "add_url": None,
                        "view_only": True,
                    }
                )
        for label, name in SECTIONS.items():
            if label in sections:
                sections[label]["name"] = name
                for model in sections[label]["models"]:
                    model["name"] = NAMES.get(model["object_name"], model["name"])
        return [sections[label] for label in SECTIONS if label in sections]

    def _section(self, label: str) -> dict[str, Any]:
        return {
            "app_label": label,
            "app_url": address("app_list", args=(label,)),
            "has_module_perms": True,
            "models": [],
        }


site = NeosianAdminSite()
site.register(Project, ProjectAdmin)
site.register(ApiToken, ClientAdmin)
site.register(GrantClient, GrantAdmin)
site.register(User, OperatorAdmin)
site.register(Group, RoleAdmin)
