"""System checks for what a deployment can get wrong; ``manage.py check`` and every command run them."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, register

from authz import token_table


@register()
def token_table_can_be_read(**_: Any) -> list[CheckMessage]:
    value = settings.NEOSIAN_SERVE_TOKEN
    if value is None:
        return []
    try:
        token_table.parse(value)
    except token_table.TableRefused as refused:
        return [Error(str(refused), hint="See docs/operating.md, 'Tokens'.", id="neosian.E001")]
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
