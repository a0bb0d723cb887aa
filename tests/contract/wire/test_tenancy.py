"""Two projects hold the same names; no call of one ever shows or changes a row of the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import time_machine

from authz import tokens
from authz.models import Project
from authz.operations import clients, projects
from neosian_site.api.wire.urls import ROUTES
from tests.contract.wire.conversation_rows import WHEN, act, canonical, message, projection, restore, store_rows, turn
from tests.contract.wire.feed_ground import position

SCOPES = ("user:a", "user:a/p:b")
# Stands for the position after two events of the caller's own feed.
THROUGH = "<through>"
WORD, OTHER_WORD = "alphasecret", "betasecret"
DOCUMENT = {
    "scope": "user:fresh",
    "path": "x",
    "content": "new",
    "version": 1,
    "created_at": WHEN,
    "updated_at": WHEN,
    "actor": None,
    "redacted": False,
}


def fill(wire: Any, word: str, times: int) -> None:
    """The same names in each project; ``times`` and ``word`` tell their content apart."""
    for scope in SCOPES:
        for number in range(times):
            wire.ok("memory/write", scope=scope, path="x", content=f"{word} {number}")
            wire.ok("memory/write", scope=scope, path=f"n{number}", content=word)
        wire.ok("memory/redact", scope=scope, path="n0")
    for name in ("c", "d"):
        restore(
            wire,
            name,
            turns=[turn(number, word, name) for number in range(1, times + 1)],
            projections=[projection(number, word) for number in range(1, times + 1)],
            redactions=[act([number], name, actor=f"client:{word}") for number in range(1, times + 1)],
        )


def numbers(key: str, number: str) -> Callable[[Any], Any]:
    return lambda answer: [row[number] for row in answer[key]]


def contents(key: str) -> Callable[[Any], Any]:
    return lambda answer: sorted(row["content"] for row in answer[key])


@dataclass(frozen=True)
class Case:
    """A call in the first project, and what of its answer tells the projects apart."""

    body: dict[str, Any] = field(default_factory=dict)
    seen: Callable[[Any], Any] = lambda answer: answer
    expected: Any = None
    changes: bool = False


# The first project holds two of everything, the other one three.
CASES: dict[str, Case] = {
    "memory/read": Case(
        {"scope": "user:a", "path": "x"},
        lambda a: (a["document"]["content"], a["document"]["version"]),
        (f"{WORD} 1", 2),
    ),
    "memory/write": Case(
        {"scope": "user:a", "path": "x", "content": "new"}, lambda a: a["document"]["version"], 3, changes=True
    ),
    "memory/delete": Case({"scope": "user:a", "path": "n1"}, expected={"deleted": True}, changes=True),
    "memory/rename": Case(
        # The other project has a live document at this destination.
        {"scope": "user:a", "src": "x", "dst": "n2"},
        lambda a: (a["document"]["content"], a["document"]["version"]),
        (f"{WORD} 1", 1),
        changes=True,
    ),
    "memory/list_documents": Case({"scope": "user:a"}, numbers("entries", "path"), ["n0", "n1", "x"]),
    "memory/versions": Case({"scope": "user:a", "path": "x"}, contents("versions"), [f"{WORD} 0", f"{WORD} 1"]),
    "memory/redact": Case({"scope": "user:a"}, expected={"count": 3}, changes=True),
    "memory/history": Case({"scope": "user:a"}, contents("versions"), ["", WORD, f"{WORD} 0", f"{WORD} 1"]),
    "memory/redactions": Case({"scope": "user:a"}, numbers("redactions", "path"), ["n0"]),
    "memory/search": Case({"scope": "user:a", "query": "secret"}, numbers("hits", "path"), ["n1", "x"]),
    # The numbers of another project's scope of this name are its own.
    "memory/changes": Case({"scope": "user:a"}, numbers("events", "sequence"), [1, 2, 3, 4, 5], changes=True),
    "memory/prune_changes": Case({"scope": "user:a", "through": THROUGH}, lambda a: a["removed"], 2),
    "conversation/append_turn": Case(
        {"conversation_id": "c", "messages": [message("new")]}, lambda a: a["turn"]["turn"], 3, changes=True
    ),
    "conversation/read_turns": Case(
        {"conversation_id": "c"}, lambda a: [row["messages"] for row in a["turns"]], [[canonical(WORD)]] * 2
    ),
    "conversation/last_turn_number": Case({"conversation_id": "c"}, expected={"turn": 2}),
    "conversation/search_turns": Case(
        {"query": "secret"},
        lambda a: [(row["conversation_id"], row["turn"]) for row in a["turns"]],
        [("d", 2), ("d", 1), ("c", 2), ("c", 1)],
    ),
    "conversation/append_projections": Case(
        {"conversation_id": "c", "entries": [projection(1)]}, expected={}, changes=True
    ),
    "conversation/read_projections": Case({"conversation_id": "c"}, numbers("entries", "text"), [WORD, WORD]),
    "conversation/redact_turns": Case({"conversation_id": "c"}, expected={"count": 2}, changes=True),
    "conversation/turn_redactions": Case(
        {},
        lambda a: [(row["conversation_id"], row["turns"]) for row in a["redactions"]],
        [("d", [2]), ("d", [1]), ("c", [2]), ("c", [1])],
    ),
    "store/scopes": Case(expected={"scopes": ["user:a", "user:a/p:b"]}),
    "store/conversations": Case(expected={"conversations": ["c", "d"]}),
    # Names that only the other project holds are free in this one.
    "store/restore_scope": Case(
        {"scope": "user:fresh", "documents": [DOCUMENT], "versions": [], "redactions": []}, expected={}, changes=True
    ),
    "store/restore_conversation": Case(
        {"conversation_id": "fresh", "turns": [turn(1, "new", "fresh")], "projections": []}, expected={}, changes=True
    ),
}


@dataclass(frozen=True)
class Tenant:
    project: Project
    wire: Any


@pytest.fixture
def tenants(wire):
    def tenant(slug: str) -> Tenant:
        project = projects.create(slug=slug)
        return Tenant(project, wire.as_(clients.create(project=project, actor="client:app").token))

    first, other = tenant("first"), tenant("other")
    fill(first.wire, WORD, 2)
    fill(other.wire, OTHER_WORD, 3)
    other.wire.ok("memory/write", scope="user:fresh", path="x", content=OTHER_WORD)
    restore(other.wire, "fresh", turns=[turn(1, OTHER_WORD, "fresh")])
    return first, other


def spelled(body: dict[str, Any], tenant: Tenant) -> dict[str, Any]:
    """The body with a position of the tenant's feed where one is asked for; the feed is numbered first."""
    if body.get("through") != THROUGH:
        return body
    tenant.wire.ok("memory/changes", scope=body["scope"])
    return {**body, "through": position(body["scope"], 2, project=tenant.project)}


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_call_shows_and_changes_its_own_project_only(tenants, route):
    case = CASES[route]
    first, other = tenants
    body = spelled(case.body, first)
    mine, theirs = store_rows(first.project.id), store_rows(other.project.id)
    answer = first.wire.post(route, body)
    assert answer.status == 200, answer.body
    assert case.seen(answer.json) == case.expected
    assert OTHER_WORD.encode() not in answer.body
    assert store_rows(other.project.id) == theirs
    assert (store_rows(first.project.id) != mine) == case.changes


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_call_of_the_default_projects_token_meets_neither(tenants, wire, route):
    before = [store_rows(tenant.project.id) for tenant in tenants]
    answer = wire.post(route, CASES[route].body)
    assert answer.status == 200 or (route, answer.code) in (
        ("memory/rename", "memory_document_not_found"),
        ("memory/prune_changes", "value_error"),
    )
    assert b"secret" not in answer.body
    assert [store_rows(tenant.project.id) for tenant in tenants] == before


