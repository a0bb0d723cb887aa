"""Who gets in, to what; and what the pages tell a browser."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client

from authz.models import AuthzEvent, GrantClient, Project
from tests.admin import rows
from tests.admin.conftest import account, logged_in
from tests.admin.pages import Browser

# Every address of ours, and the permission that opens it.
PAGES = {
    "/admin/authz/project/": "authz.view_project",
    "/admin/authz/project/add/": "authz.add_project",
    "/admin/authz/project/1/change/": "authz.view_project",
    "/admin/authz/project/1/act/suspend/": "authz.change_project",
    "/admin/authz/project/1/act/scope/": "authz.change_project",
    "/admin/authz/apitoken/": "authz.view_apitoken",
    "/admin/authz/apitoken/add/": "authz.add_apitoken",
    "/admin/authz/apitoken/{client}/change/": "authz.view_apitoken",
    "/admin/authz/apitoken/{client}/explained/": "authz.view_apitoken",
    "/admin/authz/apitoken/{client}/act/revoke/": "authz.change_apitoken",
    "/admin/authz/grantclient/": "authz.view_grantclient",
    "/admin/authz/grantclient/add/": "authz.add_grantclient",
    "/admin/authz/grantclient/{grant}/change/": "authz.view_grantclient",
    "/admin/authz/grantclient/{grant}/delete/": "authz.delete_grantclient",
    "/admin/authz/changes/": "authz.view_authzevent",
    "/admin/authz/changes/{event}/": "authz.view_authzevent",
    "/admin/memory/scopes/": "memory.view_scope",
    "/admin/memory/documents/?project=default&scope=user:a": "memory.view_document",
    "/admin/memory/redactions/": "memory.view_redaction",
    "/admin/memory/changes/": "memory.view_scope",
    "/admin/memory/changes/stream/?project=default&scope=user:a": "memory.view_scope",
    "/admin/conversations/conversations/": "conversations.view_conversation",
    "/admin/conversations/turns/?project=default&conversation=c": "conversations.view_turn",
    "/admin/conversations/redactions/": "conversations.view_turnredaction",
}


@pytest.fixture
def there(default) -> dict[str, int]:
    """One of everything, and the numbers their addresses hold."""
    rows.documents(default, "user:a", 1)
    rows.turns(default, "c", 1)
    rows.grants(default, 1)
    rows.events(default, 1)
    return {
        "client": rows.clients(default, 1)[0].pk,
        "grant": GrantClient.objects.values_list("pk", flat=True).get(),
        "event": AuthzEvent.objects.values_list("pk", flat=True).get(),
    }


@pytest.mark.parametrize("url", ["/admin/", *PAGES, "/admin/nothing/", "/admin/jsi18n/", "/admin/autocomplete/"])
def test_a_stranger_is_sent_to_the_login(there, url):
    for browser in (Browser(Client()), logged_in(account("mallory", is_staff=False, is_superuser=True))):
        for method in ("get", "post"):
            answer = getattr(browser.client, method)(url.format(**there))
            assert answer.status_code == 302
            assert answer.headers["Location"].startswith("/admin/login/?next=/admin/")


@pytest.mark.parametrize(("url", "permission"), PAGES.items())
def test_a_page_opens_to_its_permission_and_to_no_other(there, staff, url, permission):
    others = [found for found in set(PAGES.values()) if found != permission]
    # Changing includes looking, as everywhere in Django's admin.
    others = [found for found in others if found.replace("change_", "view_") != permission]
    allowed, refused = logged_in(account("allowed", permission)), logged_in(account("refused", *others))
    if "/act/" in url or "/delete/" in url:
        allowed = logged_in(
            account("whole", permission, permission.replace("change", "view").replace("delete", "view"))
        )
    assert allowed.get(url.format(**there)).status == 200
    assert refused.get(url.format(**there)).status == 403


@pytest.mark.parametrize("url", [url for url in PAGES if "/act/" in url or "stream" in url])
def test_looking_is_not_acting(there, staff, url):
    browser = staff("authz.view_project", "authz.view_apitoken", "memory.view_scope")
    page = browser.post(url.format(**there), {"do": "ask"})
    assert page.status == 403
    assert Project.objects.get(slug="default").suspended_at is None
    assert AuthzEvent.objects.count() == 1


def test_the_menu_names_what_one_may_see_and_no_more(staff):
    page = staff("memory.view_scope").get("/admin/")
    assert {link for link in page.links if link.startswith("/admin/") and link.count("/") > 3} == {
        "/admin/memory/scopes/",
        "/admin/memory/changes/",
    }


def test_the_menu_names_every_list(browser):
    links = browser.get("/admin/").links
    for url in PAGES:
        if "{" not in url and "?" not in url and "/act/" not in url and "/change/" not in url:
            assert url in links


def test_a_person_logs_in_with_a_password_and_out_again(db):
    User.objects.create_superuser("carol", password="correct horse battery")
    browser = Browser(Client(enforce_csrf_checks=True))
    login = browser.get("/admin/login/?next=/admin/authz/project/")
    wrong = browser.send(login, username="carol", password="wrong")
    assert "Please enter the correct username and password" in wrong.text
    assert not Session.objects.exists()
    page = browser.send(login, username="carol", password="correct horse battery")
    assert page.url == "/admin/authz/project/"
    assert page.status == 200
    for cookie in (browser.client.cookies["neosian_session"], browser.client.cookies["neosian_csrf"]):
        assert cookie["httponly"] is True
        assert cookie["samesite"] == "Lax"
        assert cookie["path"] == "/admin/"
    form = next(form for form in page.forms if form.action.endswith("/logout/"))
    browser.client.post(form.action, form.values)
    assert browser.get("/admin/").status == 302


def test_a_form_that_comes_from_elsewhere_is_refused(alice, default):
    client = Client(enforce_csrf_checks=True)
    client.force_login(alice)
    assert client.post("/admin/authz/project/1/act/suspend/").status_code == 403
    assert Project.objects.get(pk=1).suspended_at is None


def test_pages_run_and_load_nothing_foreign_and_are_not_framed_or_kept(browser):
    page = browser.get("/admin/")
    assert page.headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
        " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "no-store" in page.headers["cache-control"]


def test_a_form_beyond_the_bound_is_not_read(browser):
    answer = browser.client.generic("POST", "/admin/authz/project/add/", b"", CONTENT_LENGTH=str(4 * 1024 * 1024 + 1))
    assert answer.status_code == 413
    assert Project.objects.count() == 1


def test_the_admin_is_found_without_its_slash(browser):
    assert browser.follow("/admin").url == "/admin/"


def test_a_page_that_is_none_is_404_for_operators(browser):
    assert browser.get("/admin/nothing/").status == 404
    assert browser.get("/admin/authz/project/1/act/nothing/").status == 404


@pytest.mark.parametrize(
    "url",
    [
        "/admin/authz/project/99/change/",
        "/admin/authz/project/99/act/suspend/",
        "/admin/authz/apitoken/99/change/",
        "/admin/authz/apitoken/99/explained/",
        "/admin/authz/grantclient/99/change/",
        "/admin/authz/changes/99/",
        "/admin/authz/project/99999999999999999999999/change/",
        "/admin/authz/changes/99999999999999999999999/",
        "/admin/memory/changes/stream/?project=default&scope=user:none",
        "/admin/memory/changes/stream/?project=%00&scope=%00",
        "/admin/memory/changes/stream/",
    ],
)
def test_what_is_gone_is_said_on_a_page_that_leads_on(browser, url):
    page = browser.follow(url)
    assert page.status == 200
    assert page.url != url
    assert any(word in page.text for word in ("t exist. Perhaps it was deleted?", "There is no", "has no scope"))


class TestAnnouncement:
    """What a start says of the admin."""

    URL = "http://127.0.0.1:8000"

    def said(self, admin: str | None = f"{URL}/admin/") -> str:
        from neosian_site.management.commands import serve

        return serve._text(serve.Announcement(self.URL, None, None, None, admin))

    def test_where_it_is_and_how_to_get_in_while_nobody_can(self, db):
        assert "Admin: http://127.0.0.1:8000/admin/\n" in self.said()
        assert self.said().endswith("manage.py createsuperuser")

    def test_where_it_is_once_somebody_can(self, alice):
        assert self.said().endswith("Admin: http://127.0.0.1:8000/admin/")

    def test_nothing_where_it_is_switched_off(self, db):
        assert "dmin" not in self.said(None)


class TestStaticFiles:
    def test_they_come_straight_from_the_packages_and_may_be_kept_for_ever(self, client):
        for name in ("admin/css/base.css", "neosian_site/admin.css", "admin/js/theme.js"):
            answer = client.get(settings.STATIC_URL + name)
            assert answer.status_code == 200
            assert answer.headers["Cache-Control"] == "max-age=315360000, public, immutable"
            assert "Set-Cookie" not in answer.headers
            # Read to its end the answer closes its file.
            assert len(b"".join(answer.streaming_content)) > 100

    def test_every_file_a_page_names_is_there(self, browser):
        import re

        pages = [browser.get(url) for url in ("/admin/", "/admin/authz/apitoken/add/", "/admin/memory/scopes/")]
        names = {name for page in pages for name in re.findall(r'(?:src|href)="(/static/[^"]+)"', page.html)}
        assert len(names) > 10
        for name in names:
            answer = browser.client.get(name)
            assert answer.status_code == 200, name
            answer.close()

    @pytest.mark.parametrize("path", ["", "nothing.css", "../../manage.py", "admin/../../settings.py", "admin/css/"])
    def test_nothing_else_is_served(self, client, path):
        answer = client.get(settings.STATIC_URL + path)
        assert (answer.status_code, answer.content) == (401, b"unauthorized")


class TestTheContractsAnswers:
    """Paths beside the admin's: nothing of the admin may show there."""

    @pytest.mark.parametrize("path", ["/", "/v1/nothing", "/administrator", "/adminx/", "/static/", "/ADMIN/"])
    def test_a_stranger_gets_the_bare_answer(self, alice, path):
        client = Client()
        client.force_login(alice)
        answer = client.get(path)
        assert (answer.status_code, answer.content) == (401, b"unauthorized")
        assert dict(answer.headers) == {"WWW-Authenticate": "Bearer", "Content-Length": "12"}
        assert not answer.cookies

    def test_a_login_opens_nothing_of_the_api(self, alice):
        client = Client()
        client.force_login(alice)
        assert client.post("/v1/store/scopes", "{}", content_type="application/json").status_code == 401

    def test_a_token_opens_nothing_of_the_admin(self, db):
        answer = Client().get("/admin/", headers={"Authorization": "Bearer tok-default"})
        assert answer.status_code == 302

    def test_no_statement_is_spent_on_a_session(self, alice, django_assert_num_queries):
        client = Client()
        client.force_login(alice)
        with django_assert_num_queries(0):
            client.get("/nothing")
