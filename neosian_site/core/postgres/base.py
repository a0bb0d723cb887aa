"""Django's PostgreSQL engine for a threaded server: a connection for each thread, kept, and looked at before use.

After a database restart every kept connection is dead, and Django finds out by failing one request for each. A server
that goes away leaves the socket readable (its farewell, or the end of the stream), so a poll that costs about a
microsecond tells, where ``SELECT 1`` would double the round trips of a request.
"""

from __future__ import annotations

import select

from django.conf import settings
from django.db.backends.postgresql import base


def _milliseconds(seconds: float) -> str:
    return f"{round(seconds * 1000)}ms"


class DatabaseWrapper(base.DatabaseWrapper):
    def init_connection_state(self) -> None:
        super().init_connection_state()
        # Our statements have one good plan each. Left to itself the server plans those with a LIMIT anew each time,
        # which takes longer than running them. Waits are bounded while serving. Where a pooler gives these
        # settings to others too they do no harm.
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT set_config('plan_cache_mode', 'force_generic_plan', false),"
                " set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false)",
                [_milliseconds(settings.NEOSIAN_DB_LOCK_WAIT), _milliseconds(settings.NEOSIAN_DB_STATEMENT_WAIT)],
            )

    def forget_if_dead(self) -> None:
        """Close the idle connection if its server has gone; the next statement opens a new one."""
        connection = self.connection
        if connection is None or self.in_atomic_block:
            return
        if not connection.closed:
            poll = select.poll()
            poll.register(connection.fileno(), select.POLLIN | select.POLLPRI)
            if not poll.poll(0):
                return
        self.close()

    def give_back_buffers(self) -> None:
        """Close the idle connection after a large message: its buffers stay as large as long as it lives."""
        if not self.in_atomic_block:
            self.close()
