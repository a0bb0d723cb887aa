"""SQL and checks the memory operations share."""

from __future__ import annotations

from datetime import datetime

from memory.errors import MemoryFormatUnsupported
from memory.models.document import FORMAT
from neosian_site.core import clock, sql
from neosian_site.core.errors import InvalidValue

DOCUMENT_JSON = sql.json_object(
    scope=sql.json_plain("d.scope"),
    path=sql.json_plain("d.path"),
    content=sql.json_string("d.content"),
    version="d.version",
    created_at=sql.json_time("d.created_at"),
    updated_at=sql.json_time("d.updated_at"),
    actor=sql.json_string("d.actor"),
    redacted=sql.json_bool("d.redacted"),
    extra="d.extra",
)

ENTRY_JSON = sql.json_object(
    path=sql.json_plain("d.path"),
    version="d.version",
    created_at=sql.json_time("d.created_at"),
    updated_at=sql.json_time("d.updated_at"),
    redacted=sql.json_bool("d.redacted"),
)

VERSION_JSON = sql.json_object(
    path=sql.json_plain("v.path"),
    version="v.version",
    action=sql.json_plain("v.action"),
    content=sql.json_string("v.content"),
    actor=sql.json_string("v.actor"),
    created_at=sql.json_time("v.created_at"),
    redacted=sql.json_bool("v.redacted"),
)

REDACTION_JSON = sql.json_object(
    path=sql.json_string("r.path"),
    actor=sql.json_string("r.actor"),
    created_at=sql.json_time("r.created_at"),
    count="r.count",
)

# The scope's lock, always taken first and held to the end of the transaction. Changes of one path share it: they are
# kept apart by the document's row, and their commits can reach the disk together. What touches several paths, or asks
# whether the scope is empty, holds it alone. An advisory lock rather than the scope's row: sharing a row writes to it.
_SCOPE_KEY = "hashtextextended(%(scope)s, %(project)s)"
SHARE_SCOPE = f"pg_advisory_xact_lock_shared({_SCOPE_KEY})"
HOLD_SCOPE = f"pg_advisory_xact_lock({_SCOPE_KEY})"


def check_format(found: int, scope: str, path: str | None) -> None:
    """Refuse a row this version cannot read.

    :raises MemoryFormatUnsupported: the row names another format
    """
    if found != FORMAT:
        raise MemoryFormatUnsupported(scope, path, f"the row is of format {found}; this server reads {FORMAT}")


def instant(listing: str, text: str) -> datetime:
    """A cursor's time.

    :raises InvalidValue: forged
    """
    try:
        return clock.parse(text)
    except InvalidValue as error:
        raise InvalidValue(f"malformed {listing} cursor") from error