@pytest.mark.parametrize("route", ["conversation/search_turns", "conversation/turn_redactions"])
def test_naming_a_conversation_of_the_other_project_finds_nothing(tenants, route):
    first, _ = tenants
    restore(first.wire, "mine", turns=[turn(1, "word", "mine")])
    (found,) = first.wire.ok(route, {**CASES[route].body, "conversations": ["fresh"]}).values()
    assert found == []


def test_a_cursor_of_the_other_project_is_just_a_position_in_ones_own(tenants):
    first, other = tenants
    for route, path in (("memory/versions", {"path": "x"}), ("memory/history", {}), ("memory/list_documents", {})):
        cursor = other.wire.ok(route, scope="user:a", limit=1, **path)["next_cursor"]
        assert cursor is not None
        answer = first.wire.post(route, scope="user:a", cursor=cursor, **path)
        assert (answer.status, OTHER_WORD.encode() in answer.body) == (200, False)


def test_no_parameter_chooses_a_project(tenants):
    first, other = tenants
    named = {"project": other.project.id, "project_id": other.project.id, "slug": "other", "client": "client:app"}
    assert first.wire.ok("store/conversations", named) == {"conversations": ["c", "d"]}
    headers = {"X-Project": "other", "X-Neosian-Project": "other", "Host": "other"}
    assert first.wire.raw("POST", "/v1/store/conversations", b"{}", headers).json == {"conversations": ["c", "d"]}


