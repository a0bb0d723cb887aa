"""``manage.py project``: text, JSON, exit codes and refusals."""

from __future__ import annotations

import pytest
import time_machine

from authz.grants import ClientEntry
from authz.models import AuthzEvent, Project
from authz.operations import grants, projects

NOON = "2026-05-06T12:00:00Z"


def shape(**other):
    return {"name": "tenant", "label": "", "access": "open", "created_at": NOON, "suspended_at": None} | other


@pytest.fixture
def tenant(db):
    with time_machine.travel(NOON, tick=False):
        return projects.create(slug="tenant")


def test_a_project_is_made(manage):
    with time_machine.travel(NOON, tick=False):
        ran = manage("project", "create", "--name", "tenant", "--label", "A team, ünï", "--json")
    assert (ran.status, ran.json, ran.err) == (0, {"project": shape(label="A team, ünï")}, "")
    assert manage("project", "create", "--name", "other").out == "project other made\n"
    assert [project.slug for project in projects.listed()] == ["default", "other", "tenant"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tenant", "error: project 'tenant' exists already\n"),
        (
            "Tenant",
            "error: 'Tenant' is no project name: 1 to 63 of a-z, 0-9 and '-', not starting with '-'\n",
        ),
    ],
)
def test_a_project_that_cannot_be_made_is_refused(manage, tenant, name, said):
    ran = manage("project", "create", "--name", name)
    assert (ran.status, ran.out, ran.err) == (1, "", said)
    assert Project.objects.count() == 2


def test_projects_are_listed_with_their_state(manage, tenant):
    with time_machine.travel(NOON, tick=False):
        projects.suspend(project=projects.set_access(project=tenant, access="scoped"))
    lines = manage("project", "list").out.splitlines()
    assert lines[0].split() == ["NAME", "STATE", "ACCESS", "CREATED", "LABEL"]
    assert lines[1].split()[:3] == ["default", "active", "open"]
    assert lines[2].split() == ["tenant", "suspended", "scoped", NOON]
    assert manage("project", "list", "--json").json["projects"][1] == shape(access="scoped", suspended_at=NOON)


def test_a_project_is_suspended_and_resumed(manage, tenant):
    assert manage("project", "suspend", "--name", "tenant").out == "project tenant suspended\n"
    first = projects.named("tenant").suspended_at
    assert first is not None
    assert manage("project", "suspend", "--name", "tenant").status == 0
    assert projects.named("tenant").suspended_at == first
    assert manage("project", "resume", "--name", "tenant").out == "project tenant resumed\n"
    assert manage("project", "resume", "--name", "tenant", "--json").json == {"project": shape()}
    assert list(AuthzEvent.objects.order_by("id").values_list("by", "subject")) == [("command", "project")] * 2


def test_access_says_what_it_leads_to(manage, tenant):
    ran = manage("project", "access", "--name", "tenant", "scoped")
    assert ran.out == "project tenant is scoped; it has no grants, so no client may do anything\n"
    grants.put(project=tenant, value=ClientEntry("client:a"), by="alice")
    ran = manage("project", "access", "--name", "tenant", "scoped")
    assert ran.out == "project tenant is scoped; 1 client has grants\n"
    grants.put(project=tenant, value=ClientEntry("client:b"), by="alice")
    ran = manage("project", "access", "--name", "tenant", "scoped", "--json")
    assert ran.json == {"project": shape(access="scoped")}
    assert manage("project", "access", "--name", "tenant", "scoped").out.endswith("; 2 clients have grants\n")
    assert manage("project", "access", "--name", "tenant", "open").out == "project tenant is open\n"
    assert projects.named("tenant").access == "open"


@pytest.mark.parametrize("verb", [("suspend",), ("resume",), ("access", "scoped")])
def test_a_missing_project_is_refused_and_the_known_are_named(manage, tenant, verb):
    ran = manage("project", verb[0], "--name", "absent", *verb[1:])
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == (
        "error: [project_not_found] no project 'absent' (projects: default, tenant); "
        "make it with: project create --name absent\n"
    )
    assert not AuthzEvent.objects.exists()


@pytest.mark.parametrize(
    "line",
    [
        ("create",),
        ("access", "--name", "tenant"),
        ("access", "--name", "tenant", "closed"),
        ("suspend",),
        ("suspend", "--name", "tenant", "surplus"),
        ("unknown",),
    ],
)
def test_a_wrong_command_line_is_status_2_and_changes_nothing(manage, tenant, line):
    ran = manage("project", *line)
    assert (ran.status, ran.out) == (2, "")
    assert "Usage: manage.py project" in ran.err
    assert projects.named("tenant").access == "open"
    assert not AuthzEvent.objects.exists()
