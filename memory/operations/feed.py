"""The change feed's own bookkeeping: noting an event with its mutation, and numbering what was noted.

Numbers are dense and follow commit order. Giving them inside a write would make the writes of one scope wait for each
other's commit, so a write only notes its event, in its own transaction; whoever reads or prunes the feed numbers what
has been committed since, under the scope's row. The order of arrival is the order of changes of one path, because an
arrival is taken while the locks that order them are held; changes that nothing orders get the order in which they are
first seen committed, and keep it.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction

from neosian_site.core import sql

# Events numbered in one transaction: a long backlog never holds the scope's row for long.
BATCH = 5_000

_COLUMNS = "kind, path, version, previous_path, previous_version, actor, count, recorded_at"

_NOTE = f"""
    INSERT INTO memory_pendingchange (project_id, scope, {_COLUMNS})
    VALUES (%(project)s, %(scope)s, %(kind)s, %(path)s, %(version)s, %(previous_path)s, %(previous_version)s,
            %(actor)s, %(count)s, %(now)s)
"""

LOCK_STREAM = """
    SELECT stream, origin, head, floor FROM memory_scope
    WHERE project_id = %(project)s AND name = %(scope)s FOR UPDATE
"""

# A scope that held something before the feed existed gets its stream with its first event.
_NUMBER = f"""
    WITH batch AS (
        SELECT project_id, scope, arrival FROM memory_pendingchange
        WHERE project_id = %(project)s AND scope = %(scope)s
        ORDER BY arrival LIMIT %(batch)s
    ), taken AS (
        DELETE FROM memory_pendingchange p USING batch b
        WHERE p.project_id = b.project_id AND p.scope = b.scope AND p.arrival = b.arrival
        RETURNING p.*
    ), numbered AS (
        INSERT INTO memory_changeevent (project_id, scope, sequence, {_COLUMNS})
        SELECT project_id, scope, %(head)s + row_number() OVER (ORDER BY arrival), {_COLUMNS}
        FROM taken
    ), counted AS (
        SELECT count(*) AS events FROM taken
    )
    UPDATE memory_scope
    SET head = %(head)s + counted.events,
        stream = coalesce(stream, gen_random_uuid()),
        origin = coalesce(origin, 'untracked')
    FROM counted
    WHERE project_id = %(project)s AND name = %(scope)s AND counted.events > 0
    RETURNING counted.events
"""


def note(params: dict[str, Any], kind: str, **event: Any) -> None:
    """Note an event in the mutation's own transaction, once the locks that order it are held.

    :param params: the mutation's ``project``, ``scope``, ``path``, ``actor`` and ``now``
    """
    empty = {"version": None, "previous_path": None, "previous_version": None, "count": None}
    sql.execute(_NOTE, {**params, **empty, **event, "kind": kind})


def number(project_id: int, scope: str) -> None:
    """Number every event of the scope that is committed by now, in transactions of :data:`BATCH`."""
    params = {"project": project_id, "scope": scope, "batch": BATCH}
    more = True
    while more:
        with transaction.atomic():
            stream = sql.row(LOCK_STREAM, params)
            if stream is None:
                return
            done = sql.row(_NUMBER, {**params, "head": stream[2]})
        more = done is not None and done[0] == BATCH
