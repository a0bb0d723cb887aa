"""The admin over a real server, with several processes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.admin.pages import _Reader
from tests.live import server as live_server
from tests.live.server import Server, managed, rows
from tests.live.test_revocation import created, statuses

SECONDS = 5.0
PASSWORD = "correct horse battery"


@contextlib.contextmanager
def browser(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, follow_redirects=True, trust_env=False, timeout=30) as client:
        yield client


def form_of(page: httpx.Response, action: str | None = None) -> dict[str, str]:
    reader = _Reader()
    reader.feed(page.text)
    return next(form.values for form in reader.forms if form.method == "post" and form.action != "/admin/logout/")


def logged_in(server: Server, client: httpx.Client) -> httpx.Response:
    name = f"op{uuid4().hex[:12]}"
    env = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    command = ("createsuperuser", "--noinput", "--username", name, "--email", "")
    done = live_server.manage(server.database_url, *command, **env)
    assert done.returncode == 0, done.stderr
    login = client.get("/admin/")
    assert login.url.path == "/admin/login/"
    return client.post(login.url, data={**form_of(login), "username": name, "password": PASSWORD})


def test_an_operator_logs_in_and_ends_a_client_everywhere_within_five_seconds(live: Server) -> None:
    project = f"r{uuid4().hex}"
    managed(live.database_url, "project", "create", "--name", project)
    token, other = (created(live, project, f"client:{name}") for name in ("suspended", "other"))
    assert statuses(live, token) == {200}
    with browser(live) as client:
        index = logged_in(live, client)
        assert index.status_code == 200
        assert "Clients" in index.text
        # Every process knows the session: the key and the sessions are shared.
        assert {client.get("/admin/", headers={"Connection": "close"}).url.path for _ in range(12)} == {"/admin/"}
        listed = client.get("/admin/authz/apitoken/", params={"project": project})
        assert "client:suspended" in listed.text
        assert token not in listed.text
        pk = rows(live.database_url, "SELECT id FROM authz_apitoken WHERE actor = 'client:suspended'")[0][0]
        act = f"/admin/authz/apitoken/{pk}/act/suspend/"
        ask = client.get(act)
        done = client.post(act, data=form_of(ask), headers={"Origin": live.url})
        assert "Client client:suspended is suspended" in done.text
    started = time.monotonic()
    while statuses(live, token) != {401}:
        assert time.monotonic() - started < SECONDS
        time.sleep(0.1)
    assert statuses(live, other) == {200}
    noted = rows(live.database_url, "SELECT by FROM authz_authzevent WHERE subject = 'client client:suspended'")
    assert noted[-1][0].startswith("admin:")


def test_the_style_sheets_arrive_whole(live: Server) -> None:
    with browser(live) as client:
        login = client.get("/admin/login/")
        sheet = login.text.split('rel="stylesheet" href="')[1].split('"')[0]
        found = client.get(sheet)
        assert found.status_code == 200
        assert found.headers["Content-Type"].startswith("text/css")
        assert int(found.headers["Content-Length"]) == len(found.content) > 1000
        assert client.head(sheet).headers["Content-Length"] == found.headers["Content-Length"]
        again = client.get(sheet, headers={"If-Modified-Since": found.headers["Last-Modified"]})
        assert (again.status_code, again.content) == (304, b"")


def test_a_page_survives_a_database_that_went_away_and_came_back(database_url: str, log: Path) -> None:
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with live_server.running(database_url, log, workers=1) as server, browser(server) as client:
        logged_in(server, client)
        rows(database_url, f"SELECT pg_terminate_backend(pid) {others}")
        live_server.wait_until(lambda: rows(database_url, f"SELECT 1 {others}") == [])
        assert [client.get("/admin/").status_code for _ in range(8)] == [200] * 8
        server.assert_no_fault_logged()


@pytest.mark.parametrize("path", ["/admin/", "/admin", "/admin/login/", "/static/", "/static/admin/css/base.css"])
def test_switched_off_there_is_no_admin(off: Server, path: str) -> None:
    with browser(off) as client:
        answer = client.get(path)
        assert (answer.status_code, answer.content) == (401, b"unauthorized")
        assert set(answer.headers) == {"server", "date", "connection", "www-authenticate", "content-length"}
    with off.client() as token:
        answer = token.raw("GET", path)
        assert (answer.status, answer.body) == (404, b"Not Found")


@pytest.fixture(scope="module")
def off(migrated: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("off")
    env = {"NEOSIAN_ADMIN": "off", "NEOSIAN_DATA_DIR": str(folder / "data")}
    with (
        live_server.database(migrated) as url,
        live_server.running(url, folder / "server.log", workers=1, env=env) as server,
    ):
        yield server
        server.assert_no_fault_logged()
        assert not (folder / "data").exists()
