"""What ``explain`` says a client may do: its words, and that it is exactly what the gate allows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from authz import access, tokens
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.operations import clients, grants, projects
from authz.operations.explanation import explain
from neosian_site.core.errors import InvalidValue, NotPermitted

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 6, 12, tzinfo=UTC)
ENTRY = ClientEntry(
    "client:a",
    True,
    (ScopeGrant("user:b", read=True), ScopeGrant("user:a", read=True, write=True), ScopeGrant("team:x", write=True)),
    (
        ConversationGrant("w-", read=True),
        ConversationGrant("w-1-", append=True),
        ConversationGrant(ids=("w-2", "c"), read=True, append=True),
    ),
)
TOKEN_KEPT = "its token is kept in the database"
WHOLE = "the token has no allowance: it reaches the whole project"
DECIDES = "grants are on; the grants kept in the database decide"


@pytest.fixture
def project():
    return projects.create(slug="tenant")


def because(project, actor="client:a"):
    found = explain(project=project, actor=actor)
    assert (found.project, found.actor) == (project.slug, actor)
    return found.exists, found.because


def test_an_open_project_and_no_allowance_reach_everything(project):
    clients.create(project=project, actor="client:a")
    found = explain(project=project, actor="client:a")
    assert (found.exists, found.because) == (True, [TOKEN_KEPT, WHOLE, "the project is open: grants are not asked"])
    scopes, ids = ("scope *", "no allowance"), ("conversation *", "no allowance")
    assert found.permissions() == {
        "read": [scopes, ids],
        "write": [scopes],
        "append": [ids],
        "operate": [("whole store", "no allowance"), scopes, ids],
    }


@pytest.mark.parametrize(
    ("prefixes", "lines", "scopes", "ids"),
    [
        (
            {"scope_prefix": "user:", "conversation_prefix": "w-"},
            [
                "its allowance reaches scopes that begin with 'user:'",
                "its allowance reaches conversations that begin with 'w-'",
            ],
            [("scope user:*", "allowance")],
            [("conversation w-*", "allowance")],
        ),
        (
            {"scope_prefix": ""},
            ["its allowance reaches every one of the scopes", "its allowance reaches no conversations"],
            [("scope *", "allowance")],
            [],
        ),
        (
            {"conversation_prefix": ""},
            ["its allowance reaches no scopes", "its allowance reaches every one of the conversations"],
            [],
            [("conversation *", "allowance")],
        ),
    ],
)
def test_an_open_project_and_an_allowance(project, prefixes, lines, scopes, ids):
    clients.create(project=project, actor="client:a", **prefixes)
    found = explain(project=project, actor="client:a")
    assert found.because == [TOKEN_KEPT, *lines, "the project is open: grants are not asked"]
    assert found.permissions() == {
        "read": [*scopes, *ids],
        "write": scopes,
        "append": ids,
        "operate": [*scopes, *ids],
    }


def test_a_scoped_project_lists_what_is_granted(project):
    clients.create(project=project, actor="client:a")
    projects.set_access(project=project, access="scoped")
    grants.put(project=project, value=ENTRY, by="alice")
    found = explain(project=projects.named("tenant"), actor="client:a")
    assert (found.exists, found.because) == (True, [TOKEN_KEPT, WHOLE, DECIDES])
    write = ["scope team:x", "scope user:a"]
    append = ["conversation w-1-*", "conversation c", "conversation w-2"]
    read = ["scope user:a", "scope user:b", "conversation w-*", "conversation c", "conversation w-2"]
    assert found.permissions() == {
        "read": [(name, "grant") for name in read],
        "write": [(name, "grant") for name in write],
        "append": [(name, "grant") for name in append],
        "operate": [("whole store", "grant: operator"), *((name, "grant, operator") for name in write + append)],
    }
    assert found.shape() == {
        "project": "tenant",
        "client": "client:a",
        "exists": True,
        "because": [TOKEN_KEPT, WHOLE, DECIDES],
        "read": [{"name": name, "why": "grant"} for name in read],
        "write": [{"name": name, "why": "grant"} for name in write],
        "append": [{"name": name, "why": "grant"} for name in append],
        "operate": [
            {"name": "whole store", "why": "grant: operator"},
            *({"name": name, "why": "grant, operator"} for name in write + append),
        ],
    }


def test_an_allowance_cuts_what_is_granted(project):
    clients.create(project=project, actor="client:a", scope_prefix="user:a", conversation_prefix="w-1-a")
    projects.set_access(project=project, access="scoped")
    grants.put(project=project, value=ENTRY, by="alice")
    found = explain(project=projects.named("tenant"), actor="client:a")
    inside, cut = "grant, within its allowance", "grant, of which its allowance leaves w-1-a*"
    assert found.permissions() == {
        "read": [("scope user:a", inside), ("conversation w-*", cut)],
        "write": [("scope user:a", inside)],
        "append": [("conversation w-1-*", cut)],
        # No whole store for a token with an allowance.
        "operate": [("scope user:a", f"{inside}, operator"), ("conversation w-1-*", f"{cut}, operator")],
    }


def test_a_scoped_project_and_no_entry(project):
    clients.create(project=project, actor="client:a")
    projects.set_access(project=project, access="scoped")
    found = explain(project=projects.named("tenant"), actor="client:a")
    assert found.because == [TOKEN_KEPT, WHOLE, DECIDES, "it has no grants: it may do nothing"]
    assert found.exists
    assert found.permissions() == {"read": [], "write": [], "append": [], "operate": []}


def test_the_environments_table_and_file(settings, tmp_path):
    path = tmp_path / "grants.toml"
    path.write_text(
        'grant_format = 1\n[[clients]]\nactor = "client:a"\n[[clients.scopes]]\nscope = "user:a"\nread = true\n'
    )
    settings.NEOSIAN_SERVE_TOKEN = "client:a=t,client:b@user:=u"
    settings.NEOSIAN_SERVE_GRANTS = str(path)
    default = projects.named("default")
    # Grants of the database are not those of the table's clients.
    grants.put(project=default, value=ENTRY, by="alice")
    table, decides = (
        "its token stands in the environment's table",
        "grants are on; the environment's grants file decides",
    )
    found = explain(project=default, actor="client:a")
    assert found.because == [table, WHOLE, decides]
    assert found.permissions() == {"read": [("scope user:a", "grants file")], "write": [], "append": [], "operate": []}
    assert because(default, "client:b") == (
        True,
        [
            table,
            "its allowance reaches scopes that begin with 'user:'",
            "its allowance reaches no conversations",
            decides,
            "it has no grants: it may do nothing",
        ],
    )
    clients.create(project=default, actor="client:c")
    assert because(default, "client:c") == (True, [TOKEN_KEPT, WHOLE, DECIDES, "it has no grants: it may do nothing"])
    # The table is the default project's alone.
    tenant = projects.create(slug="tenant")
    assert because(tenant) == (False, ["no live token makes this client"])


def test_who_has_no_token_now_may_do_nothing_and_is_told_why(project):
    projects.set_access(project=project, access="scoped")
    grants.put(project=project, value=ENTRY, by="alice")
    assert because(project) == (False, ["no live token makes this client"])
    with time_machine.travel(NOON, tick=False):
        clients.create(project=project, actor="client:a")
        clients.suspend(project=project, actor="client:a")
        assert because(project) == (False, ["its token is suspended since 2026-05-06T12:00:00Z"])
        clients.resume(project=project, actor="client:a")
        clients.expire(project=project, actor="client:a", at=NOON)
        assert because(project) == (False, ["its token expired at 2026-05-06T12:00:00Z"])
        clients.expire(project=project, actor="client:a", at=NOON + timedelta(microseconds=1))
        assert because(project)[0] is True
        clients.revoke(project=project, actor="client:a")
    found = explain(project=project, actor="client:a")
    assert (found.exists, found.because) == (False, ["no live token makes this client"])
    assert found.permissions() == {"read": [], "write": [], "append": [], "operate": []}


def test_a_suspended_project_refuses_all(project):
    clients.create(project=project, actor="client:a")
    suspended = projects.suspend(project=project)
    found = explain(project=suspended, actor="client:a")
    assert (found.exists, found.because) == (
        False,
        [TOKEN_KEPT, WHOLE, "the project is suspended: every token is refused"],
    )
    assert found.permissions() == {"read": [], "write": [], "append": [], "operate": []}


def test_no_actor_is_refused(project):
    with pytest.raises(InvalidValue, match="is no actor"):
        explain(project=project, actor="nobody")


def test_an_explanation_costs_as_many_statements_for_much_as_for_little(project):
    clients.create(project=project, actor="client:a")
    scoped = projects.set_access(project=project, access="scoped")
    counts = []
    for size in (1, 30):
        entry = ClientEntry("client:a", scopes=tuple(ScopeGrant(f"user:{n}", read=True) for n in range(size)))
        grants.put(project=scoped, value=entry, by="alice")
        with CaptureQueriesContext(connection) as queries:
            assert len(explain(project=scoped, actor="client:a").read) == size
        counts.append(len(queries))
    assert counts[0] == counts[1]


# Exactly what the gate allows ----------------------------------------------------------------------------------------

SCOPES = ("user:a", "user:ab", "user:b", "team:x")
CONVERSATIONS = ("a", "a-", "a-1", "a-12", "b", "b-1")
flags = st.booleans()
entries = st.none() | st.builds(
    ClientEntry,
    actor=st.just("client:a"),
    operator=flags,
    scopes=st.lists(
        st.builds(ScopeGrant, scope=st.sampled_from(SCOPES), read=flags, write=flags),
        max_size=3,
        unique_by=lambda grant: grant.scope,
    ).map(tuple),
    conversations=st.lists(
        st.one_of(
            st.builds(
                ConversationGrant,
                prefix=st.sampled_from(CONVERSATIONS),
                ids=st.none(),
                read=flags,
                append=flags,
            ),
            st.builds(
                ConversationGrant,
                prefix=st.none(),
                ids=st.lists(st.sampled_from(CONVERSATIONS), min_size=1, max_size=3, unique=True).map(tuple),
                read=flags,
                append=flags,
            ),
        ),
        max_size=3,
        unique_by=lambda grant: grant.prefix or repr(grant.ids),
    ).map(tuple),
)
prefixes = st.fixed_dictionaries(
    {
        "scope_prefix": st.none() | st.sampled_from(("", "user:", "user:a", "team:x", "z")),
        "conversation_prefix": st.none() | st.sampled_from(("", "a", "a-1", "b-", "z")),
    }
)


def allowed(gate, caller, *names):
    found = set()
    for name in names:
        try:
            gate(caller, name)
        except NotPermitted:
            continue
        found.add(name)
    return found


def said(reasons, kind, names):
    """The names of the universe that the lines of an explanation cover, read as a person would."""
    covered = set()
    for line, why in reasons:
        if line == "whole store":
            continue
        what, _, name = line.partition(" ")
        if what != kind:
            continue
        begins = name.removesuffix("*") if name.endswith("*") else None
        left = why.partition("its allowance leaves ")[2].partition("*")[0]
        for candidate in names:
            if candidate == name if begins is None else candidate.startswith(begins) and candidate.startswith(left):
                covered.add(candidate)
    return covered


@settings(max_examples=60, deadline=None)
@given(access_mode=st.sampled_from(("open", "scoped", "scoped")), prefixes=prefixes, entry=entries)
def test_what_is_explained_is_exactly_what_is_allowed(access_mode, prefixes, entry):
    with transaction.atomic():
        project = projects.create(slug="universe")
        issued = clients.create(project=project, actor="client:a", **prefixes)
        if entry is not None:
            grants.put(project=project, value=entry, by="alice")
        project = projects.set_access(project=project, access=access_mode)
        tokens.forget_cached()
        caller = tokens.caller_for(issued.token.encode())
        found = explain(project=project, actor="client:a")
        transaction.set_rollback(True)
    assert found.exists
    assert said(found.read, "scope", SCOPES) == allowed(access.read_scope, caller, *SCOPES)
    assert said(found.write, "scope", SCOPES) == allowed(access.write_scope, caller, *SCOPES)
    assert said(found.operate, "scope", SCOPES) == allowed(access.erase_scope, caller, *SCOPES)
    assert said(found.read, "conversation", CONVERSATIONS) == allowed(access.read_conversation, caller, *CONVERSATIONS)
    assert said(found.append, "conversation", CONVERSATIONS) == allowed(
        access.append_conversation, caller, *CONVERSATIONS
    )
    assert said(found.operate, "conversation", CONVERSATIONS) == allowed(
        access.erase_conversation, caller, *CONVERSATIONS
    )
    whole = allowed(lambda caller, _: access.whole_store(caller), caller, "")
    assert ("whole store" in [line for line, _ in found.operate]) == bool(whole)
    # Nothing listed under a heading it cannot stand under.
    assert {line.partition(" ")[0] for line, _ in found.write} <= {"scope"}
    assert {line.partition(" ")[0] for line, _ in found.append} <= {"conversation"}
