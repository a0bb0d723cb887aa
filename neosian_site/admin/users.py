"""Operators' accounts. One who left is made inactive: the trail names accounts by number, so none is removed."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.admin import GroupAdmin
from django.http import HttpRequest

from neosian_site.admin.bases import UserAdmin


class OperatorAdmin(UserAdmin):
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("username__startswith",)
    search_help_text = "The beginning of the account's name."

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class RoleAdmin(GroupAdmin):
    list_per_page = 50
    show_full_result_count = False
