"""Clients in the admin: made within the token's reach, suspended, ended; old pages and used names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from authz import tokens
from authz.grants import ClientEntry, ScopeGrant
from authz.models import ApiToken, AuthzEvent
from authz.operations import clients, grants
from neosian_site.core import clock
from tests.clients import WireClient

ADD = "/admin/authz/apitoken/add/"


def noted() -> list[tuple[str, str]]:
    return list(AuthzEvent.objects.order_by("id").values_list("by", "subject"))


def page_of(client: ApiToken) -> str:
    return f"/admin/authz/apitoken/{client.pk}/change/"


def act(client: ApiToken, name: str) -> str:
    return f"/admin/authz/apitoken/{client.pk}/act/{name}/"


def token_on(page) -> str:
    return next(word for word in page.text.split() if word.startswith("ns_"))


def made(browser, project, **values) -> str:
    page = browser.send(browser.get(ADD), project=project.pk, **values)
    assert page.status == 200
    return token_on(page)


def status(token: str) -> int:
    tokens.forget_cached()
    return WireClient(token).raw("GET", "/v1/capabilities").status


def offered(page) -> set[str]:
    return {link.split("/")[-2] for link in page.links if "/act/" in link}


class TestMaking:
    def test_a_client_of_the_whole_project(self, browser, alice, default):
        token = made(browser, default, actor="client:a")
        assert WireClient(token).raw("GET", "/v1/capabilities").json["client"] == "client:a"
        client = ApiToken.objects.get()
        assert (client.constrained, client.scope_prefix, client.conversation_prefix) == (False, None, None)
        assert client.expires_at is None
        event = AuthzEvent.objects.get()
        assert (event.by, event.subject, event.before) == (f"admin:{alice.pk}", "client client:a", None)
        assert event.after == clients.shape(client)

    @pytest.mark.parametrize(
        ("values", "prefixes"),
        [
            ({"scope_prefix": "user:b"}, ("user:b", None)),
            ({"conversation_prefix": "b-"}, (None, "b-")),
            ({"scope_prefix": "user:b", "conversation_prefix": "b-"}, ("user:b", "b-")),
            ({"any_scope": "on"}, ("", None)),
            ({"any_scope": "on", "conversation_prefix": "b-"}, ("", "b-")),
            ({"any_scope": "on", "any_conversation": "on"}, ("", "")),
            # Nothing is trimmed.
            ({"scope_prefix": " x "}, (" x ", None)),
        ],
    )
    def test_a_client_held_to_prefixes(self, browser, default, values, prefixes):
        made(browser, default, actor="client:a", constrained="on", **values)
        client = ApiToken.objects.get()
        assert (client.constrained, client.scope_prefix, client.conversation_prefix) == (True, *prefixes)

    def test_a_client_that_ends_by_itself(self, browser, default):
        made(browser, default, actor="client:a", expires_at_0="2031-02-03", expires_at_1="04:05:06")
        assert ApiToken.objects.get().expires_at == datetime(2031, 2, 3, 4, 5, 6, tzinfo=UTC)

    @pytest.mark.parametrize(
        ("values", "said"),
        [
            ({"actor": "Client:a"}, "is no actor"),
            ({"actor": " client:a"}, "is no actor"),
            ({"actor": "client:<script>"}, "is no actor"),
            ({"actor": ""}, "This field is required."),
            ({"project": ""}, "This field is required."),
            ({"project": "99"}, "Select a valid choice."),
            ({"constrained": "on"}, "Give at least one prefix"),
            ({"scope_prefix": "user:"}, "Tick this, or leave the prefixes empty."),
            ({"constrained": "on", "scope_prefix": "x", "any_scope": "on"}, "Give a prefix or tick any, not both."),
            ({"constrained": "on", "scope_prefix": "x" * 513}, "at most 512 characters"),
            ({"constrained": "on", "scope_prefix": "a\0"}, "Null characters are not allowed."),
            ({"expires_at_0": "soon"}, "Enter a valid date"),
        ],
    )
    def test_what_cannot_be_is_said_and_nothing_is_made(self, browser, default, values, said):
        page = browser.send(browser.get(ADD), **{"project": default.pk, "actor": "client:a", **values})
        assert said in page.text
        assert not ApiToken.objects.exists()
        assert noted() == []

    def test_a_faster_operators_client_is_named_and_nothing_is_made(self, browser, default, monkeypatch):
        # As if it were made between the form's check and the operation.
        monkeypatch.setattr("neosian_site.admin.client_form.ClientForm._check_name", lambda form, given: None)
        clients.create(project=default, actor="client:a")
        page = browser.send(browser.get(ADD), project=default.pk, actor="client:a")
        assert "has a live client 'client:a' already; revoke it first. Nothing was made." in page.text
        assert ApiToken.objects.count() == 1
        assert noted() == [("command", "client client:a")]


class TestActs:
    @pytest.fixture
    def issued(self, default) -> clients.IssuedClient:
        return clients.create(project=default, actor="client:a")

    def test_a_client_is_suspended_and_resumed(self, browser, alice, issued):
        assert offered(browser.get(page_of(issued.client))) == {"suspend", "expire", "revoke"}
        page = browser.send(browser.get(act(issued.client, "suspend")))
        assert "Client client:a is suspended" in page.text
        assert status(issued.token) == 401
        assert offered(page) == {"resume", "expire", "revoke"}
        browser.send(browser.get(act(issued.client, "resume")))
        assert status(issued.token) == 200
        assert noted()[1:] == [(f"admin:{alice.pk}", "client client:a")] * 2

    def test_a_revoked_client_is_refused_for_good(self, browser, alice, issued):
        """AZ-28, first half."""
        assert status(issued.token) == 200
        page = browser.send(browser.get(act(issued.client, "revoke")))
        assert "Client client:a is revoked" in page.text
        assert status(issued.token) == 401
        assert offered(page) == set()
        event = AuthzEvent.objects.latest("id")
        assert (event.by, event.before["revoked_at"]) == (f"admin:{alice.pk}", None)
        assert event.after["revoked_at"] == clock.render(ApiToken.objects.get().revoked_at)

    def test_a_client_gets_an_end_and_loses_it(self, browser, issued):
        ask = browser.get(act(issued.client, "expire"))
        page = browser.send(ask, at_0="2031-02-03", at_1="04:05:06")
        assert "Client client:a ends 2031-02-03T04:05:06Z." in page.text
        page = browser.send(ask, at_0="2020-01-01", at_1="00:00:00")
        assert status(issued.token) == 401
        page = browser.send(ask, at_0="", at_1="")
        assert "ends only when revoked" in page.text
        assert status(issued.token) == 200
        assert len(noted()) == 4

    def test_an_end_that_is_no_time_is_asked_again(self, browser, issued):
        page = browser.send(browser.get(act(issued.client, "expire")), at_0="then", at_1="")
        assert "Enter a valid date" in page.text
        assert ApiToken.objects.get().expires_at is None
        assert len(noted()) == 1

    @pytest.mark.parametrize("name", ["suspend", "resume", "revoke", "expire"])
    def test_acting_on_a_client_another_operator_revoked_says_so(self, browser, default, issued, name):
        old = browser.get(act(issued.client, name))
        clients.revoke(project=default, actor="client:a")
        # A new client took the name: the old page must not touch it.
        fresh = clients.create(project=default, actor="client:a")
        before, trail = list(ApiToken.objects.order_by("id").values()), noted()
        page = browser.send(old)
        assert "Client client:a is revoked already, since 20" in page.text
        assert "To let it in again, add a client." in page.text
        assert list(ApiToken.objects.order_by("id").values()) == before
        assert noted() == trail
        assert status(fresh.token) == 200

    @pytest.mark.parametrize(
        ("name", "said"),
        [("suspend", "is suspended already, since 20"), ("resume", "is not suspended. To refuse its token")],
    )
    def test_acting_on_an_old_page_says_so(self, browser, default, issued, name, said):
        if name == "resume":
            clients.suspend(project=default, actor="client:a")
        old = browser.get(act(issued.client, name))
        browser.send(old)
        before, trail = ApiToken.objects.values().get(), noted()
        assert said in browser.send(old).text
        assert ApiToken.objects.values().get() == before
        assert noted() == trail

    def test_several_are_suspended_and_the_refused_are_named(self, browser, default, issued):
        other, gone = (clients.create(project=default, actor=f"client:{name}").client for name in ("b", "c"))
        clients.revoke(project=default, actor="client:c")
        values = {
            "action": "suspend_selected",
            "_selected_action": [issued.client.pk, other.pk, gone.pk],
        }
        page = browser.post("/admin/authz/apitoken/", values)
        assert "Suspend: 2 done." in page.text
        assert "Client client:c is revoked already" in page.text
        assert ApiToken.objects.exclude(suspended_at=None).count() == 2
        browser.post("/admin/authz/apitoken/", {**values, "action": "resume_selected"})
        assert ApiToken.objects.exclude(suspended_at=None).count() == 0

    def test_a_client_is_never_removed_or_edited_in_place(self, browser, issued):
        url = f"/admin/authz/apitoken/{issued.client.pk}"
        assert browser.get(f"{url}/delete/").status == 403
        assert browser.post(f"{url}/delete/", {"post": "yes"}).status == 403
        assert browser.post(f"{url}/change/", {"actor": "client:b"}).status == 403
        values = {"action": "delete_selected", "_selected_action": [issued.client.pk], "post": "yes"}
        browser.post("/admin/authz/apitoken/", values)
        assert ApiToken.objects.get().actor == "client:a"

    def test_the_page_says_what_it_may_do_and_why(self, browser, default, issued):
        page = browser.get(f"/admin/authz/apitoken/{issued.client.pk}/explained/")
        assert "the project is open: grants are not asked" in page.text
        assert "whole store (no allowance)" in page.text


class TestUsedNames:
    """An earlier client's grants wait for whoever takes its name."""

    @pytest.fixture
    def left(self, default) -> None:
        clients.create(project=default, actor="client:a")
        clients.revoke(project=default, actor="client:a")
        grants.put(project=default, value=ClientEntry("client:a", scopes=(ScopeGrant("user:a", True),)), by="command")

    def test_taking_over_old_grants_must_be_said(self, browser, default, left):
        page = browser.send(browser.get(ADD), project=default.pk, actor="client:a")
        assert "An earlier client client:a was revoked and left grants, which will be in force again" in page.text
        assert ApiToken.objects.count() == 1
        page = browser.send(page, reactivate="on")
        assert token_on(page)
        assert "Grants under this name are in force for it" in page.text
        assert "/admin/authz/grantclient/?project=default&q=client%3Aa" in page.links

    def test_a_used_name_without_grants_needs_no_word(self, browser, default, left):
        grants.remove(project=default, actor="client:a", by="command")
        assert made(browser, default, actor="client:a")

    def test_a_client_of_a_scoped_project_without_grants_is_pointed_at_them(self, browser, default):
        from authz.operations import projects

        projects.set_access(project=default, access="scoped")
        page = browser.send(browser.get(ADD), project=default.pk, actor="client:a/x:b#3")
        assert "it may do nothing until it is given some" in page.text
        link = next(link for link in page.links if "/grantclient/add/?" in link)
        form = browser.get(link).post_form("Save")
        assert (form.values["project"], form.values["actor"]) == (str(default.pk), "client:a/x:b#3")


STATES = {
    "live": {},
    "suspended": {"suspended_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "expired": {"expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
    "revoked": {"revoked_at": datetime(2026, 1, 1, tzinfo=UTC)},
}


@pytest.mark.parametrize("state", STATES)
def test_a_state_is_shown_and_found(browser, default, state):
    for name, values in STATES.items():
        client = clients.create(project=default, actor=f"client:{name}").client
        ApiToken.objects.filter(pk=client.pk).update(**values)
    listed = browser.get(f"/admin/authz/apitoken/?state={state}").rows
    assert [row[1] for row in listed] == [f"client:{state}"]
    assert listed[0][4].startswith(state)


def test_an_end_to_come_leaves_a_client_live(browser, default):
    clients.create(project=default, actor="client:a", expires_at=clock.now() + timedelta(days=1))
    assert browser.get("/admin/authz/apitoken/").rows[0][4] == "live"