def test_erasing_everything_in_one_project_leaves_the_other_whole(tenants):
    first, other = tenants
    theirs = store_rows(other.project.id)
    for scope in SCOPES:
        first.wire.ok("memory/redact", scope=scope)
        for path in ("x", "n0", "n1"):
            first.wire.ok("memory/delete", scope=scope, path=path)
    for name in ("c", "d"):
        first.wire.ok("conversation/redact_turns", conversation_id=name)
    assert first.wire.ok("conversation/search_turns", query="secret") == {"turns": []}
    assert store_rows(other.project.id) == theirs
    assert len(other.wire.ok("conversation/search_turns", query="secret")["turns"]) == 7


# --- Clients kept in the database ------------------------------------------------------------------------------------


@pytest.fixture
def issue(wire):
    project = projects.create(slug="tenant")

    def issue(actor: str = "client:app", **more: Any) -> Any:
        return wire.as_(clients.create(project=project, actor=actor, **more).token)

    issue.project = project
    return issue


def reach(client: Any) -> dict[str, int]:
    """The status of one call of each kind."""
    return {
        "scope": client.post("memory/read", scope="user:a", path="x").status,
        "conversation": client.post("conversation/read_turns", conversation_id="a-1").status,
        "list": client.post("conversation/search_turns", query="x", conversations=["a-1"]).status,
        "no ids": client.post("conversation/search_turns", query="x", conversations=[]).status,
        "all": client.post("conversation/search_turns", query="x").status,
        "store": client.post("store/scopes").status,
        "mounts": client.raw("POST", "/mcp", b"{}").status,
    }


@pytest.mark.parametrize(
    ("prefixes", "scope", "conversation"),
    [
        ({"scope_prefix": "user:a"}, 200, 403),
        ({"conversation_prefix": "a-"}, 403, 200),
        ({"scope_prefix": "user:a", "conversation_prefix": "a-"}, 200, 200),
        ({"scope_prefix": "", "conversation_prefix": "a-"}, 200, 200),
        ({"scope_prefix": "user:a", "conversation_prefix": ""}, 200, 200),
        ({"scope_prefix": "", "conversation_prefix": ""}, 200, 200),
        ({"scope_prefix": "", "conversation_prefix": None}, 200, 403),
        ({"scope_prefix": None, "conversation_prefix": ""}, 403, 200),
        ({"scope_prefix": "user:ab"}, 403, 403),
        ({"conversation_prefix": "A-"}, 403, 403),
    ],
)
def test_a_half_that_is_not_given_is_closed_and_an_empty_one_is_open(issue, prefixes, scope, conversation):
    assert reach(issue(**prefixes)) == {
        "scope": scope,
        "conversation": conversation,
        "list": conversation,
        "no ids": 200,
        "all": 403,
        "store": 403,
        "mounts": 403,
    }


