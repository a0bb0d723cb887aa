from __future__ import annotations

from django.apps import AppConfig


class NeosianSiteConfig(AppConfig):
    name = "neosian_site"

    def ready(self) -> None:
        from neosian_site import checks  # noqa: F401, PLC0415 - registering them needs the app registry
