from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from authz import tokens
from authz.caller import Allowance, Caller
from authz.models import ApiToken, Project
from authz.operations import clients, projects
from neosian_site.core.errors import InvalidValue

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return projects.create(slug="tenant")


def test_a_token_is_shown_once_and_only_its_digest_is_kept(project):
    with time_machine.travel("2026-05-06T07:08:09Z", tick=False):
        issued = clients.create(project=project, actor="client:app")
    row = ApiToken.objects.get()
    assert row == issued.client
    assert issued.token.startswith("ns_")
    # 32 random bytes in URL-safe base64.
    assert len(issued.token) == len("ns_") + 43
    assert bytes(row.token_sha256) == hashlib.sha256(issued.token.encode()).digest()
    assert (row.hint, row.created_at) == (issued.token[:8], datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC))
    assert issued.token not in repr([getattr(row, field.name) for field in ApiToken._meta.concrete_fields])
    assert (row.expires_at, row.revoked_at, row.last_used_at) == (None, None, None)


def test_tokens_differ(project):
    assert len({clients.create(project=project, actor=f"client:a{place}").token for place in range(20)}) == 20


@pytest.mark.parametrize(
    ("prefixes", "allowance"),
    [
        ({}, None),
        ({"scope_prefix": "user:a"}, Allowance("user:a", None)),
        ({"conversation_prefix": "a-"}, Allowance(None, "a-")),
        ({"scope_prefix": "", "conversation_prefix": "a-"}, Allowance("", "a-")),
        ({"scope_prefix": ""}, Allowance("", None)),
        ({"scope_prefix": "é😀", "conversation_prefix": "x" * 512}, Allowance("é😀", "x" * 512)),
    ],
)
def test_a_token_makes_the_client_it_was_issued_for(project, prefixes, allowance):
    issued = clients.create(project=project, actor="client:app", **prefixes)
    assert issued.client.constrained is (allowance is not None)
    assert tokens.caller_for(issued.token.encode()) == Caller(project.id, "client:app", allowance)
    assert tokens.caller_for(issued.token.encode() + b"x") is None
    assert tokens.caller_for(issued.token[:-1].encode()) is None
    assert tokens.caller_for(hashlib.sha256(issued.token.encode()).digest()) is None


@pytest.mark.parametrize(
    "actor", ["", "app", "Client:a", "client:a b", "client:..", "client:a#0", " client:a", "client:a\n"]
)
def test_an_actor_outside_its_grammar_is_refused(project, actor):
    with pytest.raises(InvalidValue, match="is no actor"):
        clients.create(project=project, actor=actor)
    assert ApiToken.objects.count() == 0


@pytest.mark.parametrize("half", ["scope_prefix", "conversation_prefix"])
@pytest.mark.parametrize("prefix", ["x" * 513, "a\0", "\ud800"], ids=lambda value: ascii(value)[:9])
def test_a_prefix_no_name_can_begin_with_is_refused(project, half, prefix):
    with pytest.raises(InvalidValue, match="is no prefix"):
        clients.create(project=project, actor="client:app", **{half: prefix})
    assert ApiToken.objects.count() == 0


def test_a_live_client_keeps_its_name_and_its_token(project):
    first = clients.create(project=project, actor="client:app")
    with pytest.raises(clients.ClientTaken, match="revoke it first"):
        clients.create(project=project, actor="client:app", scope_prefix="user:a")
    assert list(ApiToken.objects.all()) == [first.client]
    assert tokens.caller_for(first.token.encode()) == Caller(project.id, "client:app")


def test_a_name_is_free_in_another_project_in_other_case_and_after_revocation(project):
    clients.create(project=project, actor="client:app")
    clients.create(project=project, actor="client:App")
    clients.create(project=projects.create(slug="neighbour"), actor="client:app")
    clients.revoke(project=project, actor="client:app")
    clients.create(project=project, actor="client:app")
    assert ApiToken.objects.count() == 4


def test_revoking_ends_one_client_at_its_time_and_keeps_the_row(project):
    issued, other = (clients.create(project=project, actor=actor) for actor in ("client:app", "client:other"))
    with time_machine.travel("2026-05-06T07:08:09Z", tick=False):
        revoked = clients.revoke(project=project, actor="client:app")
    assert revoked.revoked_at == datetime(2026, 5, 6, 7, 8, 9, tzinfo=UTC)
    assert ApiToken.objects.get(pk=issued.client.pk).revoked_at == revoked.revoked_at
    assert tokens.caller_for(issued.token.encode()) is None
    assert tokens.caller_for(other.token.encode()) is not None


