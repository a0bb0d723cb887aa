"""``manage.py grants``: text, JSON, exit codes and refusals."""

from __future__ import annotations

import io

import pytest

from authz import grants_file
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.models import AuthzEvent
from authz.operations import clients, grants, projects

ENTRY = ClientEntry(
    "client:a",
    True,
    (ScopeGrant("user:a", read=True, write=True), ScopeGrant("user:b")),
    (ConversationGrant("w-", read=True), ConversationGrant(ids=("c", "d"), append=True)),
)
SHAPE = {
    "actor": "client:a",
    "operator": True,
    "scopes": [
        {"scope": "user:a", "read": True, "write": True},
        {"scope": "user:b", "read": False, "write": False},
    ],
    "conversations": [
        {"prefix": "w-", "ids": None, "read": True, "append": False},
        {"prefix": None, "ids": ["c", "d"], "read": False, "append": True},
    ],
}
OPEN = "project tenant is open: these grants are not in force (project access --name tenant scoped)"
SCOPED = "project tenant is scoped: these grants are in force"


@pytest.fixture
def tenant(db):
    return projects.create(slug="tenant")


@pytest.fixture
def stored(tenant):
    for value in (ENTRY, ClientEntry("client:b")):
        grants.put(project=tenant, value=value, by="alice")
    return tenant


def on_tenant(verb, *more):
    return "grants", verb, "--project", "tenant", *more


def test_grants_are_shown_with_their_state(manage, stored):
    ran = manage(*on_tenant("show"))
    assert (ran.status, ran.err) == (0, "")
    *lines, state = ran.out.splitlines()
    assert [[cell.strip() for cell in line.split("  ") if cell] for line in lines] == [
        ["CLIENT", "ON", "NAME", "MAY"],
        ["client:a", "store", "operate"],
        ["client:a", "scope", "user:a", "read, write"],
        ["client:a", "scope", "user:b", "nothing"],
        ["client:a", "conversations", "w-*", "read"],
        ["client:a", "conversations", "c, d", "append"],
        ["client:b", "nothing"],
    ]
    assert state == OPEN
    projects.set_access(project=stored, access="scoped")
    assert manage(*on_tenant("show")).out.splitlines()[-1] == SCOPED
    bare = {"actor": "client:b", "operator": False, "scopes": [], "conversations": []}
    assert manage(*on_tenant("show", "--json")).json == {
        "project": "tenant",
        "access": "scoped",
        "clients": [SHAPE, bare],
    }


def test_no_grants_are_said_to_be_none(manage, tenant):
    assert manage(*on_tenant("show")).out == f"no grants\n{OPEN}\n"
    assert manage(*on_tenant("export")).out == "grant_format = 1\n"


def test_an_export_is_the_file_that_is_imported(manage, stored, tmp_path):
    text = manage(*on_tenant("export")).out
    assert grants_file.parse(text.encode()) == (ENTRY, ClientEntry("client:b"))
    path = tmp_path / "grants.toml"
    assert manage(*on_tenant("export", "--out", path)).out == f"exported 2 clients to {path}\n"
    assert path.read_text() == text
    as_json = manage(*on_tenant("export", "--out", path, "--json")).json
    assert as_json == {"project": "tenant", "clients": 2, "file": str(path)}
    assert manage(*on_tenant("export", "--json")).json["clients"][0] == SHAPE
    other = projects.create(slug="other")
    ran = manage("grants", "import", "--project", "other", path, "--json")
    assert ran.json == {
        "project": "other",
        "access": "open",
        "added": ["client:a", "client:b"],
        "changed": [],
        "removed": [],
        "without_client": ["client:a", "client:b"],
    }
    assert grants.entries(project=other) == grants.entries(project=stored)


def test_an_import_replaces_all_and_warns_of_who_is_no_client(manage, stored, tmp_path):
    clients.create(project=stored, actor="client:c")
    path = tmp_path / "grants.toml"
    path.write_text(grants_file.render([ClientEntry("client:a"), ClientEntry("client:c")]))
    ran = manage(*on_tenant("import", path))
    assert ran.status == 0
    assert ran.err == "warning: project tenant has no live client client:a\n"
    assert ran.out == f"grants of project tenant: 1 added, 1 changed, 1 removed\n{OPEN}\n"
    assert grants.entries(project=stored) == (ClientEntry("client:a"), ClientEntry("client:c"))
    assert list(AuthzEvent.objects.filter(subject__startswith="grants", by="command").values_list("subject")) == [
        ("grants client:c",),
        ("grants client:a",),
        ("grants client:b",),
    ]
    again = manage(*on_tenant("import", path))
    assert again.out == f"grants of project tenant: 0 added, 0 changed, 0 removed\n{OPEN}\n"


