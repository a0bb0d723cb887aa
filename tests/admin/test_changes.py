"""Change feeds and the trail in the admin: looked at, pruned with a preview, reset; old pages."""

from __future__ import annotations

import time_machine

from authz.caller import Caller
from authz.grants import ClientEntry, ScopeGrant
from authz.models import AuthzEvent
from authz.operations import grants, projects
from memory.models import ChangeEvent, PendingChange, Scope
from memory.operations import changes
from tests.admin import rows
from tests.admin.conftest import account

STREAM = "/admin/memory/changes/stream/?project=default&scope=user:a"


def written(wire, count: int) -> None:
    for number in range(count):
        wire.ok("memory/write", scope="user:a", path=f"p{number}", content="c")


def scope() -> Scope:
    return Scope.objects.get(name="user:a")


def events() -> list[tuple[str, str]]:
    return list(AuthzEvent.objects.order_by("id").values_list("by", "subject"))


def test_a_feed_says_how_far_it_is_and_what_waits(browser, wire):
    written(wire, 3)
    listed = browser.get("/admin/memory/changes/?project=default")
    assert listed.rows[0][1] == "user:a"
    assert listed.rows[0][4:] == ["0", "0", "3"]
    # Looking gives no numbers.
    assert PendingChange.objects.count() == 3
    wire.ok("memory/changes", scope="user:a")
    listed = browser.get("/admin/memory/changes/?project=default")
    assert listed.rows[0][2:] == [str(scope().stream), "empty", "3", "0", "0"]
    page = browser.get(next(link for link in listed.links if "/stream/" in link))
    for text in (str(scope().stream), "empty", "Last number 3", "Kept events 3", "Waiting for a number 0"):
        assert text in page.text


def test_pruning_asks_first_and_then_keeps_what_was_said(browser, alice, wire):
    written(wire, 10)
    asked = browser.send(browser.get(STREAM), "Preview", keep="4")
    assert "6 of 10 kept events would be forgotten." in asked.text
    assert ChangeEvent.objects.count() == 10
    assert events() == []
    done = browser.send(asked, "Prune")
    assert "6 events pruned; the feed now begins after 6." in done.text
    assert list(ChangeEvent.objects.order_by("sequence").values_list("sequence", flat=True)) == [7, 8, 9, 10]
    event = AuthzEvent.objects.get()
    stream = str(scope().stream)
    assert (event.by, event.subject) == (f"admin:{alice.pk}", "changes user:a")
    assert event.before == {"stream": stream, "floor": 0}
    assert event.after == {"stream": stream, "floor": 6, "removed": 6}
    # What was written stands.
    assert len(wire.ok("memory/list_documents", scope="user:a")["entries"]) == 10


def test_pruning_by_age(browser, wire):
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        written(wire, 2)
    with time_machine.travel("2026-03-01T00:00:00Z", tick=False):
        written(wire, 3)
        asked = browser.send(browser.get(STREAM), "Preview", days="30")
        assert "2 of 5 kept events would be forgotten." in asked.text


def test_nothing_to_prune_is_said(browser, wire):
    written(wire, 2)
    assert "Nothing would be forgotten." in browser.send(browser.get(STREAM), "Preview", keep="5").text


def test_a_retention_that_says_nothing_is_asked_again(browser, wire):
    written(wire, 2)
    for values, said in (
        ({}, "Give at least one."),
        ({"keep": "-1"}, "greater than or equal to 0"),
        ({"days": "x"}, "Enter a whole number."),
        ({"days": "99999999999"}, "less than or equal to 36500"),
    ):
        page = browser.send(browser.get(STREAM), "Preview", **values)
        assert said in page.text
    assert events() == []


def test_pruning_again_from_an_old_page_says_so(browser, wire):
    written(wire, 5)
    asked = browser.send(browser.get(STREAM), "Preview", keep="2")
    browser.send(asked, "Prune")
    again = browser.send(asked, "Prune")
    assert "These events are pruned already. Preview again to prune more." in again.text
    assert any(value == "Preview" for form in again.forms for _, value in form.buttons)
    assert len(events()) == 1
    assert scope().floor == 3


