from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.signals import request_started
from django.db import close_old_connections


@pytest.fixture(autouse=True)
def _connection_outlives_requests() -> Iterator[None]:
    """Paths that are no route run through Django's own handler, which would close the connection the test's transaction
    is on. Django's test client does the same."""
    request_started.disconnect(close_old_connections)
    yield
    request_started.connect(close_old_connections)


@pytest.fixture
def feed_of(wire: Any) -> Callable[..., Any]:
    """Make the scope's feed as if it had become so: five events, the first ``floor`` of them pruned."""

    from memory.models import ChangeEvent, Scope
    from tests.contract.wire import feed_ground

    def make(origin: str | None, floor: int = 0, head: int = 5) -> Any:
        for number in range(head):
            wire.ok("memory/write", scope=feed_ground.SCOPE, path=f"n{number + 1}", content="x")
        wire.ok("memory/changes", scope=feed_ground.SCOPE)
        ChangeEvent.objects.filter(sequence__lte=floor).delete()
        stream = {"stream": feed_ground.STREAM, "head": head, "floor": floor}
        if origin is None:
            ChangeEvent.objects.all().delete()
            stream = {"stream": None, "head": 0, "floor": 0}
        Scope.objects.update(origin=origin, **stream)
        return wire

    return make
