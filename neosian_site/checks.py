"""System checks for what a deployment can get wrong; ``manage.py check`` and every command run them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from authz import startup
from authz.grants_file import GrantsRefused
from authz.token_table import TableRefused


@register()
def callers_can_be_told_apart(**_: Any) -> list[CheckMessage]:
    try:
        startup.check(settings.NEOSIAN_SERVE_TOKEN, settings.NEOSIAN_SERVE_GRANTS)
    except TableRefused as refused:
        return [Error(str(refused), hint="See docs/operating.md, 'Tokens'.", id="neosian.E001")]
    except GrantsRefused as refused:
        return [Error(str(refused), hint="See docs/operating.md, 'Grants'.", id="neosian.E005")]
    return []


@register()
def times_are_utc(**_: Any) -> list[CheckMessage]:
    if settings.USE_TZ and settings.TIME_ZONE == "UTC":
        return []
    return [Error("TIME_ZONE must be UTC and USE_TZ true", id="neosian.E003")]


@register()
def database_wait_is_bounded(**_: Any) -> list[CheckMessage]:
    if settings.NEOSIAN_DB_WAIT > 0:
        return []
    return [Error("NEOSIAN_DB_WAIT must be above 0", hint="Leave it unset for 5 seconds.", id="neosian.E004")]


@register()
def sessions_are_shared(**_: Any) -> list[CheckMessage]:
    if settings.NEOSIAN_SECRET_KEY_IS_KEPT:
        return []
    return [
        checks.Warning(
            "no signing key is set and none can be kept: the admin's logins hold for one process only",
            hint="Set NEOSIAN_SECRET_KEY, or let NEOSIAN_DATA_DIR be written, or set NEOSIAN_ADMIN=off.",
            id="neosian.W006",
        )
    ]


@register(deploy=True)
def database_is_not_embedded(**_: Any) -> list[CheckMessage]:
    host = settings.DATABASES["default"].get("HOST", "")
    if str(settings.NEOSIAN_DATA_DIR) not in str(host):
        return []
    return [
        checks.Warning(
            "the embedded database serves this process",
            hint="Set DATABASE_URL to a PostgreSQL that is backed up.",
            id="neosian.W002",
        )
    ]
