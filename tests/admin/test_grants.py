"""Grants in the admin: written whole, judged as the grants file is, safe against another operator's page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext

from authz import tokens
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.models import AuthzEvent, GrantClient, Project
from authz.operations import clients, grants, projects
from tests.clients import WireClient

ADD = "/admin/authz/grantclient/add/"


def noted() -> list[tuple[str, str]]:
    return list(AuthzEvent.objects.order_by("id").values_list("by", "subject"))


def kept(project: Project, actor: str = "client:a") -> ClientEntry | None:
    return grants.of(project=project, actor=actor)


def rows(kind: str, *values: dict[str, Any]) -> dict[str, Any]:
    """The values of new rows of one kind, as the form sends them."""
    found: dict[str, Any] = {f"{kind}-TOTAL_FORMS": len(values), f"{kind}-INITIAL_FORMS": 0}
    for place, row in enumerate(values):
        found |= {f"{kind}-{place}-{name}": value for name, value in row.items()}
    return found


def sent(owner: Project, *, scopes: list[dict] = (), conversations: list[dict] = (), **more: Any) -> dict[str, Any]:
    return {
        **rows("scopes", *scopes),
        **rows("conversations", *conversations),
        "project": owner.pk,
        "actor": "client:a",
        **more,
    }


def page_of(project: Project, actor: str = "client:a") -> str:
    return f"/admin/authz/grantclient/{GrantClient.objects.get(project=project, actor=actor).pk}/change/"


ENTRY = ClientEntry(
    "client:a",
    True,
    (ScopeGrant("user:a", True, False), ScopeGrant("workspace:t/project:..x", True, True)),
    (ConversationGrant("w-1-", None, True, False), ConversationGrant(None, ("a.b", "C_d"), True, True)),
)
FORM = {
    "operator": "on",
    "scopes": [
        {"scope": "user:a", "read": "on"},
        {"scope": "workspace:t/project:..x", "read": "on", "write": "on"},
    ],
    "conversations": [
        {"prefix": "w-1-", "ids": "", "read": "on"},
        {"prefix": "", "ids": "a.b\r\nC_d\r\n", "read": "on", "append": "on"},
    ],
}


@pytest.fixture
def stored(default) -> None:
    grants.put(project=default, value=ENTRY, by="command")


class TestSaving:
    def test_grants_are_made_whole_and_noted_once(self, browser, alice, default):
        page = browser.post(ADD, sent(default, **FORM))
        assert page.url == "/admin/authz/grantclient/"
        assert kept(default) == ENTRY
        event = AuthzEvent.objects.get()
        assert (event.by, event.subject, event.before) == (f"admin:{alice.pk}", "grants client:a", None)
        assert event.after == json.loads(json.dumps(grants.shape(ENTRY)))
        assert LogEntry.objects.get().object_id == str(GrantClient.objects.get().pk)

    def test_an_opened_form_sent_back_changes_nothing(self, browser, default, stored):
        page = browser.send(browser.get(page_of(default)), "Save")
        assert page.url == "/admin/authz/grantclient/"
        assert kept(default) == ENTRY
        assert noted() == [("command", "grants client:a")]

    def test_a_row_is_changed_one_added_and_one_taken_away(self, browser, alice, default, stored):
        page = browser.get(page_of(default))
        browser.send(
            page,
            "Save",
            **{
                "scopes-0-write": "on",
                "scopes-1-DELETE": "on",
                "scopes-TOTAL_FORMS": "3",
                "scopes-2-scope": "user:new",
                "conversations-0-prefix": "w-2-",
                "operator": None,
            },
        )
        assert kept(default) == ClientEntry(
            "client:a",
            False,
            (ScopeGrant("user:a", True, True), ScopeGrant("user:new")),
            (ConversationGrant("w-2-", None, True, False), ENTRY.conversations[1]),
        )
        assert noted()[1:] == [(f"admin:{alice.pk}", "grants client:a")]
        event = AuthzEvent.objects.latest("id")
        assert event.before == json.loads(json.dumps(grants.shape(ENTRY)))

    def test_two_rows_may_swap_their_names(self, browser, default, stored):
        names = {"scopes-0-scope": "workspace:t/project:..x", "scopes-1-scope": "user:a"}
        browser.send(browser.get(page_of(default)), "Save", **names)
        assert kept(default).scopes == (
            ScopeGrant("user:a", True, True),
            ScopeGrant("workspace:t/project:..x", True, False),
        )

    def test_a_client_without_a_rule_may_be_kept(self, browser, default):
        browser.post(ADD, sent(default))
        assert kept(default) == ClientEntry("client:a")

    def test_whose_grants_they_are_cannot_be_changed(self, browser, default, stored):
        browser.send(browser.get(page_of(default)), "Save", actor="client:b", project="99", operator=None)
        assert kept(default).operator is False
        assert kept(default, "client:b") is None

    def test_saving_hundreds_of_rules_costs_as_many_statements_as_saving_two(self, browser, default):
        def statements(rules: int) -> int:
            many = [{"scope": f"user:s{number:03}", "read": "on"} for number in range(rules)]
            actor = f"client:c{rules}"
            browser.post(ADD, sent(default, actor=actor, scopes=many))
            page = browser.get(page_of(default, actor))
            with CaptureQueriesContext(connection) as captured:
                browser.send(page, "Save", **{"scopes-0-write": "on"})
            found = kept(default, actor).scopes
            assert len(found) == rules
            assert found[:2] == (ScopeGrant("user:s000", True, True), ScopeGrant("user:s001", True))
            return len(captured)

        assert statements(2) == statements(300)

    def test_a_removed_reading_right_is_refused_on_the_next_request(self, browser, default):
        """AZ-28, second half."""
        issued = clients.create(project=default, actor="client:a")
        projects.set_access(project=default, access="scoped")
        browser.post(ADD, sent(default, scopes=[{"scope": "user:a", "read": "on", "write": "on"}]))
        client = WireClient(issued.token)
        assert client.post("memory/read", scope="user:a", path="x").status == 200
        browser.send(browser.get(page_of(default)), "Save", **{"scopes-0-read": None})
        tokens.forget_cached()
        refused = client.post("memory/read", scope="user:a", path="x")
        assert (refused.status, refused.code) == (403, "forbidden")
        assert client.post("memory/write", scope="user:a", path="x", content="").status == 200


REFUSED = [
    # AZ-29
    ({"conversations": [{"prefix": "a", "ids": "b"}]}, "give exactly one of prefix and ids"),
    ({"scopes": [{"scope": "bad"}]}, "scope 'bad': must match"),
    ({"conversations": [{"prefix": "", "ids": "", "read": "on"}]}, "give exactly one of prefix and ids"),
    ({"scopes": [{"scope": "user:.."}]}, "is reserved"),
    ({"scopes": [{"scope": " user:a"}]}, "scope ' user:a': must match"),
    ({"scopes": [{"scope": "<script>alert(1)</script>"}]}, "scope '<script>alert(1)</script>': must match"),
    ({"scopes": [{"scope": "", "read": "on"}]}, "This field is required."),
    ({"scopes": [{"scope": "user:a"}, {"scope": "user:a", "read": "on"}]}, "scope 'user:a' stands twice"),
    ({"conversations": [{"prefix": "a/b"}]}, "prefix 'a/b': must be 1 to 128"),
    ({"conversations": [{"prefix": "a%2Fb"}]}, "prefix 'a%2Fb': must be 1 to 128"),
    ({"conversations": [{"prefix": "p"}, {"prefix": "p"}]}, "prefix 'p' stands twice"),
    ({"conversations": [{"ids": "a b a"}]}, "an id stands twice in one list"),
    ({"conversations": [{"ids": "a ünï/名"}]}, "id 'ünï/名': must match"),
    ({"conversations": [{"ids": "a .."}]}, "is reserved"),
    ({"actor": "nobody"}, "'nobody' is no actor"),
    ({"actor": ""}, "This field is required."),
    ({"project": "99"}, "Select a valid choice"),
]


@pytest.mark.parametrize(("values", "said"), REFUSED)
def test_what_the_file_would_refuse_the_form_refuses_and_nothing_is_stored(browser, default, values, said):
    page = browser.post(ADD, sent(default, **values))
    assert page.url == ADD
    assert said in page.text
    assert "<script>alert" not in page.html
    assert not GrantClient.objects.exists()
    assert noted() == []


@pytest.mark.parametrize(
    ("values", "said"), [case for case in REFUSED if "scopes" in case[0] or "conversations" in case[0]]
)
def test_a_refused_change_leaves_the_grants_as_they_are(browser, default, stored, values, said):
    seen = browser.get(page_of(default)).post_form("Save").values["seen"]
    # New rows in the place of those that stand.
    assert said in browser.post(page_of(default), sent(default, seen=seen, **values)).text
    assert kept(default) == ENTRY
    assert noted() == [("command", "grants client:a")]


def test_a_second_entry_for_a_client_is_refused(browser, default, stored):
    page = browser.post(ADD, sent(default))
    assert "already exists" in page.text
    assert kept(default) == ENTRY


class TestOtherOperators:
    def test_saving_over_a_change_is_refused_and_the_change_is_shown(self, browser, default, stored):
        old = browser.get(page_of(default))
        theirs = ClientEntry("client:a", False, (ScopeGrant("user:theirs", True),))
        grants.put(project=default, value=theirs, by="admin:77")
        page = browser.send(old, "Save", operator=None)
        assert "The grants of client:a were changed since you opened this page; nothing was saved." in page.text
        assert page.post_form("Save").values["scopes-0-scope"] == "user:theirs"
        assert kept(default) == theirs
        assert noted()[-1] == ("admin:77", "grants client:a")
        # The page that came back can be sent.
        browser.send(page, "Save", operator="on")
        assert kept(default) == ClientEntry("client:a", True, theirs.scopes)

    def test_a_change_between_the_look_and_the_lock_is_refused_too(self, browser, default, stored, monkeypatch):
        theirs = ClientEntry("client:a", False, (ScopeGrant("user:theirs", True),))
        old = browser.get(page_of(default))
        checked: list[str] = []
        first = __import__("neosian_site.admin.grants", fromlist=["_check_seen"])._check_seen

        def late(client, present, seen):
            checked.append(seen)
            if len(checked) == 1:
                first(client, present, seen)
                return
            first(client, theirs, seen)

        monkeypatch.setattr("neosian_site.admin.grants._check_seen", late)
        page = browser.send(old, "Save", operator=None)
        assert len(checked) == 2
        assert "nothing was saved" in page.text
        assert kept(default) == ENTRY
        assert noted() == [("command", "grants client:a")]

    def test_saving_what_was_removed_is_refused(self, browser, default, stored):
        old = browser.get(page_of(default))
        grants.remove(project=default, actor="client:a", by="admin:77")
        page = browser.send(old, "Save")
        assert "t exist. Perhaps it was deleted?" in page.text
        assert kept(default) is None

    def test_removing_what_was_removed_says_so(self, browser, default, stored):
        url = page_of(default).replace("change", "delete")
        old = browser.get(url)
        grants.remove(project=default, actor="client:a", by="admin:77")
        assert "t exist. Perhaps it was deleted?" in browser.send(old).text


class TestRemoving:
    def test_grants_are_removed_and_noted(self, browser, alice, default, stored):
        page = browser.send(browser.get(page_of(default).replace("change", "delete")))
        assert page.url == "/admin/authz/grantclient/"
        assert kept(default) is None
        event = AuthzEvent.objects.latest("id")
        assert (event.by, event.subject, event.after) == (f"admin:{alice.pk}", "grants client:a", None)

    def test_several_are_removed_and_each_is_noted(self, browser, alice, default, stored):
        grants.put(project=default, value=ClientEntry("client:b"), by="command")
        values = {
            "action": "delete_selected",
            "_selected_action": list(GrantClient.objects.values_list("pk", flat=True)),
            "post": "yes",
        }
        browser.post("/admin/authz/grantclient/", values)
        assert not GrantClient.objects.exists()
        who = f"admin:{alice.pk}"
        assert sorted(noted()[2:]) == [(who, "grants client:a"), (who, "grants client:b")]


class TestFlags:
    def test_grants_of_nobody_are_saved_and_flagged(self, browser, default):
        page = browser.post(ADD, sent(default, actor="client:nobody"))
        assert "Saved, but project default has no client client:nobody yet" in page.text
        assert kept(default, "client:nobody") is not None
        assert page.rows[0][4] == "⚠ no live client"

    def test_a_revoked_clients_name_is_said(self, browser, default):
        clients.create(project=default, actor="client:a")
        clients.revoke(project=default, actor="client:a")
        page = browser.post(ADD, sent(default))
        assert "Saved, but client client:a was revoked at 20" in page.text

    def test_a_client_of_the_environments_table_is_no_stranger(self, browser, default):
        page = browser.post(ADD, sent(default, actor="client:ops"))
        assert "Saved, but" not in page.text
        assert page.rows[0][4] == "in the environment's table"
        assert browser.get("/admin/authz/grantclient/?client=none").rows == []

    def test_the_flagged_are_found(self, browser, default, stored):
        clients.create(project=default, actor="client:live")
        grants.put(project=default, value=ClientEntry("client:live"), by="command")
        for state, actor in (("live", "client:live"), ("none", "client:a")):
            assert [row[1] for row in browser.get(f"/admin/authz/grantclient/?client={state}").rows] == [actor]

    def test_rules_are_counted(self, browser, default, stored):
        assert browser.get("/admin/authz/grantclient/").rows[0][5:7] == ["2", "2"]


class TestPermissions:
    def test_looking_shows_the_rules_and_no_button(self, staff, default, stored):
        page = staff("authz.view_grantclient").get(page_of(default))
        assert page.status == 200
        assert "user:a" in page.text
        assert "w-1-" in page.text
        assert not any(value == "Save" for form in page.forms for _, value in form.buttons)

    def test_looking_is_not_saving(self, staff, browser, default, stored):
        values = browser.get(page_of(default)).post_form("Save").values
        assert staff("authz.view_grantclient").post(page_of(default), values).status == 403
        assert kept(default) == ENTRY

    def test_whoever_may_change_may_change_every_rule(self, staff, default, stored):
        browser = staff("authz.change_grantclient")
        browser.send(browser.get(page_of(default)), "Save", **{"scopes-0-DELETE": "on"})
        assert kept(default).scopes == ENTRY.scopes[1:]
