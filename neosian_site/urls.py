"""The route table picks the contract; the contract picks authentication, body cap, decoding and error envelope."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpResponse
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from neosian_site.api.http import Health
from neosian_site.api.wire import urls as wire

health = path("health", Health.as_view())

urlpatterns: list[URLPattern | URLResolver] = [health]

if settings.NEOSIAN_ADMIN:
    from neosian_site.admin.site import site

    urlpatterns += [path("admin/", site.urls), path("admin", RedirectView.as_view(url="/admin/"))]

urlpatterns += [
    # Last: it answers every path that is left, so that strangers get 401 whatever they ask for.
    path("", include("neosian_site.api.wire.urls")),
]


def _view(pattern: URLPattern) -> Callable[..., HttpResponse]:
    view: Callable[..., HttpResponse] = pattern.callback
    return view


# Whole paths, for the server's own look-up (``wsgi.py``); the patterns above say the same.
API_ROUTES: dict[str, Callable[..., HttpResponse]] = {
    f"/{pattern.pattern}": _view(pattern) for pattern in (health, *wire.routes)
}