def test_an_import_from_standard_input(manage, tenant, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(grants_file.render([ENTRY]).encode())))
    assert manage(*on_tenant("import", "-", "--json")).json["added"] == ["client:a"]
    assert grants.entries(project=tenant) == (ENTRY,)


def test_a_client_of_the_environments_table_is_a_client_of_the_default_project(manage, settings, tmp_path, tenant):
    settings.NEOSIAN_SERVE_TOKEN = "client:a=t"
    path = tmp_path / "grants.toml"
    path.write_text(grants_file.render([ENTRY]))
    assert manage("grants", "import", path, "--json").json["without_client"] == []
    assert manage(*on_tenant("import", path, "--json")).json["without_client"] == ["client:a"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("grant_format = 2", "grant_format must be the integer 1"),
        (b"\xff", "not a TOML file in UTF-8"),
        (
            'grant_format = 1\n[[clients]]\nactor = "client:n"\n[[clients]]\nactor = "s3cr3t"',
            "clients entry 2: actor must be kind:id segments joined by '/', for example client:alice",
        ),
        (b"grant_format = 1\n#" + b"x" * 1_048_576, "longer than 1048576 bytes"),
    ],
)
def test_a_file_that_cannot_be_used_changes_nothing(manage, stored, tmp_path, content, said):
    path = tmp_path / "grants.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = grants.entries(project=stored)
    ran = manage(*on_tenant("import", path))
    assert (ran.status, ran.out, ran.err) == (1, "", f"error: {said}\n")
    assert grants.entries(project=stored) == before
    assert not AuthzEvent.objects.filter(by="command").exists()


def test_an_explanation_in_words_and_in_json(manage, stored):
    clients.create(project=stored, actor="client:a", scope_prefix="user:", conversation_prefix="w-1")
    projects.set_access(project=stored, access="scoped")
    ran = manage(*on_tenant("explain", "--client", "client:a"))
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "client:a in project tenant\n"
        "  its token is kept in the database\n"
        "  its allowance reaches scopes that begin with 'user:'\n"
        "  its allowance reaches conversations that begin with 'w-1'\n"
        "  grants are on; the grants kept in the database decide\n"
        "read:\n"
        "  scope user:a  (grant, within its allowance)\n"
        "  conversation w-*  (grant, of which its allowance leaves w-1*)\n"
        "write:\n"
        "  scope user:a  (grant, within its allowance)\n"
        "append:\n"
        "  nothing\n"
        "operate:\n"
        "  scope user:a  (grant, within its allowance, operator)\n"
    )
    as_json = manage(*on_tenant("explain", "--client", "client:a", "--json"))
    assert as_json.json["write"] == [{"name": "scope user:a", "why": "grant, within its allowance"}]
    assert (as_json.json["exists"], as_json.json["append"]) == (True, [])


def test_whom_no_token_makes_is_explained_with_status_1(manage, stored):
    ran = manage(*on_tenant("explain", "--client", "client:a"))
    assert (ran.status, ran.err) == (1, "")
    assert ran.out == (
        "client:a in project tenant\n"
        "  no live token makes this client\n"
        "read:\n  nothing\nwrite:\n  nothing\nappend:\n  nothing\noperate:\n  nothing\n"
    )
    as_json = manage(*on_tenant("explain", "--client", "client:a", "--json"))
    assert (as_json.status, as_json.json["exists"]) == (1, False)


@pytest.mark.parametrize("verb", [("show",), ("export",), ("explain", "--client", "client:a")])
def test_a_missing_project_is_refused(manage, verb):
    ran = manage("grants", verb[0], "--project", "absent", *verb[1:])
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: [project_not_found] no project 'absent' (projects: default)")


@pytest.mark.parametrize(
    "line", [("import",), ("import", "/nowhere/grants.toml"), ("explain",), ("show", "surplus"), ("edit",)]
)
def test_a_wrong_command_line_is_status_2(manage, stored, line):
    ran = manage(*on_tenant(*line)) if line[0] != "edit" else manage("grants", *line)
    assert (ran.status, ran.out) == (2, "")
    assert "manage.py grants" in ran.err
