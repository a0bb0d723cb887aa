from __future__ import annotations

from django.apps import AppConfig


class AuthzConfig(AppConfig):
    name = "authz"
    verbose_name = "Projects and access"
