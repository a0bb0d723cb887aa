"""A migrated database to copy from, and one server that most tests share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.live import server as live_server
from tests.live.server import Server


@pytest.fixture(scope="session")
def migrated() -> Iterator[str]:
    """The name of a database with every table and no row; copying it costs less than migrating."""
    with live_server.database() as url:
        live_server.managed(url, "migrate", "--verbosity", "0")
        yield live_server.name_of(url)


@pytest.fixture
def database_url(migrated: str) -> Iterator[str]:
    """A migrated database of the test's own."""
    with live_server.database(migrated) as url:
        yield url


@pytest.fixture(scope="session")
def live(migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Two workers of four threads; tests that share it use names of their own and leave it running."""
    log = tmp_path_factory.mktemp("live") / "server.log"
    # The log must stay readable to the checks: nothing of the suite's own level.
    with (
        live_server.database(migrated) as url,
        live_server.running(url, log, env={"NEOSIAN_LOG_LEVEL": "INFO"}) as server,
    ):
        yield server
        server.assert_no_fault_logged()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Where a server of the test's own writes."""
    return tmp_path / "server.log"


@pytest.fixture
def scope() -> str:
    """A scope nobody used before."""
    return f"user:{uuid4().hex}"


@pytest.fixture
def conversation() -> str:
    """A conversation id nobody used before."""
    return f"c-{uuid4().hex}"
