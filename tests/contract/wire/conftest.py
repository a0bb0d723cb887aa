from __future__ import annotations

from collections.abc import Iterator

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
