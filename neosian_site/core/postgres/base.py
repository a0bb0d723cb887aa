"""Django's PostgreSQL engine, whose pool hands out no dead connection.

After a database restart every pooled connection is dead, and Django finds out by failing one request for each. A
server that goes away leaves the socket readable (its farewell, or the end of the stream), so a poll that costs about a
microsecond tells, where ``SELECT 1`` would double the round trips of a request.
"""

from __future__ import annotations

import select
from typing import Any

from django.db.backends.postgresql import base


def alive(connection: Any) -> bool:
    """Whether an idle connection is still open at the server's end."""
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN | select.POLLPRI)
    return not poll.poll(0)


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        pool = self.pool
        if pool is None:
            return connection
        # Each dead one is given back closed, which makes the pool replace it; there are at most ``max_size``.
        for _ in range(pool.max_size):
            if alive(connection):
                break
            connection.close()
            pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection
