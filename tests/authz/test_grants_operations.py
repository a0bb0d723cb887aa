"""Grants, clients and projects in the database: what is stored, what the trail says, and what a caller then may."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from authz import grants_file, tokens
from authz.caller import Allowance, Caller
from authz.grants import NOTHING, ClientEntry, ConversationGrant, Permissions, ScopeGrant
from authz.models import ApiToken, AuthzEvent, GrantClient, Project
from authz.models import ConversationGrant as ConversationRow
from authz.models import ScopeGrant as ScopeRow
from authz.operations import clients, grants, projects
from authz.token_table import TableRefused
from neosian_site.core.errors import InvalidValue

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
FULL = ClientEntry(
    "client:a",
    True,
    (ScopeGrant("team:x", read=True), ScopeGrant("user:a", read=True, write=True)),
    (
        ConversationGrant("w-", read=True),
        ConversationGrant(ids=("c", "d"), append=True),
        ConversationGrant("w-1-", append=True),
    ),
)
FULL_SHAPE = {
    "actor": "client:a",
    "operator": True,
    "scopes": [
        {"scope": "team:x", "read": True, "write": False},
        {"scope": "user:a", "read": True, "write": True},
    ],
    "conversations": [
        {"prefix": "w-", "ids": None, "read": True, "append": False},
        {"prefix": None, "ids": ["c", "d"], "read": False, "append": True},
        {"prefix": "w-1-", "ids": None, "read": False, "append": True},
    ],
}
FULL_PERMISSIONS = Permissions(
    operator=True,
    read_scopes=frozenset({"team:x", "user:a"}),
    write_scopes=frozenset({"user:a"}),
    read_prefixes=("w-",),
    append_prefixes=("w-1-",),
    append_ids=frozenset({"c", "d"}),
)
BARE_SHAPE = {"actor": "client:a", "operator": False, "scopes": [], "conversations": []}


@pytest.fixture
def project():
    return projects.create(slug="tenant")


@pytest.fixture
def neighbour():
    return projects.create(slug="neighbour")


def trail():
    """Who changed what from what to what, oldest first."""
    return list(AuthzEvent.objects.order_by("id").values_list("by", "subject", "before", "after"))


def rows():
    return [
        sorted(model.objects.values_list(), key=repr)
        for model in (Project, ApiToken, GrantClient, ScopeRow, ConversationRow, AuthzEvent)
    ]


def called(token):
    tokens.forget_cached()
    return tokens.caller_for(token.encode())


# Grants --------------------------------------------------------------------------------------------------------------


def test_what_is_put_is_what_is_read_and_noted(project):
    with time_machine.travel(NOON, tick=False):
        grants.put(project=project, value=FULL, by="alice")
    assert grants.of(project=project, actor="client:a") == FULL
    assert grants.entries(project=project) == (FULL,)
    assert trail() == [("alice", "grants client:a", None, FULL_SHAPE)]
    assert AuthzEvent.objects.get().at == NOON
    assert AuthzEvent.objects.get().project == project


def test_putting_again_makes_it_exactly_the_new_value(project):
    grants.put(project=project, value=FULL, by="alice")
    second = ClientEntry("client:a", False, (ScopeGrant("user:a", write=True),), (ConversationGrant("w-"),))
    grants.put(project=project, value=second, by="bob")
    assert grants.of(project=project, actor="client:a") == second
    assert (GrantClient.objects.count(), ScopeRow.objects.count(), ConversationRow.objects.count()) == (1, 1, 1)
    assert trail()[1] == (
        "bob",
        "grants client:a",
        FULL_SHAPE,
        {
            "actor": "client:a",
            "operator": False,
            "scopes": [{"scope": "user:a", "read": False, "write": True}],
            "conversations": [{"prefix": "w-", "ids": None, "read": False, "append": False}],
        },
    )


def test_putting_the_same_is_not_noted_again(project):
    grants.put(project=project, value=FULL, by="alice")
    grants.put(project=project, value=FULL, by="bob")
    assert [by for by, *_ in trail()] == ["alice"]


def test_an_empty_entry_is_an_entry(project):
    grants.put(project=project, value=ClientEntry("client:a"), by="alice")
    assert trail() == [("alice", "grants client:a", None, BARE_SHAPE)]
    projects.set_access(project=project, access="scoped")
    issued = clients.create(project=project, actor="client:a")
    assert called(issued.token).grants == Permissions()
    assert called(issued.token).grants != NOTHING


@pytest.mark.parametrize("actor", ["", "nobody", "Client:a", "client:a@user:", "client:a=t"])
def test_grants_of_no_actor_are_refused(project, actor):
    before = rows()
    with pytest.raises(InvalidValue, match="is no actor"):
        grants.put(project=project, value=ClientEntry(actor), by="alice")
    with pytest.raises(InvalidValue, match="is no actor"):
        grants.replace(project=project, values=[ClientEntry("client:b"), ClientEntry(actor)], by="alice")
    assert rows() == before


def test_removing_takes_everything_of_one_client_and_notes_it(project, neighbour):
    other = ClientEntry("client:b", False, (ScopeGrant("user:b", read=True),), (ConversationGrant("b-"),))
    for where, value in ((project, FULL), (project, other), (neighbour, FULL)):
        grants.put(project=where, value=value, by="alice")
    grants.remove(project=project, actor="client:a", by="bob")
    assert grants.entries(project=project) == (other,)
    assert grants.entries(project=neighbour) == (FULL,)
    assert trail()[3:] == [("bob", "grants client:a", FULL_SHAPE, None)]


def test_removing_what_is_not_there_is_refused(project, neighbour):
    grants.put(project=neighbour, value=FULL, by="alice")
    before = rows()
    for actor in ("client:a", "client:A", ""):
        with pytest.raises(grants.GrantsMissing, match="project 'tenant' has no grants for"):
            grants.remove(project=project, actor=actor, by="bob")
    assert rows() == before


def test_replacing_says_and_notes_what_it_did(project, neighbour):
    kept, changed, gone = ClientEntry("client:kept"), ClientEntry("client:changed"), ClientEntry("client:gone")
    for value in (kept, changed, gone):
        grants.put(project=project, value=value, by="alice")
    grants.put(project=neighbour, value=FULL, by="alice")
    wanted = [FULL, ClientEntry("client:changed", operator=True), kept]
    done = grants.replace(project=project, values=wanted, by="bob")
    assert done == {"added": ["client:a"], "changed": ["client:changed"], "removed": ["client:gone"]}
    assert {entry.actor: entry for entry in grants.entries(project=project)} == {entry.actor: entry for entry in wanted}
    assert grants.entries(project=neighbour) == (FULL,)
    assert [(by, subject, before is None, after is None) for by, subject, before, after in trail()[4:]] == [
        ("bob", "grants client:a", True, False),
        ("bob", "grants client:changed", False, False),
        ("bob", "grants client:gone", False, True),
    ]
    before = rows()
    assert grants.replace(project=project, values=wanted, by="bob") == {"added": [], "changed": [], "removed": []}
    assert rows() == before


def test_replacing_by_nothing_removes_all(project):
    grants.put(project=project, value=FULL, by="alice")
    assert grants.replace(project=project, values=[], by="bob")["removed"] == ["client:a"]
    assert (GrantClient.objects.count(), ScopeRow.objects.count(), ConversationRow.objects.count()) == (0, 0, 0)


def test_a_change_that_fails_half_way_changes_nothing(project, monkeypatch):
    grants.put(project=project, value=ClientEntry("client:z"), by="alice")
    before = rows()

    def fail(*_, **__):
        raise RuntimeError("the trail is full")

    monkeypatch.setattr(grants.events, "record", fail)
    for act in (
        lambda: grants.put(project=project, value=FULL, by="bob"),
        lambda: grants.remove(project=project, actor="client:z", by="bob"),
        lambda: grants.replace(project=project, values=[FULL], by="bob"),
        lambda: projects.set_access(project=project, access="scoped"),
        lambda: clients.create(project=project, actor="client:z"),
    ):
        with pytest.raises(RuntimeError, match="the trail is full"):
            act()
        assert rows() == before


def test_a_file_that_was_exported_imports_to_no_change(project):
    grants.replace(project=project, values=[FULL, ClientEntry("client:b")], by="alice")
    text = grants_file.render(grants.entries(project=project))
    assert grants.replace(project=project, values=grants_file.parse(text.encode()), by="bob") == {
        "added": [],
        "changed": [],
        "removed": [],
    }


def test_listing_grants_costs_three_statements(project):
    counts = []
    for size in (1, 20):
        values = [ClientEntry(f"client:{n}", False, FULL.scopes, FULL.conversations) for n in range(size)]
        grants.replace(project=project, values=values, by="alice")
        with CaptureQueriesContext(connection) as queries:
            assert len(grants.entries(project=project)) == size
        counts.append(len(queries))
    assert counts == [3, 3]


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (ConversationRow, {"prefix": "p", "ids": ["a"]}),
        (ConversationRow, {"prefix": None, "ids": None}),
        (ConversationRow, {"prefix": None, "ids": []}),
        (ConversationRow, {"prefix": "w-1-"}),
        (ScopeRow, {"scope": "user:a"}),
        (GrantClient, {"actor": "client:b"}),
    ],
)
def test_the_database_refuses_what_no_grant_can_be(project, model, wrong):
    grants.put(project=project, value=FULL, by="alice")
    grants.put(project=project, value=ClientEntry("client:b"), by="alice")
    first = model.objects.order_by("pk").first()
    with pytest.raises(IntegrityError), transaction.atomic():
        model.objects.filter(pk=first.pk).update(**wrong)


@pytest.mark.parametrize("change", ["update", "delete"])
def test_the_trail_only_grows(project, change):
    grants.put(project=project, value=FULL, by="alice")
    with pytest.raises(IntegrityError, match="never changed or removed"), transaction.atomic():
        AuthzEvent.objects.all()._raw_delete("default") if change == "delete" else AuthzEvent.objects.update(by="eve")
    assert [by for by, *_ in trail()] == ["alice"]


# What a caller may ---------------------------------------------------------------------------------------------------


def test_grants_are_asked_while_the_project_is_scoped(project):
    issued = clients.create(project=project, actor="client:a")
    grants.put(project=project, value=FULL, by="alice")
    assert called(issued.token) == Caller(project.id, "client:a")
    projects.set_access(project=project, access="scoped")
    assert called(issued.token) == Caller(project.id, "client:a", None, FULL_PERMISSIONS)
    projects.set_access(project=project, access="open")
    assert called(issued.token) == Caller(project.id, "client:a")


def test_the_database_and_the_file_make_the_same_permissions(project, settings, tmp_path):
    default = projects.named("default")
    path = tmp_path / "grants.toml"
    path.write_text(grants_file.render([FULL]))
    settings.NEOSIAN_SERVE_TOKEN = "client:a=t"
    grants.put(project=default, value=FULL, by="alice")
    projects.set_access(project=default, access="scoped")
    stored = called("t")
    settings.NEOSIAN_SERVE_GRANTS = str(path)
    assert called("t") == stored == Caller(default.id, "client:a", None, FULL_PERMISSIONS)


def test_the_file_judges_the_tables_clients_and_the_database_its_own(settings, tmp_path, project):
    default = projects.named("default")
    path = tmp_path / "grants.toml"
    path.write_text('grant_format = 1\n[[clients]]\nactor = "client:a"\noperator = true\n')
    settings.NEOSIAN_SERVE_TOKEN = "client:a=ta,client:b=tb"
    settings.NEOSIAN_SERVE_GRANTS = str(path)
    own = clients.create(project=default, actor="client:c")
    same = clients.create(project=default, actor="client:a")
    tenant = clients.create(project=project, actor="client:c")
    assert default.access == "open"
    assert called("ta").grants == Permissions(operator=True)
    assert called("tb").grants == NOTHING
    # The whole project is scoped; what the file says of an actor is said of the table's.
    assert called(own.token).grants == called(same.token).grants == NOTHING
    # Another project is not touched.
    assert called(tenant.token).grants is None
    grants.put(project=default, value=ClientEntry("client:c", scopes=(ScopeGrant("user:a", read=True),)), by="alice")
    grants.put(project=default, value=ClientEntry("client:b", operator=True), by="alice")
    assert called(own.token).grants == Permissions(read_scopes=frozenset({"user:a"}))
    assert called("tb").grants == NOTHING


def test_grants_of_another_project_or_another_case_are_nobodys(project, neighbour):
    issued = clients.create(project=project, actor="client:a")
    projects.set_access(project=project, access="scoped")
    grants.put(project=neighbour, value=FULL, by="alice")
    grants.put(project=project, value=ClientEntry("client:A", operator=True), by="alice")
    assert called(issued.token).grants == NOTHING


def test_grants_outlive_a_token_and_hold_for_the_next_one(project):
    projects.set_access(project=project, access="scoped")
    grants.put(project=project, value=FULL, by="alice")
    first = clients.create(project=project, actor="client:a")
    clients.revoke(project=project, actor="client:a")
    second = clients.create(project=project, actor="client:a")
    assert (called(first.token), called(second.token).grants) == (None, FULL_PERMISSIONS)


def test_a_stored_client_with_grants_costs_two_statements_and_then_none(project):
    projects.set_access(project=project, access="scoped")
    grants.put(project=project, value=FULL, by="alice")
    issued = clients.create(project=project, actor="client:a")
    called(issued.token)  # Notes its use.
    tokens.forget_cached()
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as queries:
            assert tokens.caller_for(issued.token.encode()).grants == FULL_PERMISSIONS
        counts.append(len(queries))
    assert counts == [2, 0]


# While the database is away ------------------------------------------------------------------------------------------


@pytest.fixture
def away(monkeypatch):
    """The database of tokens cannot be asked."""

    def fail(*_):
        raise OperationalError("connection refused")

    def go():
        monkeypatch.setattr(tokens, "_from_database", fail)

    return go


@pytest.fixture
def cache_clock(monkeypatch):
    """The clock the cache of callers goes by, moved by hand."""

    class Clock:
        at = 1000.0

        def monotonic(self):
            return self.at

    monkeypatch.setattr(tokens, "time", clock := Clock())
    return clock


def test_without_its_database_a_caller_is_known_for_less_than_five_seconds(project, away, cache_clock):
    token = clients.create(project=project, actor="client:a").token.encode()
    known = tokens.caller_for(token)
    away()
    cache_clock.at += tokens.CACHE_SECONDS + tokens.GRACE_SECONDS - 0.001
    assert tokens.caller_for(token) == known
    cache_clock.at += 0.001
    with pytest.raises(OperationalError):
        tokens.caller_for(token)
    assert tokens.CACHE_SECONDS + tokens.GRACE_SECONDS < 5
    with pytest.raises(OperationalError):
        tokens.caller_for(b"stranger")


def test_who_was_refused_is_not_let_in_because_the_database_goes_away(project, away, cache_clock):
    token = clients.create(project=project, actor="client:a").token.encode()
    assert tokens.caller_for(token) is not None
    clients.revoke(project=project, actor="client:a")
    cache_clock.at += tokens.CACHE_SECONDS
    assert tokens.caller_for(token) is None
    away()
    with pytest.raises(OperationalError):
        tokens.caller_for(token)


def test_who_expired_is_not_let_in_because_the_database_goes_away(project, away, cache_clock):
    with time_machine.travel(NOON, tick=False) as clock:
        token = clients.create(project=project, actor="client:a", expires_at=NOON + timedelta(seconds=1)).token.encode()
        assert tokens.caller_for(token) is not None
        away()
        clock.shift(timedelta(seconds=1))
        cache_clock.at += tokens.CACHE_SECONDS
        with pytest.raises(OperationalError):
            tokens.caller_for(token)


# Projects ------------------------------------------------------------------------------------------------------------


def project_shape(**other):
    return {
        "name": "tenant",
        "label": "",
        "access": "open",
        "created_at": "2026-05-06T12:00:00Z",
        "suspended_at": None,
    } | other


@pytest.fixture
def tenant():
    with time_machine.travel(NOON, tick=False):
        return projects.create(slug="tenant")


def test_switching_access_is_noted_once(tenant):
    for access in ("scoped", "scoped", "open", "open"):
        changed = projects.set_access(project=tenant, access=access, by="alice")
        assert (changed.access, Project.objects.get(pk=tenant.pk).access) == (access, access)
    assert trail() == [
        ("alice", "project", project_shape(), project_shape(access="scoped")),
        ("alice", "project", project_shape(access="scoped"), project_shape()),
    ]


@pytest.mark.parametrize("access", ["", "Scoped", "closed", None])
def test_another_word_for_access_is_refused(tenant, access):
    before = rows()
    with pytest.raises(InvalidValue, match="access is 'open' or 'scoped'"):
        projects.set_access(project=tenant, access=access)
    assert rows() == before
    with pytest.raises(IntegrityError), transaction.atomic():
        Project.objects.filter(pk=tenant.pk).update(access="closed")


def test_a_suspended_project_refuses_its_tokens_until_it_is_resumed(tenant):
    issued = clients.create(project=tenant, actor="client:a")
    with time_machine.travel(NOON, tick=False) as clock:
        suspended = projects.suspend(project=tenant, by="alice")
        clock.shift(timedelta(hours=1))
        again = projects.suspend(project=suspended, by="bob")
    assert again.suspended_at == NOON
    assert called(issued.token) is None
    projects.resume(project=tenant, by="carol")
    projects.resume(project=tenant, by="dave")
    assert called(issued.token) == Caller(tenant.id, "client:a")
    stopped = project_shape(suspended_at="2026-05-06T12:00:00Z")
    assert trail()[1:] == [
        ("alice", "project", project_shape(), stopped),
        ("carol", "project", stopped, project_shape()),
    ]


def test_changing_one_thing_of_a_project_leaves_what_another_changed_meanwhile(tenant):
    projects.set_access(project=tenant, access="scoped")
    assert tenant.access == "open"  # What this process read before.
    projects.suspend(project=tenant)
    assert projects.named("tenant").access == "scoped"


# Clients -------------------------------------------------------------------------------------------------------------


def client_shape(issued, **other):
    return {
        "actor": "client:a",
        "hint": issued.client.hint,
        "constrained": False,
        "scope_prefix": None,
        "id_prefix": None,
        "created_at": "2026-05-06T12:00:00Z",
        "expires_at": None,
        "suspended_at": None,
        "revoked_at": None,
    } | other


@pytest.fixture
def issued(project):
    with time_machine.travel(NOON, tick=False):
        return clients.create(project=project, actor="client:a", by="alice")


def test_making_a_client_is_noted_without_its_token(issued):
    assert trail() == [("alice", "client client:a", None, client_shape(issued))]
    noted = repr(AuthzEvent.objects.values())
    assert issued.token not in noted
    assert bytes(issued.client.token_sha256).hex() not in noted


def test_a_suspended_client_is_refused_until_it_is_resumed(project, issued):
    with time_machine.travel(NOON, tick=False) as clock:
        assert clients.suspend(project=project, actor="client:a", by="bob").suspended_at == NOON
        clock.shift(timedelta(hours=1))
        # It stays suspended since when it was.
        assert clients.suspend(project=project, actor="client:a", by="bob").suspended_at == NOON
    assert called(issued.token) is None
    for _ in range(2):
        assert clients.resume(project=project, actor="client:a", by="carol").suspended_at is None
    assert called(issued.token) == Caller(project.id, "client:a")
    stopped = client_shape(issued, suspended_at="2026-05-06T12:00:00Z")
    assert trail()[1:] == [
        ("bob", "client client:a", client_shape(issued), stopped),
        ("carol", "client client:a", stopped, client_shape(issued)),
    ]


def test_a_client_can_be_given_an_end_and_freed_of_it(project, issued):
    ends = NOON + timedelta(days=1)
    with time_machine.travel(NOON, tick=False) as clock:
        clients.expire(project=project, actor="client:a", at=ends, by="bob")
        assert called(issued.token) is not None
        clock.shift(timedelta(days=1))
        assert called(issued.token) is None
        clients.expire(project=project, actor="client:a", at=None, by="carol")
        assert called(issued.token) is not None
    ending = client_shape(issued, expires_at="2026-05-07T12:00:00Z")
    assert trail()[1:] == [
        ("bob", "client client:a", client_shape(issued), ending),
        ("carol", "client client:a", ending, client_shape(issued)),
    ]


def test_revoking_is_noted_and_for_good(project, issued):
    with time_machine.travel(NOON, tick=False):
        clients.revoke(project=project, actor="client:a", by="bob")
    ended = client_shape(issued, revoked_at="2026-05-06T12:00:00Z")
    assert trail()[1:] == [("bob", "client client:a", client_shape(issued), ended)]
    before = rows()
    for act in (
        lambda: clients.revoke(project=project, actor="client:a"),
        lambda: clients.suspend(project=project, actor="client:a"),
        lambda: clients.resume(project=project, actor="client:a"),
        lambda: clients.expire(project=project, actor="client:a", at=None),
    ):
        with pytest.raises(clients.ClientMissing, match="project 'tenant' has no live client 'client:a'"):
            act()
    assert rows() == before
    assert called(issued.token) is None


def test_only_a_client_of_the_project_is_changed(project, issued, neighbour):
    twin = clients.create(project=neighbour, actor="client:a")
    clients.suspend(project=neighbour, actor="client:a")
    clients.expire(project=neighbour, actor="client:a", at=NOON)
    assert called(issued.token) == Caller(project.id, "client:a")
    assert called(twin.token) is None


# Importing a token table ---------------------------------------------------------------------------------------------

TABLE = "client:all=t-all,client:s@user:b=t-s,client:c+b-=t-c,client:both@user:b+b-=t-both"
REACH = {
    "t-all": None,
    "t-s": Allowance("user:b", None),
    # In the table an id prefix alone leaves every scope open; "" says so.
    "t-c": Allowance("", "b-"),
    "t-both": Allowance("user:b", "b-"),
}


def test_an_imported_entry_keeps_its_token_and_what_it_reaches(project, settings):
    actors = ["client:all", "client:s", "client:c", "client:both"]
    assert clients.import_table(project=project, table=TABLE) == (actors, [])
    stored = {row.actor: (row.constrained, row.scope_prefix, row.conversation_prefix) for row in ApiToken.objects.all()}
    assert stored == {
        "client:all": (False, None, None),
        "client:s": (True, "user:b", None),
        "client:c": (True, "", "b-"),
        "client:both": (True, "user:b", "b-"),
    }
    for (token, allowance), actor in zip(REACH.items(), actors, strict=True):
        assert called(token) == Caller(project.id, actor, allowance)
        # As the table itself has it.
        settings.NEOSIAN_SERVE_TOKEN = TABLE
        assert (called(token).client, called(token).allowance) == (actor, allowance)
        settings.NEOSIAN_SERVE_TOKEN = None
    # Short tokens: the hint would be most of them.
    assert {row.hint for row in ApiToken.objects.all()} == {""}


def test_a_long_imported_token_keeps_a_hint(project):
    clients.import_table(project=project, table=f"client:a={'x' * 31},client:b={'y' * 32}")
    assert {row.actor: row.hint for row in ApiToken.objects.all()} == {"client:a": "", "client:b": "y" * 8}


def test_importing_again_changes_nothing_and_a_longer_table_adds(project):
    clients.import_table(project=project, table=TABLE)
    before = rows()
    assert clients.import_table(project=project, table=TABLE) == (
        [],
        ["client:all", "client:s", "client:c", "client:both"],
    )
    assert rows() == before
    assert clients.import_table(project=project, table=f"client:new=t-new,{TABLE}")[0] == ["client:new"]


def test_a_bare_token_is_imported_as_the_default_client(project):
    assert clients.import_table(project=project, table="just-a-token") == (["client:default"], [])
    assert called("just-a-token") == Caller(project.id, "client:default")


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            "client:new=t-new,client:all=other",
            "project 'tenant' has a live client 'client:all' already; revoke it first",
        ),
        ("client:new=t-new,client:other=t-all", "the token of 'client:other' is another client's already"),
    ],
)
def test_an_entry_that_collides_leaves_nothing_of_the_table(project, table, said):
    clients.import_table(project=project, table=TABLE)
    before = rows()
    with pytest.raises(clients.ClientTaken) as refused:
        clients.import_table(project=project, table=table)
    assert str(refused.value) == said
    assert rows() == before


def test_a_table_that_cannot_be_read_leaves_nothing(project):
    with pytest.raises(TableRefused):
        clients.import_table(project=project, table="client:a=t,client:b=")
    assert ApiToken.objects.count() == 0


def test_a_revoked_token_does_not_come_back_by_importing_it(project):
    clients.import_table(project=project, table=TABLE)
    clients.revoke(project=project, actor="client:s")
    before = rows()
    with pytest.raises(clients.ClientTaken):
        clients.import_table(project=project, table=TABLE)
    assert rows() == before
    assert called("t-s") is None


def test_a_token_opens_one_project(project, neighbour):
    clients.import_table(project=project, table="client:a=t")
    with pytest.raises(clients.ClientTaken):
        clients.import_table(project=neighbour, table="client:b=t")
    assert called("t") == Caller(project.id, "client:a")
