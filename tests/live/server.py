"""A real gunicorn on a database of its own, for tests that need processes, sockets and signals."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import httpx
import psycopg
from psycopg import sql

from tests.clients import LiveClient

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0
STOP_SECONDS = 45.0
TOKEN = "tok-default"
TOKENS = f"client:default={TOKEN},client:ops=tok-ops,client:alice@user:alice+alice-=tok-alice"

T = TypeVar("T")


# Databases -----------------------------------------------------------------------------------------------------------


def url_of(name: str, base: str | None = None) -> str:
    """The address of the database ``name`` beside the suite's own (or beside ``base``)."""
    return urlunsplit(urlsplit(base or os.environ["DATABASE_URL"])._replace(path=f"/{name}"))


def new_name() -> str:
    return f"neosian_live_{uuid4().hex}"


@contextlib.contextmanager
def database(template: str = "template0", base: str | None = None, name: str | None = None) -> Iterator[str]:
    """The address of a new database, a copy of ``template``; dropped at the end."""
    name = name or new_name()
    made = sql.Identifier(name)
    with psycopg.connect(base or os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(made, sql.Identifier(template)))
    try:
        yield url_of(name, base)
    finally:
        with psycopg.connect(base or os.environ["DATABASE_URL"], autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(made))


def name_of(database_url: str) -> str:
    return urlsplit(database_url).path.lstrip("/")


def rows(database_url: str, statement: str, params: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    with psycopg.connect(database_url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), params)
        return cursor.fetchall() if cursor.description else []


# Processes -----------------------------------------------------------------------------------------------------------


def environment(database_url: str | None, **more: str | None) -> dict[str, str]:
    """This process's environment without any setting of the product, and with these; ``None`` leaves one out."""
    ours = ("NEOSIAN_", "DATABASE_URL", "DJANGO_", "GUNICORN_", "PYTEST_", "PORT")
    found: dict[str, str | None] = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    found |= {"NO_PROXY": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1", "DATABASE_URL": database_url, **more}
    return {name: value for name, value in found.items() if value is not None}


def manage(database_url: str | None, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """One ``manage.py`` command, run to its end."""
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment(database_url, **env),
        text=True,
        capture_output=True,
        timeout=120,
    )


def managed(database_url: str, *arguments: str) -> str:
    """What a command that must succeed printed."""
    done = manage(database_url, *arguments)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def children(pid: int) -> list[int]:
    """The living child processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold anything.
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(parent) == pid and state != "Z":
                found.append(int(entry.name))
    return sorted(found)


def figure(pid: int, name: str) -> int:
    """A number of ``/proc/<pid>/status``; sizes are in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise AssertionError(f"no figure {name}")


def is_alive(pid: int) -> bool:
    """Whether the process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(done: Callable[[], object], seconds: float = 20.0, what: str = "") -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, what or "waited in vain"
        time.sleep(0.02)


def together(count: int, work: Callable[[int], T], seconds: float = 90.0) -> list[T]:
    """What ``work(0)`` to ``work(count - 1)`` answer, each in a thread of its own, started at one moment."""
    gate = threading.Barrier(count)

    def run(number: int) -> T:
        gate.wait(seconds)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return [future.result(seconds) for future in [pool.submit(run, number) for number in range(count)]]


# The server ----------------------------------------------------------------------------------------------------------


@dataclass
class Server:
    """A running server; it alone is stopped at the end."""

    process: subprocess.Popen[bytes]
    port: int
    database_url: str
    log: Path
    workers: int
    threads: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def worker_pids(self) -> list[int]:
        return children(self.process.pid)

    def wait_for_workers(self, but_not: Sequence[int] = ()) -> list[int]:
        """The processes that serve, once all do; a serving one has its threads."""

        def ready() -> bool:
            with contextlib.suppress(OSError):
                pids = self.worker_pids()
                return (
                    len(pids) == self.workers
                    and not set(but_not) & set(pids)
                    and all(figure(pid, "Threads") > self.threads for pid in pids)
                )
            return False

        wait_until(ready, what=f"not every worker serves: {self.text()[-2000:]}")
        return self.worker_pids()

    @contextlib.contextmanager
    def client(self, token: str | None = TOKEN) -> Iterator[LiveClient]:
        client = LiveClient(self.url, token)
        try:
            yield client
        finally:
            client.http.close()

    @contextlib.contextmanager
    def clients(self, count: int, token: str | None = TOKEN) -> Iterator[list[LiveClient]]:
        """One for each thread, so that each has a connection of its own."""
        with contextlib.ExitStack() as stack:
            yield [stack.enter_context(self.client(token)) for _ in range(count)]

    @contextlib.contextmanager
    def socket(self, seconds: float = 30.0) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            yield connection

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def assert_no_fault_logged(self) -> None:
        """Nothing unforeseen happened in the server so far."""
        for sign in ("Traceback", "request failed", "WORKER TIMEOUT", "Error handling request", "Socket error"):
            assert sign not in self.text(), self.text()[-4000:]

    def stop(self) -> int:
        """The exit status after SIGTERM."""
        self.process.terminate()
        return self.process.wait(STOP_SECONDS)

    def end(self) -> None:
        """Leave nothing running, whatever state it is in."""
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()
        # A group of its own, whose number belongs to no one else while a member of it lives.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)


def start(
    database_url: str,
    log: Path,
    *,
    port: int,
    arguments: Sequence[str] = (),
    env: Mapping[str, str | None] | None = None,
) -> subprocess.Popen[bytes]:
    """gunicorn as an operator starts it; nothing is waited for."""
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "gunicorn", "-c", "deploy/gunicorn.conf.py", *arguments],
            cwd=ROOT,
            env=environment(database_url, **{"NEOSIAN_SERVE_TOKEN": TOKENS, "PORT": str(port), **(env or {})}),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )


@contextlib.contextmanager
def running(
    database_url: str,
    log: Path,
    *,
    workers: int = 2,
    threads: int = 4,
    arguments: Sequence[str] = (),
    env: Mapping[str, str | None] | None = None,
) -> Iterator[Server]:
    """A server on a migrated database, every worker serving."""
    figures = {"NEOSIAN_WORKERS": str(workers), "NEOSIAN_THREADS": str(threads), **(env or {})}
    for attempt in range(3):
        port = free_port()
        process = start(database_url, log, port=port, arguments=arguments, env=figures)
        server = Server(process, port, database_url, log, workers, threads)
        try:
            if _answers(server):
                server.wait_for_workers()
                yield server
                return
        finally:
            server.end()
        # Someone else took the port between the look and the start.
        assert attempt < 2, server.text()[-4000:]
        assert "in use" in server.text(), server.text()[-4000:]


def _answers(server: Server) -> bool:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        if f"Listening at: {server.url}" in server.text():
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{server.url}/health", timeout=5, trust_env=False).status_code == 200:
                    return True
        elif "in use" in server.text():
            return False
        time.sleep(0.02)
    return False
