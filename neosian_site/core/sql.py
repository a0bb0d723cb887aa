"""Running a statement of our own, and the fragments such statements share.

The hot operations are single SQL statements; the ORM's model instances cost more than the statement itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from psycopg import ClientCursor
from psycopg.pq import Format

# Numbers of any size are compared with bigint columns: clamp to this first.
MAX_BIGINT = 2**63 - 1

Params = Sequence[Any] | Mapping[str, Any]
Row = tuple[Any, ...]


def rows(statement: str, params: Params = ()) -> list[Row]:
    """Every row the statement answers."""
    with _executed(statement, params) as cursor:
        found: list[Row] = cursor.fetchall()
    return found


def rows_planned_afresh(statement: str, params: Params = ()) -> list[Row]:
    """As :func:`rows`, for a statement whose best plan hangs on the values: they are written into its text."""
    with _spelled_out(statement, params) as cursor:
        found: list[Row] = cursor.fetchall()
    return found


def execute_spelled_out(statement: str, params: Params = ()) -> None:
    """Run a statement that takes no parameters of its own (``DECLARE``): they are written into its text."""
    with _spelled_out(statement, params):
        pass


def _spelled_out(statement: str, params: Params) -> Any:
    wrapper = connections[DEFAULT_DB_ALIAS]
    wrapper.ensure_connection()
    with wrapper.wrap_database_errors:
        if wrapper.force_debug_cursor:
            # Spelled out by psycopg, run through Django's cursor, which counts it.
            with ClientCursor(wrapper.connection) as speller:
                spelled = speller.mogrify(statement, params)
            counted = wrapper.cursor()
            counted.execute(spelled)
            return counted
        return ClientCursor(wrapper.connection).execute(statement, params)


def row(statement: str, params: Params = ()) -> Row | None:
    """The first row, or none."""
    with _executed(statement, params) as cursor:
        found: Row | None = cursor.fetchone()
    return found


def execute(statement: str, params: Params = ()) -> int:
    """The number of rows the statement changed."""
    with _executed(statement, params) as cursor:
        count: int = cursor.rowcount
    return count


def _executed(statement: str, params: Params) -> Any:
    """A cursor that has run the statement.

    Straight on psycopg's connection where it is open: Django's layers around a cursor cost a third of a short read.
    Its errors, its transactions and, while queries are counted, its cursor stay in force. Results travel in binary:
    bytes arrive as bytes.
    """
    wrapper = connections[DEFAULT_DB_ALIAS]
    if wrapper.connection is None or wrapper.force_debug_cursor:
        counted = wrapper.cursor()
        counted.cursor.format = Format.BINARY
        counted.execute(statement, params)
        return counted
    with wrapper.wrap_database_errors:
        return wrapper.connection.execute(statement, params, binary=True)


def copy(table: str, columns: Sequence[str], values: Iterable[Row]) -> None:
    """Stream rows into a table: a 60 MB archive never stands in memory a second time."""
    statement = f"COPY {table} ({', '.join(columns)}) FROM STDIN"
    # ``copy`` is psycopg's own, reached through Django's wrapper, which therefore translates no error of it.
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as stream:
        for value in values:
            stream.write_row(value)


def time_text(column: str) -> str:
    """SQL for a ``timestamptz`` as :func:`neosian_site.core.clock.render` spells it."""
    return f"replace(to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US'), '.000000', '') || 'Z'"


def json_object(**members: str) -> str:
    """SQL that spells a JSON object, compact, in this order and in UTF-8; each value is an expression of JSON text.

    ``concat`` rather than ``json_build_object``, which writes blanks around the colons and would encode twice what is
    JSON already; and rather than ``||``, which would copy a 64 MiB document once for each member.
    """
    pieces = []
    for index, (name, expression) in enumerate(members.items()):
        lead = "{" if index == 0 else ","
        pieces += [f"'{lead}\"{name}\":'", expression]
    return f"convert_to(concat({', '.join(pieces)}, '}}'), 'UTF8')"


def json_string(column: str) -> str:
    """SQL for a text column as a JSON string, ``null`` for NULL."""
    return f"coalesce(to_json({column})::text, 'null')"


def json_number(column: str) -> str:
    """SQL for a nullable number as JSON."""
    return f"coalesce({column}::text, 'null')"


def json_plain(column: str) -> str:
    """SQL for text that needs no escaping (names of a checked grammar, times) as a JSON string."""
    return f"concat('\"', {column}, '\"')"


def json_bool(column: str) -> str:
    """SQL for a boolean as JSON."""
    return f"CASE WHEN {column} THEN 'true' ELSE 'false' END"


def json_time(column: str) -> str:
    """SQL for a ``timestamptz`` as a JSON string."""
    return json_plain(f"({time_text(column)})")


def batches(keys: Iterable[Row], most_bytes: int) -> Iterator[list[Row]]:
    """Runs of keys whose rows can be held in memory together; each key's last column is its row's size in bytes."""
    batch: list[Row] = []
    held = 0
    for key in keys:
        if batch and held + key[-1] > most_bytes:
            yield batch
            batch, held = [], 0
        batch.append(key)
        held += key[-1]
    if batch:
        yield batch