def test_a_client_without_prefixes_reaches_its_whole_project(issue):
    assert reach(issue()) == {
        "scope": 200,
        "conversation": 200,
        "list": 200,
        "no ids": 200,
        "all": 200,
        "store": 200,
        # Not forbidden: there are no mounts.
        "mounts": 404,
    }


def test_a_client_is_recorded_under_its_own_name(issue):
    written = issue("client:app/part:7").ok("memory/write", scope="user:a", path="x", content="", actor="client:other")
    assert written["document"]["actor"] == "client:app/part:7/client:other"
    assert issue("client:b").raw("GET", "/v1/capabilities").json["client"] == "client:b"


def test_one_actor_in_two_projects_is_two_clients(issue, wire):
    other = projects.create(slug="neighbour")
    theirs = wire.as_(clients.create(project=other, actor="client:app").token)
    issue().ok("memory/write", scope="user:a", path="x", content="mine")
    assert theirs.ok("memory/read", scope="user:a", path="x") == {"document": None}


def status(client: Any) -> int:
    answer = client.raw("GET", "/v1/capabilities")
    if answer.status == 401:
        assert (answer.body, answer.headers) == (
            b"unauthorized",
            {"content-length": "12", "www-authenticate": "Bearer"},
        )
    return answer.status


@pytest.fixture
def cache_clock(monkeypatch):
    """The clock the cache of callers goes by, moved by hand."""
    clock = SimpleNamespace(at=1000.0)
    clock.monotonic = lambda: clock.at
    monkeypatch.setattr(tokens, "time", clock)
    return clock


def revoke(issue: Any) -> None:
    clients.revoke(project=issue.project, actor="client:app")


def suspend(issue: Any) -> None:
    Project.objects.filter(pk=issue.project.pk).update(suspended_at=datetime.now(UTC))


@pytest.mark.parametrize("end", [revoke, suspend])
def test_an_ended_client_is_refused_once_the_cache_time_has_passed(issue, cache_clock, end):
    client, cold = issue(), issue("client:cold")
    assert status(client) == 200
    end(issue)
    cache_clock.at += tokens.CACHE_SECONDS + 0.001
    assert status(client) == 401
    # A client nobody asked about before is judged by the rows at once.
    assert status(cold) == (401 if end is suspend else 200)


def test_the_cache_time_is_at_most_five_seconds():
    assert 0 < tokens.CACHE_SECONDS <= 5


@pytest.mark.parametrize("end", [revoke, suspend])
def test_an_ended_client_writes_nothing(issue, end):
    client = issue()
    end(issue)
    assert client.post("memory/write", scope="user:a", path="x", content="c").status == 401
    assert not any(store_rows().values())


def test_a_project_that_is_no_longer_suspended_is_served_again(issue):
    client = issue()
    suspend(issue)
    assert status(client) == 401
    Project.objects.filter(pk=issue.project.pk).update(suspended_at=None)
    assert status(client) == 200


def test_a_suspended_default_project_refuses_the_environments_tokens(wire, cache_clock):
    assert status(wire) == 200
    Project.objects.filter(slug="default").update(suspended_at=datetime.now(UTC))
    cache_clock.at += tokens.CACHE_SECONDS + 0.001
    assert status(wire) == 401


def test_a_client_is_refused_from_the_moment_it_expires_also_out_of_the_cache(issue):
    with time_machine.travel("2026-06-01T12:00:00Z", tick=False) as clock:
        client = issue(expires_at=datetime(2026, 6, 1, 12, 0, 1, tzinfo=UTC))
        assert status(client) == 200
        clock.shift(timedelta(microseconds=999_999))
        assert status(client) == 200
        clock.shift(timedelta(microseconds=1))
        assert status(client) == 401
        tokens.forget_cached()
        assert status(client) == 401


def test_a_revoked_actors_name_can_be_given_again_and_the_old_token_stays_dead(issue):
    first = issue()
    revoke(issue)
    second = issue()
    assert (status(first), status(second)) == (401, 200)