def test_only_a_live_client_of_the_project_can_be_revoked(project):
    issued = clients.create(project=project, actor="client:app")
    neighbour = projects.create(slug="neighbour")
    for where, actor in ((project, "client:nobody"), (neighbour, "client:app"), (project, "client:App")):
        with pytest.raises(clients.ClientMissing):
            clients.revoke(project=where, actor=actor)
    assert ApiToken.objects.get(pk=issued.client.pk).revoked_at is None
    first = clients.revoke(project=project, actor="client:app")
    with pytest.raises(clients.ClientMissing):
        clients.revoke(project=project, actor="client:app")
    assert ApiToken.objects.get().revoked_at == first.revoked_at


def test_clients_are_listed_by_project_and_actor_revoked_ones_too(project):
    neighbour = projects.create(slug="neighbour")
    for where, actor in ((project, "client:b"), (project, "client:a"), (neighbour, "client:c")):
        clients.create(project=where, actor=actor)
    clients.revoke(project=project, actor="client:a")
    assert [(row.project.slug, row.actor) for row in clients.listed()] == [
        ("neighbour", "client:c"),
        ("tenant", "client:a"),
        ("tenant", "client:b"),
    ]
    assert [row.actor for row in clients.listed(project=project)] == ["client:a", "client:b"]


def test_listing_clients_costs_one_statement(project):
    counts = []
    for size in (1, 40):
        for place in range(size):
            clients.create(project=project, actor=f"client:{size}-{place}")
        with CaptureQueriesContext(connection) as queries:
            assert [row.project.slug for row in clients.listed()] == ["tenant"] * len(clients.listed(project=project))
        counts.append(len(queries))
    assert counts == [2, 2]


def test_an_expired_token_makes_nobody(project):
    with time_machine.travel("2026-05-06T00:00:00Z", tick=False) as clock:
        issued = clients.create(project=project, actor="client:app", expires_at=datetime(2026, 5, 7, tzinfo=UTC))
        assert tokens.caller_for(issued.token.encode()) is not None
        clock.shift(timedelta(days=1))
        assert tokens.caller_for(issued.token.encode()) is None
        tokens.forget_cached()
        assert tokens.caller_for(issued.token.encode()) is None


def test_use_is_noted_at_most_every_five_minutes(project):
    issued = clients.create(project=project, actor="client:app")

    def used_at() -> datetime | None:
        tokens.forget_cached()
        assert tokens.caller_for(issued.token.encode()) is not None
        return ApiToken.objects.get().last_used_at

    start = datetime(2026, 5, 6, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        assert used_at() == start
        clock.shift(timedelta(minutes=5))
        assert used_at() == start
        clock.shift(timedelta(microseconds=1))
        assert used_at() == start + timedelta(minutes=5, microseconds=1)


def test_a_known_token_costs_no_statement_and_a_stranger_one(project):
    issued = clients.create(project=project, actor="client:app")
    tokens.caller_for(issued.token.encode())
    with CaptureQueriesContext(connection) as queries:
        assert tokens.caller_for(issued.token.encode()) is not None
    assert len(queries) == 0
    with CaptureQueriesContext(connection) as queries:
        assert tokens.caller_for(b"stranger") is None
    assert len(queries) == 1


def test_the_cache_is_bounded(project, monkeypatch):
    monkeypatch.setattr(tokens, "MAX_CACHED", 3)
    for place in range(8):
        issued = clients.create(project=project, actor=f"client:a{place}")
        assert tokens.caller_for(issued.token.encode()) is not None
        assert len(tokens._cache) <= 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"constrained": False, "scope_prefix": "user:a"},
        {"constrained": False, "conversation_prefix": ""},
        {"constrained": True, "scope_prefix": None, "conversation_prefix": None},
    ],
)
def test_the_database_keeps_prefixes_and_their_flag_together(project, wrong):
    issued = clients.create(project=project, actor="client:app")
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.filter(pk=issued.client.pk).update(**wrong)


@pytest.mark.parametrize("slug", ["a", "0", "a-b-c", "x" * 63])
def test_a_project_is_made_under_its_name(slug):
    made = projects.create(slug=slug, label="A label")
    assert projects.named(slug) == made
    assert (made.slug, made.label, made.suspended_at) == (slug, "A label", None)


@pytest.mark.parametrize("slug", ["", "A", "-a", "a_b", "a b", "a.b", "x" * 64, "ü", "a\n", "a/b"])
def test_a_project_name_outside_its_grammar_is_refused(slug):
    with pytest.raises(InvalidValue, match="is no project name"):
        projects.create(slug=slug)
    assert [project.slug for project in Project.objects.all()] == ["default"]


def test_a_project_name_is_taken_once():
    made = projects.create(slug="tenant")
    with pytest.raises(projects.ProjectTaken):
        projects.create(slug="tenant")
    assert projects.listed() == [projects.named("default"), made]


def test_a_missing_project_is_named_with_those_that_exist():
    with pytest.raises(projects.ProjectMissing, match=r"no project 'absent' \(projects: default\)"):
        projects.named("absent")
