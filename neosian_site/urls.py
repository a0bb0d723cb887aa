"""The route table picks the contract; the contract picks authentication, body cap, decoding and error envelope."""

from __future__ import annotations

from django.urls import include, path

from neosian_site.api.http import Health

urlpatterns = [
    path("health", Health.as_view()),
    # Last: it answers every path that is left, so that strangers get 401 whatever they ask for.
    path("", include("neosian_site.api.wire.urls")),
]
