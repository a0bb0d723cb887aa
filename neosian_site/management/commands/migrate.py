"""``manage.py migrate``, one process at a time: a second one waits, and then finds nothing to do."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import connections

# Any number, the same for every release.
_LOCK = 6_510_615_555_426_900_571


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        # A connection of its own: migrations commit as they go, and the lock is a transaction's, so that it also
        # holds through a pooler in transaction mode.
        holder = connections[options["database"]].copy()
        holder.set_autocommit(False)
        try:
            with holder.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
            super().handle(*args, **options)
        finally:
            holder.rollback()
            holder.close()