def test_resetting_asks_first_and_gives_a_new_stream(browser, alice, wire):
    written(wire, 3)
    wire.ok("memory/changes", scope="user:a")
    old = scope().stream
    asked = browser.send(browser.get(STREAM), "Reset …")
    assert "every reader is told to read the scope in full" in asked.text
    assert scope().stream == old
    done = browser.send(asked, "Reset")
    found = scope()
    assert found.stream != old
    assert (found.origin, found.head, found.floor) == ("restored", 0, 0)
    assert f"The feed has a new stream, {found.stream}" in done.text
    event = AuthzEvent.objects.get()
    assert (event.by, event.subject) == (f"admin:{alice.pk}", "changes user:a")
    assert event.before == {"stream": str(old), "head": 3, "floor": 0}
    assert event.after == {"stream": str(found.stream), "head": 0, "floor": 0}


def test_a_feed_another_operator_reset_is_not_reset_or_pruned_from_an_old_page(browser, wire, default):
    written(wire, 3)
    preview = browser.send(browser.get(STREAM), "Preview", keep="1")
    asked = browser.send(browser.get(STREAM), "Reset …")
    fresh = changes.reset(Caller(default.pk, "admin:77"), scope="user:a")
    assert "The feed was reset meanwhile" in browser.send(asked, "Reset").text
    assert "Through is not a position of this stream" in browser.send(preview, "Prune").text
    assert scope().stream == fresh
    assert events() == []


def test_a_page_that_sends_nothing_to_do_changes_nothing(browser, wire):
    written(wire, 1)
    assert "The page sent nothing to do." in browser.post(STREAM, {"do": "<script>"}).text
    assert "cursor" in browser.post(STREAM, {"do": "prune", "through": "nonsense"}).text
    assert events() == []


class TestTrail:
    def test_newest_first_with_what_differs_and_who(self, browser, alice, default):
        projects.suspend(project=default, by=f"admin:{alice.pk}")
        entry = ClientEntry("client:a", scopes=(ScopeGrant("user:a", True),))
        grants.put(project=default, value=entry, by="command")
        shown = browser.get("/admin/authz/changes/?project=default")
        assert [row[1:4] for row in shown.rows] == [
            ["default", "grants client:a", "command"],
            ["default", "project", f"admin:{alice.pk} (alice)"],
        ]
        assert shown.rows[0][4] == "(none)"
        assert shown.rows[1][4] == '{"suspended_at": null}'
        page = browser.get(
            next(link for link in shown.links if link.startswith("/admin/authz/changes/") and link[-2].isdigit())
        )
        assert '"scope": "user:a"' in page.text

    def test_a_long_change_is_cut_in_the_list_and_whole_on_its_page(self, browser, default):
        scopes = tuple(ScopeGrant(f"user:s{number:04}") for number in range(300))
        grants.put(project=default, value=ClientEntry("client:a", scopes=scopes), by="command")
        shown = browser.get("/admin/authz/changes/")
        assert len(shown.rows[0][5]) == 201
        assert "user:s0299" not in shown.html
        number = AuthzEvent.objects.get().pk
        assert "user:s0299" in browser.get(f"/admin/authz/changes/{number}/").text

    def test_whoever_it_names_need_not_exist(self, browser, default):
        for by in ("admin:99", "admin:" + "9" * 40, "admin:x", "admin:²", ""):
            projects.suspend(project=default, by=by)
            projects.resume(project=default, by=by)
            default.refresh_from_db()
        page = browser.get("/admin/authz/changes/")
        assert page.status == 200
        assert page.rows[-1][3] == "admin:99"

    def test_it_is_read_only(self, browser, default):
        rows.events(default, 1)
        number = AuthzEvent.objects.get().pk
        for url in (
            f"/admin/authz/changes/{number}/delete/",
            "/admin/authz/authzevent/",
            "/admin/authz/authzevent/add/",
        ):
            assert browser.get(url).status == 404
        browser.post(f"/admin/authz/changes/{number}/", {"subject": "x"})
        browser.post("/admin/authz/changes/", {"action": "delete_selected", "_selected_action": [number]})
        assert AuthzEvent.objects.get().subject == "client client:c00000"


class TestAccounts:
    def test_an_account_is_made_inactive_and_never_removed(self, browser):
        bob = account("bob")
        assert browser.get(f"/admin/auth/user/{bob.pk}/delete/").status == 403
        assert browser.post(f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"}).status == 403
        values = {"action": "delete_selected", "_selected_action": [bob.pk], "post": "yes"}
        browser.post("/admin/auth/user/", values)
        bob.refresh_from_db()
        page = browser.get(f"/admin/auth/user/{bob.pk}/change/")
        assert "pbkdf2" not in page.text or "****" in page.text
