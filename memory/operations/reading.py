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

# The first statement of every change but the one-statement write: whoever holds the scope's row goes first.
LOCK_SCOPE = "SELECT head FROM memory_scope WHERE project_id = %(project)s AND name = %(scope)s FOR UPDATE"
RAISE_HEAD = (
    "UPDATE memory_scope SET head = head + 1 WHERE project_id = %(project)s AND name = %(scope)s RETURNING head"
)


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
