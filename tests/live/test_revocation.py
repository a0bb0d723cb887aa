"""A client ended in the database is refused by every process within five seconds, without a restart."""

from __future__ import annotations

import json
import time
from pathlib import Path
from uuid import uuid4

import pytest

from tests.live.http import ask, request
from tests.live.server import Server, managed, rows, together

SECONDS = 5.0


def statuses(server: Server, token: str, connections: int = 12) -> set[int]:
    """The statuses many fresh connections get; they spread over the processes."""

    def one(_: int) -> int:
        with server.socket() as connection:
            return ask(connection, request("/v1/capabilities", method="GET", token=token)).status

    return set(together(connections, one))


@pytest.fixture(scope="module")
def project(live: Server) -> str:
    slug = f"r{uuid4().hex}"
    managed(live.database_url, "project", "create", "--name", slug)
    return slug


def created(server: Server, project: str, actor: str, *more: str) -> str:
    made = json.loads(
        managed(server.database_url, "client", "create", "--project", project, "--actor", actor, "--json", *more)
    )
    token: str = made["token"]
    return token


def seconds_until_refused(server: Server, token: str) -> float:
    """How long any process still takes the token, asked over many connections."""
    started = time.monotonic()
    while time.monotonic() - started < SECONDS + 3:
        if statuses(server, token) == {401}:
            return time.monotonic() - started
        time.sleep(0.1)
    raise AssertionError("the token still opens the server")


def test_revoked_expired_and_suspended_clients_are_refused_everywhere_within_five_seconds(
    live: Server, scope: str, project: str
) -> None:
    workers = live.worker_pids()
    neighbour = f"n{scope[-12:]}"
    managed(live.database_url, "project", "create", "--name", neighbour)
    revoked, expired, other = (created(live, project, f"client:{name}") for name in ("revoked", "expired", "other"))
    suspended = created(live, neighbour, "client:suspended")
    for token in (revoked, expired, other):
        assert statuses(live, token) == {200}
        with live.client(token) as client:
            client.ok("memory/write", scope=scope, path="p", content="x")
    managed(live.database_url, "client", "revoke", "--project", project, "--actor", "client:revoked")
    assert statuses(live, suspended) == {200}
    rows(live.database_url, "UPDATE authz_apitoken SET expires_at = now() WHERE actor = 'client:expired'")
    rows(live.database_url, "UPDATE authz_project SET suspended_at = now() WHERE slug = %s", [neighbour])
    ended = (revoked, expired, suspended)
    took = together(3, lambda n: seconds_until_refused(live, ended[n]))
    assert max(took) < SECONDS, took
    # It is over for good, for writes too.
    for token in ended:
        assert statuses(live, token) == {401}
        with live.client(token) as client:
            assert client.post("memory/write", scope=scope, path="p", content="late").status == 401
    assert statuses(live, other) == {200}
    with live.client(other) as client:
        assert client.ok("memory/read", scope=scope, path="p")["document"]["version"] == 3
    # Strangers are not remembered: a project that comes back is there at once.
    rows(live.database_url, "UPDATE authz_project SET suspended_at = NULL WHERE slug = %s", [neighbour])
    assert statuses(live, suspended) == {200}
    assert live.worker_pids() == workers


def test_a_client_whose_time_ends_is_refused_on_the_second_even_where_it_was_remembered(
    live: Server, scope: str, project: str
) -> None:
    token = created(live, project, "client:short")
    rows(
        live.database_url,
        "UPDATE authz_apitoken SET expires_at = now() + interval '1500 ms' WHERE actor = 'client:short'",
    )
    with live.client(token) as client:
        ends = time.monotonic() + 1.6
        assert client.raw("GET", "/v1/capabilities").status == 200
        while time.monotonic() < ends:
            time.sleep(0.02)
        assert client.raw("GET", "/v1/capabilities").status == 401
    assert statuses(live, token) == {401}


def test_a_new_client_works_at_once_and_only_within_its_reach(live: Server, scope: str, project: str) -> None:
    token = created(live, project, "client:narrow", "--scope-prefix", scope)
    assert statuses(live, token) == {200}
    with live.client(token) as client:
        client.ok("memory/write", scope=scope, path="p", content="x")
        assert client.post("memory/write", scope="user:elsewhere", path="p", content="x").status == 403
        # The half that was not given is closed.
        assert client.post("conversation/last_turn_number", conversation_id="c").status == 403
        assert client.post("store/scopes").status == 403


def readings(server: Server, token: str, scope: str) -> set[int]:
    """The statuses of one read over many fresh connections."""

    def one(_: int) -> int:
        with server.socket() as connection:
            return ask(connection, request("/v1/memory/read", {"scope": scope, "path": "p"}, token=token)).status

    return set(together(12, one))


def test_a_change_of_what_a_client_may_do_is_in_force_everywhere_within_five_seconds_and_so_is_its_undoing(
    live: Server, scope: str, tmp_path: Path
) -> None:
    workers = live.worker_pids()
    opened, scoped, switched = (f"{letter}{scope[-12:]}" for letter in "osw")
    slugs = (opened, scoped, switched)
    together(3, lambda n: managed(live.database_url, "project", "create", "--name", slugs[n]))
    granted, nothing = tmp_path / "granted.toml", tmp_path / "nothing.toml"
    granted.write_text(
        f'grant_format = 1\n[[clients]]\nactor = "client:g"\n[[clients.scopes]]\nscope = "{scope}"\nread = true\n'
    )
    nothing.write_text('grant_format = 1\n[[clients]]\nactor = "client:g"\n')
    managed(live.database_url, "grants", "import", "--project", scoped, str(granted))
    managed(live.database_url, "project", "access", "--name", scoped, "scoped")

    def client_command(verb: str, actor: str, *more: str) -> tuple[str, ...]:
        return "client", verb, "--project", opened, "--actor", actor, *more

    # Whose token; the command and the status it leads to; and the command that undoes it.
    changes: list[tuple[tuple[str, str], tuple[str, ...], int, tuple[str, ...]]] = [
        (
            (scoped, "client:g"),
            ("grants", "import", "--project", scoped, str(nothing)),
            403,
            ("grants", "import", "--project", scoped, str(granted)),
        ),
        ((opened, "client:s"), client_command("suspend", "client:s"), 401, client_command("resume", "client:s")),
        (
            (opened, "client:e"),
            client_command("expire", "client:e", "--at", "2026-01-01T00:00:00Z"),
            401,
            client_command("expire", "client:e", "--never"),
        ),
        # It has no grants.
        (
            (switched, "client:a"),
            ("project", "access", "--name", switched, "scoped"),
            403,
            ("project", "access", "--name", switched, "open"),
        ),
    ]
    tokens = together(len(changes), lambda n: created(live, *changes[n][0]))

    def seconds_until(token: str, command: tuple[str, ...], wanted: int) -> float:
        managed(live.database_url, *command)
        started = time.monotonic()
        while time.monotonic() - started < SECONDS + 3:
            if readings(live, token, scope) == {wanted}:
                return time.monotonic() - started
            time.sleep(0.1)
        raise AssertionError(f"{command} is not in force")

    for token in tokens:
        assert readings(live, token, scope) == {200}
    took = together(len(changes), lambda n: seconds_until(tokens[n], changes[n][1], changes[n][2]))
    assert max(took) < SECONDS, took
    took = together(len(changes), lambda n: seconds_until(tokens[n], changes[n][3], 200))
    assert max(took) < SECONDS, took
    assert live.worker_pids() == workers
