"""``manage.py client``: text, JSON, exit codes and refusals; a token is shown once and nowhere else."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest
import time_machine

from authz import tokens
from authz.caller import Allowance, Caller
from authz.models import ApiToken, AuthzEvent
from authz.operations import clients, projects

NOON = "2026-05-06T12:00:00Z"
OPTIONS = ("--project", "tenant", "--actor", "client:a")


@pytest.fixture
def tenant(db):
    return projects.create(slug="tenant")


@pytest.fixture
def issued(tenant):
    with time_machine.travel(NOON, tick=False):
        return clients.create(project=tenant, actor="client:a")


def shape(row, **other):
    return {
        "project": "tenant",
        "actor": "client:a",
        "hint": row.hint,
        "constrained": False,
        "scope_prefix": None,
        "id_prefix": None,
        "created_at": NOON,
        "expires_at": None,
        "suspended_at": None,
        "revoked_at": None,
        "last_used_at": None,
    } | other


def called(token):
    tokens.forget_cached()
    return tokens.caller_for(token.encode())


def test_a_client_is_made_and_its_token_printed(manage, tenant):
    ran = manage("client", "create", *OPTIONS)
    said, token = ran.out.splitlines()
    assert (ran.status, ran.err) == (0, "")
    assert said == "client client:a of project tenant made; its token, shown only now:"
    assert called(token) == Caller(tenant.id, "client:a")


def test_a_constrained_client_that_ends_is_made_as_json(manage, tenant):
    with time_machine.travel(NOON, tick=False):
        ran = manage(
            "client",
            "create",
            *OPTIONS,
            "--scope-prefix",
            "",
            "--id-prefix",
            "a-",
            "--expires",
            "2027-01-01T01:00:00+01:00",
            "--json",
        )
        assert called(ran.json["token"]) == Caller(tenant.id, "client:a", Allowance("", "a-"))
    row = ApiToken.objects.get()
    assert row.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert ran.json["client"] == shape(
        row, constrained=True, scope_prefix="", id_prefix="a-", expires_at="2027-01-01T00:00:00Z"
    )


def test_one_half_leaves_the_other_closed(manage, tenant):
    token = manage("client", "create", *OPTIONS, "--scope-prefix", "user:", "--json").json["token"]
    assert called(token) == Caller(tenant.id, "client:a", Allowance("user:", None))


@pytest.mark.parametrize(
    ("verb", "more", "text", "changed"),
    [
        ("revoke", (), "client client:a of project tenant revoked\n", {"revoked_at": NOON}),
        ("suspend", (), "client client:a of project tenant suspended\n", {"suspended_at": NOON}),
        ("resume", (), "client client:a of project tenant resumed\n", {}),
        (
            "expire",
            ("--at", "2026-05-06T12:00:00Z"),
            "client client:a of project tenant ends 2026-05-06T12:00:00Z\n",
            {"expires_at": NOON},
        ),
        ("expire", ("--never",), "client client:a of project tenant ends never\n", {}),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_a_client_is_changed(manage, issued, verb, more, text, changed, as_json):
    with time_machine.travel(NOON, tick=False):
        ran = manage("client", verb, *OPTIONS, *more, *(["--json"] if as_json else []))
    assert (ran.status, ran.err) == (0, "")
    if as_json:
        assert ran.json == {"client": shape(issued.client, **changed)}
    else:
        assert ran.out == text
    # What leaves it as it is is not noted.
    assert AuthzEvent.objects.filter(by="command").count() == (2 if changed else 1)
    assert (called(issued.token) is None) == bool(changed)


@pytest.mark.parametrize("verb", [("revoke",), ("suspend",), ("resume",), ("expire", "--never")])
def test_only_a_live_client_is_changed(manage, issued, tenant, verb):
    for options in (
        ("--project", "tenant", "--actor", "client:b"),
        ("--project", "default", "--actor", "client:a"),
    ):
        ran = manage("client", verb[0], *options, *verb[1:])
        assert (ran.status, ran.out) == (1, "")
        assert ran.err == f"error: project {options[1]!r} has no live client {options[3]!r}\n"
    assert called(issued.token) == Caller(tenant.id, "client:a")
    assert AuthzEvent.objects.count() == 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (("--project", "tenant", "--actor", "client:a"), "has a live client 'client:a' already; revoke it first"),
        (("--project", "absent", "--actor", "client:b"), "no project 'absent' (projects: default, tenant)"),
        (("--project", "tenant", "--actor", "b"), "'b' is no actor"),
        (("--project", "tenant", "--actor", "client:b", "--scope-prefix", "x" * 513), "is no prefix"),
    ],
)
def test_a_client_that_cannot_be_made_is_refused(manage, issued, line, said):
    ran = manage("client", "create", *line)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert said in ran.err
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize(
    "line",
    [
        ("create", "--project", "tenant"),
        ("create", "--actor", "client:b"),
        ("create", "--project", "tenant", "--actor", "client:b", "--expires", "tomorrow"),
        ("create", "--project", "tenant", "--actor", "client:b", "--expires", "2027-01-01T00:00:00"),
        ("create", "--project", "tenant", "--actor", "client:b", "--token", "mine"),
        ("expire", *OPTIONS),
        ("expire", *OPTIONS, "--never", "--at", NOON),
        ("expire", *OPTIONS, "--at", "soon"),
        ("revoke", "--project", "tenant"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_changes_nothing(manage, issued, line):
    before = list(ApiToken.objects.values())
    ran = manage("client", *line)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ") or ran.err.startswith("Error: ")
    assert list(ApiToken.objects.values()) == before


def test_clients_are_listed_without_a_token(manage, issued, tenant):
    made = {
        "client:revoked": {},
        "client:suspended": {"scope_prefix": "user:"},
        "client:expired": {"conversation_prefix": "a-", "expires_at": datetime(2026, 1, 1, tzinfo=UTC)},
        "client:narrow": {"scope_prefix": "", "conversation_prefix": "a-"},
    }
    shown = [clients.create(project=tenant, actor=actor, **more).token for actor, more in made.items()]
    clients.revoke(project=tenant, actor="client:revoked")
    clients.suspend(project=tenant, actor="client:suspended")
    with time_machine.travel(NOON, tick=False):
        assert called(issued.token) is not None
    ran = manage("client", "list", "--project", "tenant")
    heading, *lines = ran.out.splitlines()
    assert heading.split() == ["PROJECT", "ACTOR", "TOKEN", "REACH", "STATE", "LAST", "USED"]
    hints = {row.actor: f"{row.hint}…" for row in ApiToken.objects.all()}
    assert [[cell.strip() for cell in line.split("  ") if cell] for line in lines] == [
        ["tenant", "client:a", hints["client:a"], "everything", "live", NOON],
        ["tenant", "client:expired", hints["client:expired"], "no scopes, ids a-*", "expired", "never"],
        ["tenant", "client:narrow", hints["client:narrow"], "scopes *, ids a-*", "live", "never"],
        ["tenant", "client:revoked", hints["client:revoked"], "everything", "revoked", "never"],
        ["tenant", "client:suspended", hints["client:suspended"], "scopes user:*, no ids", "suspended", "never"],
    ]
    as_json = manage("client", "list", "--json")
    assert [client["actor"] for client in as_json.json["clients"]] == [line.split()[1] for line in lines]
    assert as_json.json["clients"][0] == shape(issued.client, last_used_at=NOON)
    for token in (*shown, issued.token):
        assert token not in ran.out + as_json.out
    assert manage("client", "list", "--project", "default").out.splitlines() == [
        "PROJECT  ACTOR  TOKEN  REACH  STATE  LAST USED"
    ]


TABLE = "client:all=t-all,client:c+b-=t-c"


def test_the_environments_table_is_imported(manage, tenant, settings):
    settings.NEOSIAN_SERVE_TOKEN = TABLE
    ran = manage("client", "import-table", "--project", "tenant")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "made     client:all\nmade     client:c\nimported 2 of 2 entries into project tenant\n"
    again = manage("client", "import-table", "--project", "tenant")
    assert again.out == "present  client:all\npresent  client:c\nimported 0 of 2 entries into project tenant\n"
    as_json = manage("client", "import-table", "--project", "tenant", "--json").json
    assert as_json == {"project": "tenant", "made": [], "present": ["client:all", "client:c"]}
    settings.NEOSIAN_SERVE_TOKEN = None
    assert called("t-c") == Caller(tenant.id, "client:c", Allowance("", "b-"))


def test_a_table_is_read_from_a_file_or_standard_input(manage, tenant, settings, tmp_path, monkeypatch):
    settings.NEOSIAN_SERVE_TOKEN = None
    path = tmp_path / "table"
    path.write_text(f"{TABLE}\n")
    assert manage("client", "import-table", "--file", path, "--json").json["made"] == ["client:all", "client:c"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"client:d=t-d\n")))
    assert manage("client", "import-table", "--file", "-", "--json").json["made"] == ["client:d"]
    assert called("t-d") == Caller(projects.named("default").id, "client:d")


def test_a_table_that_cannot_be_imported_is_refused_without_its_tokens(manage, tenant, settings):
    settings.NEOSIAN_SERVE_TOKEN = None
    ran = manage("client", "import-table")
    assert ran.status == 2
    assert "NEOSIAN_SERVE_TOKEN is not set; set it or give --file" in ran.err
    settings.NEOSIAN_SERVE_TOKEN = "client:a=s3cr3t,client:b"
    ran = manage("client", "import-table")
    assert (ran.status, ran.err) == (1, "error: NEOSIAN_SERVE_TOKEN entry 2: write actor=token\n")
    clients.import_table(project=tenant, table="client:a=s3cr3t")
    settings.NEOSIAN_SERVE_TOKEN = "client:b=other,client:c=s3cr3t"
    ran = manage("client", "import-table")
    assert (ran.status, ran.err) == (1, "error: the token of 'client:c' is another client's already\n")
    assert [row.actor for row in ApiToken.objects.all()] == ["client:a"]
