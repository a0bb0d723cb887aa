"""Projects in the admin: made, suspended, resumed, scoped; refusals, old pages, the trail."""

from __future__ import annotations

import pytest

from authz import tokens
from authz.models import AuthzEvent, Project
from authz.operations import clients, projects
from tests.admin import rows

ADD = "/admin/authz/project/add/"


def trail() -> list[tuple[str, str]]:
    return list(AuthzEvent.objects.order_by("id").values_list("by", "subject"))


def page_of(project: Project) -> str:
    return f"/admin/authz/project/{project.pk}/change/"


def act(project: Project, name: str) -> str:
    return f"/admin/authz/project/{project.pk}/act/{name}/"


def offered(page) -> set[str]:
    return {link.split("/")[-2] for link in page.links if "/act/" in link}


def test_a_project_is_made_and_noted(browser, alice):
    page = browser.send(browser.get(ADD), slug="acme", label="Acme <b>Inc</b>")
    assert page.status == 200
    made = Project.objects.get(slug="acme")
    assert (made.label, made.access, made.suspended_at) == ("Acme <b>Inc</b>", "open", None)
    event = AuthzEvent.objects.get()
    assert (event.by, event.subject, event.project, event.before) == (f"admin:{alice.pk}", "project", made, None)
    assert event.after == projects.shape(made)
    assert "Acme <b>Inc</b>" in browser.get(page_of(made)).text


@pytest.mark.parametrize(
    ("slug", "said"),
    [
        ("Acme", "is no project name"),
        (" acme", "is no project name"),
        ("a/b", "is no project name"),
        ("a%2Fb", "is no project name"),
        ("a?b#c", "is no project name"),
        ("..", "is no project name"),
        ("ünï", "is no project name"),
        ("x" * 64, "is no project name"),
        ("", "This field is required."),
        ("default", "Project default exists already"),
        ("a\0b", "Null characters are not allowed."),
    ],
)
def test_a_name_that_cannot_be_is_said_beside_its_field_and_nothing_is_made(browser, slug, said):
    page = browser.send(browser.get(ADD), slug=slug)
    assert said in page.text
    assert page.url == ADD
    assert Project.objects.count() == 1
    assert trail() == []


def test_suspending_shuts_the_door_and_resuming_opens_it(browser, alice, default, wire):
    page = browser.get(page_of(default))
    assert offered(page) == {"suspend", "scope"}
    done = browser.send(browser.get(act(default, "suspend")))
    assert done.url == page_of(default)
    assert "Project default is suspended" in done.text
    assert offered(done) == {"resume", "scope"}
    tokens.forget_cached()
    assert wire.raw("GET", "/v1/capabilities").status == 401
    done = browser.send(browser.get(act(default, "resume")))
    assert "Project default is resumed." in done.text
    tokens.forget_cached()
    assert wire.raw("GET", "/v1/capabilities").status == 200
    assert trail() == [(f"admin:{alice.pk}", "project")] * 2


def test_switching_grants_on_and_off(browser, alice, default, wire):
    clients.create(project=default, actor="client:bare")
    clients.create(project=default, actor="client:granted")
    rows.grants(default, 0)
    browser.post("/admin/authz/grantclient/add/", grant_form(default, "client:granted"))
    question = browser.get(act(default, "scope"))
    assert "will be able to do nothing: client:bare." in question.text
    assert offered(browser.send(question)) == {"suspend", "open"}
    tokens.forget_cached()
    assert wire.raw("GET", "/v1/capabilities").json["authorization"] == {"version": 1, "mode": "scoped"}
    browser.send(browser.get(act(default, "open")))
    tokens.forget_cached()
    assert "authorization" not in wire.raw("GET", "/v1/capabilities").json
    who = f"admin:{alice.pk}"
    assert trail()[-2:] == [(who, "project")] * 2
    changed = [
        (event.before["access"], event.after["access"]) for event in AuthzEvent.objects.filter(subject="project")
    ]
    assert changed == [("open", "scoped"), ("scoped", "open")]


def grant_form(project: Project, actor: str) -> dict[str, object]:
    empty = {"TOTAL_FORMS": 0, "INITIAL_FORMS": 0, "MIN_NUM_FORMS": 0, "MAX_NUM_FORMS": 1000}
    return {
        "project": project.pk,
        "actor": actor,
        **{f"{kind}-{name}": value for kind in ("scopes", "conversations") for name, value in empty.items()},
    }


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("suspend", "is suspended already, since 20"),
        ("resume", "is not suspended. To refuse its tokens, suspend it."),
        ("scope", "is scoped already. Nothing was changed."),
        ("open", "is open already. Nothing was changed."),
    ],
)
def test_an_old_page_is_told_so_and_nothing_changes(browser, default, name, said):
    # Opened while it could be done; another operator was faster.
    if name in ("resume", "open"):
        projects.suspend(project=default)
        projects.set_access(project=default, access="scoped")
    old = browser.get(act(default, name))
    {
        "suspend": lambda: projects.suspend(project=default),
        "resume": lambda: projects.resume(project=default),
        "scope": lambda: projects.set_access(project=default, access="scoped"),
        "open": lambda: projects.set_access(project=default, access="open"),
    }[name]()
    before, noted = Project.objects.values().get(pk=default.pk), trail()
    page = browser.send(old)
    assert said in page.text
    assert page.url == page_of(default)
    # The next step is on the page.
    assert len(offered(page)) == 2
    assert Project.objects.values().get(pk=default.pk) == before
    assert trail() == noted


def test_several_are_suspended_and_the_refused_are_named(browser, alice):
    made = rows.projects(3)
    projects.suspend(project=made[1])
    noted = AuthzEvent.objects.count()
    values = {"action": "suspend_selected", "_selected_action": [project.pk for project in made]}
    page = browser.post("/admin/authz/project/", values)
    assert "Suspend: 2 done." in page.text
    assert "Project p00001 is suspended already" in page.text
    assert Project.objects.filter(suspended_at=None).count() == 1
    assert trail()[noted:] == [(f"admin:{alice.pk}", "project")] * 2


def test_a_project_is_never_removed_or_edited_in_place(browser, default):
    assert browser.get(f"/admin/authz/project/{default.pk}/delete/").status == 403
    assert browser.post(f"/admin/authz/project/{default.pk}/delete/", {"post": "yes"}).status == 403
    assert browser.post(page_of(default), {"slug": "renamed", "label": "x"}).status == 403
    values = {"action": "delete_selected", "_selected_action": [default.pk], "post": "yes"}
    browser.post("/admin/authz/project/", values)
    found = Project.objects.get()
    assert (found.slug, found.label) == ("default", "Default project")
    assert trail() == []
