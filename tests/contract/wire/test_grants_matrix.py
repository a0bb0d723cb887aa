"""Who may do what: every route, every kind of caller, every kind of name, against the table of the specification.

The rule is written here a second time, plainly, and knows nothing of the code that enforces it. Whatever is refused was
refused before a statement touched a row.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from authz import tokens
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.operations import clients, grants, projects
from neosian_site.api.wire.urls import ROUTES
from tests.clients import Answer, WireClient
from tests.contract.wire.conversation_rows import message, projection, restore, store_rows, turn

pytestmark = pytest.mark.django_db

TEAM, TALK = "workspace:team", "w-1-a"
PREFIX = "w-1-"
WORD, FOREIGN_WORD = "tenant-secret", "foreign-secret"

# --- The specification -----------------------------------------------------------------------------------------------

SCOPE, CONVERSATION, LIST, STORE = "scope", "conversation_id", "conversations", "store"


@dataclass(frozen=True)
class Needs:
    """A line of the specification's table, and a body with which the route answers 200."""

    own: str
    permission: str = ""
    operator: bool = False
    body: dict[str, Any] = field(default_factory=dict)


TABLE: dict[str, Needs] = {
    "memory/read": Needs(SCOPE, "read", body={"path": "x"}),
    "memory/list_documents": Needs(SCOPE, "read"),
    "memory/versions": Needs(SCOPE, "read", body={"path": "x"}),
    "memory/history": Needs(SCOPE, "read"),
    "memory/redactions": Needs(SCOPE, "read"),
    "memory/search": Needs(SCOPE, "read", body={"query": "secret"}),
    "memory/changes": Needs(SCOPE, "read"),
    "memory/write": Needs(SCOPE, "write", body={"path": "x", "content": "new"}),
    "memory/delete": Needs(SCOPE, "write", body={"path": "x"}),
    "memory/rename": Needs(SCOPE, "write", body={"src": "x", "dst": "free"}),
    "memory/redact": Needs(SCOPE, "write", operator=True),
    # The cursor is filled in: it is the scope's own.
    "memory/prune_changes": Needs(SCOPE, "write", operator=True, body={"through": None, "write": True}),
    "conversation/read_turns": Needs(CONVERSATION, "read"),
    "conversation/last_turn_number": Needs(CONVERSATION, "read"),
    "conversation/read_projections": Needs(CONVERSATION, "read"),
    "conversation/append_turn": Needs(CONVERSATION, "append", body={"messages": [message("new")]}),
    "conversation/append_projections": Needs(CONVERSATION, "append", body={"entries": [projection(1)]}),
    "conversation/redact_turns": Needs(CONVERSATION, "append", operator=True),
    "conversation/search_turns": Needs(LIST, "read", body={"query": "secret"}),
    "conversation/turn_redactions": Needs(LIST, "read"),
    "store/scopes": Needs(STORE, operator=True),
    "store/conversations": Needs(STORE, operator=True),
    "store/restore_scope": Needs(
        STORE, operator=True, body={"scope": "workspace:fresh", "documents": [], "versions": [], "redactions": []}
    ),
    "store/restore_conversation": Needs(
        STORE, operator=True, body={"conversation_id": "fresh", "turns": [turn(1, "new", "fresh")], "projections": []}
    ),
}


@dataclass(frozen=True)
class Kind:
    """What is known of a caller: may it come in, whose rows are its own, its grants and its allowance."""

    stranger: bool = False
    scoped: bool = True
    project: str = "tenant"
    # None: it has no entry.
    may: frozenset[str] | None = None
    operator: bool = False
    allowance: tuple[str | None, str | None] | None = None


def may(*permissions: str) -> frozenset[str]:
    return frozenset(permissions)


EVERYTHING = may("scope read", "scope write", "conversation read", "conversation append")
STRANGERS = ("no token", "unknown", "suspended", "expired", "revoked", "of a suspended project")
KINDS: dict[str, Kind] = {
    **{name: Kind(stranger=True) for name in STRANGERS},
    "ghost": Kind(),
    "empty": Kind(may=may()),
    "reader": Kind(may=may("scope read", "conversation read")),
    "writer": Kind(may=may("scope write", "conversation append")),
    "appender": Kind(may=may("conversation append")),
    "operator": Kind(may=EVERYTHING, operator=True),
    "reading operator": Kind(may=may("scope read", "conversation read"), operator=True),
    "bare operator": Kind(may=may(), operator=True),
    "fenced operator": Kind(may=EVERYTHING, operator=True, allowance=("workspace:", "w-")),
    "operator fenced elsewhere": Kind(may=EVERYTHING, operator=True, allowance=("user:", "u-")),
    "half-fenced operator": Kind(may=EVERYTHING, operator=True, allowance=("workspace:", None)),
    "neighbour": Kind(scoped=False, project="open"),
    "fenced neighbour": Kind(scoped=False, project="open", allowance=("workspace:team", "w-1-")),
    "neighbour's operator": Kind(project="other", may=EVERYTHING, operator=True),
}

MISSING = object()
# The granted one, one that is there, one that is not, longer, shorter, another case; and what is no name.
NAMES: dict[str, list[Any]] = {
    SCOPE: [
        TEAM,
        "workspace:closed",
        "workspace:absent",
        "workspace:team2",
        "workspace:team/user:a",
        "workspace:tea",
        "workspace:Team",
        "Workspace:team",
        " workspace:team",
        "workspace:team\0",
        "",
        "*",
        MISSING,
        None,
        7,
        True,
        [TEAM],
        {"scope": TEAM},
    ],
    CONVERSATION: [
        TALK,
        PREFIX,
        "w-1-zzz",
        "w-2-a",
        "w-0-a",
        "w-1",
        "W-1-a",
        "xw-1-a",
        "",
        "*",
        MISSING,
        None,
        7,
        [TALK],
        {"id": TALK},
    ],
    LIST: [
        [],
        [TALK],
        [TALK, PREFIX],
        [TALK, "w-2-a"],
        ["w-2-a", TALK],
        ["w-0-a"],
        ["w-1"],
        ["W-1-a"],
        [7],
        [None, TALK],
        [7, "w-2-a"],
        [[TALK]],
        MISSING,
        None,
        7,
        TALK,
        {TALK: True},
    ],
    STORE: [MISSING],
}


def granted(kind: Kind, what: str, name: str, permission: str) -> bool:
    """The one scope is matched as a whole, the one prefix literally."""
    assert kind.may is not None
    return f"{what} {permission}" in kind.may and (name == TEAM if what == "scope" else name.startswith(PREFIX))


def inside(kind: Kind, what: str, name: str) -> bool:
    assert kind.allowance is not None
    prefix = kind.allowance[0 if what == "scope" else 1]
    return prefix is not None and name.startswith(prefix)


def expected(kind: Kind, needs: Needs, name: Any) -> int | None:
    """The status of the refusal, or ``None`` where there is none by authority."""
    if kind.stranger:
        return 401
    if kind.scoped and kind.may is None:
        return 403
    if needs.own == STORE:
        return 403 if kind.allowance is not None or (kind.scoped and not kind.operator) else None
    if kind.scoped and needs.operator and not kind.operator:
        return 403
    judged = kind.scoped or kind.allowance is not None
    if not judged:
        return None
    if needs.own == LIST:
        if not isinstance(name, list):
            return 403
        what, names = "conversation", [item for item in name if isinstance(item, str)]
    else:
        if not isinstance(name, str):
            return 403
        what, names = "scope" if needs.own == SCOPE else "conversation", [name]
    for one in names:
        if kind.allowance is not None and not inside(kind, what, one):
            return 403
        if kind.scoped and not granted(kind, what, one, needs.permission):
            return 403
    return None


# --- The ground ------------------------------------------------------------------------------------------------------


def entry(kind: Kind, actor: str) -> ClientEntry:
    assert kind.may is not None
    scope = ScopeGrant(TEAM, "scope read" in kind.may, "scope write" in kind.may)
    talk = ConversationGrant(PREFIX, None, "conversation read" in kind.may, "conversation append" in kind.may)
    return ClientEntry(actor, kind.operator, (scope,), (talk,))


def fill(wire: WireClient, word: str) -> None:
    """The granted names and one of each that is not, with something of everything."""
    for scope in (TEAM, "workspace:closed"):
        for path in ("x", "y"):
            wire.ok("memory/write", scope=scope, path=path, content=word)
    for name in (TALK, PREFIX, "w-2-a"):
        restore(wire, name, turns=[turn(1, word, name)], projections=[projection(1, word)])


@pytest.fixture(scope="module")
def built(django_db_setup, django_db_blocker):
    """Three projects with the same names in them, and a caller of each kind; made once, nothing of it is ever kept."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield _build()
        transaction.set_rollback(True)


@pytest.fixture
def ground(built):
    """The ground with every caller known: a known token is looked up no more."""
    for name, caller in built.callers.items():
        assert caller.raw("GET", "/v1/capabilities").status == (401 if KINDS[name].stranger else 200)
    return built


def _build() -> SimpleNamespace:
    made = {slug: projects.create(slug=slug) for slug in ("tenant", "open", "other", "stopped")}
    for slug, project in made.items():
        fill(
            WireClient(clients.create(project=project, actor="client:filler").token),
            WORD if slug == "tenant" else FOREIGN_WORD,
        )
    for slug in ("tenant", "other"):
        made[slug] = projects.set_access(project=made[slug], access="scoped")
    callers: dict[str, WireClient] = {"no token": WireClient(None), "unknown": WireClient("stranger")}
    for name, kind in KINDS.items():
        if name in callers:
            continue
        actor = f"client:{name.replace(' ', '-').replace(chr(39), '')}"
        project = made["stopped" if name == "of a suspended project" else kind.project]
        scope_prefix, id_prefix = kind.allowance or (None, None)
        issued = clients.create(project=project, actor=actor, scope_prefix=scope_prefix, conversation_prefix=id_prefix)
        callers[name] = WireClient(issued.token)
        if kind.may is not None or kind.stranger:
            # A stranger's grants would open everything.
            what = Kind(may=EVERYTHING, operator=True) if kind.stranger else kind
            grants.put(project=project, value=entry(what, actor), by="alice")
    # Who was known is known no longer.
    tokens.forget_cached()
    for name in STRANGERS[2:]:
        assert callers[name].raw("GET", "/v1/capabilities").status == 200
    clients.suspend(project=made["tenant"], actor="client:suspended")
    clients.expire(project=made["tenant"], actor="client:expired", at=datetime(2026, 1, 1, tzinfo=UTC))
    clients.revoke(project=made["tenant"], actor="client:revoked")
    projects.suspend(project=made["stopped"])
    tokens.forget_cached()
    heads = {
        project: callers[name].ok("memory/changes", scope=TEAM)["head_cursor"]
        for project, name in (("tenant", "operator"), ("open", "neighbour"), ("other", "neighbour's operator"))
    }
    return SimpleNamespace(callers=callers, heads=heads)


def body_of(ground: SimpleNamespace, kind: Kind, route: str, name: Any = MISSING, **more: Any) -> dict[str, Any]:
    needs = TABLE[route]
    body = {**needs.body, **more}
    if "through" in body:
        body["through"] = ground.heads[kind.project]
    if needs.own != STORE and name is not MISSING:
        body[needs.own] = name
    return body


def assert_refused(answer: Answer, status: int) -> None:
    assert answer.status == status
    if status == 401:
        assert answer.headers == {"content-length": "12", "www-authenticate": "Bearer"}
        assert answer.body == b"unauthorized"
    else:
        assert (answer.code, answer.details) == ("forbidden", {})
        assert WORD not in answer.message


def asked(caller: WireClient, route: str, body: dict[str, Any]) -> Answer:
    """The answer; what it did is undone."""
    with transaction.atomic():
        answer = caller.post(route, body)
        transaction.set_rollback(True)
    return answer


def refused_untouched(
    caller: WireClient, kind: Kind, status: int, route: str, body: bytes | dict[str, Any], **headers: str
) -> Answer:
    """The refusal a request gets, for which nothing of the store was so much as looked at."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    with CaptureQueriesContext(connection) as queries:
        answer = caller.raw("POST", f"/v1/{route}", content, headers)
    assert_refused(answer, status)
    ran = [query["sql"] for query in queries]
    if kind.stranger:
        # Who it is was looked up.
        assert all(sql.startswith("SELECT") and '"authz_' in sql for sql in ran), ran
        assert not any("memory_" in sql or "conversations_" in sql for sql in ran), ran
    else:
        assert ran == []
    return answer


# --- The matrix ------------------------------------------------------------------------------------------------------


def test_every_route_has_a_line():
    assert TABLE.keys() == ROUTES.keys()


def test_the_rule_itself_says_what_the_specification_says():
    """A few lines of it read off by hand, so that a rule that allows or refuses all is noticed."""
    assert [
        (name, [route for route, needs in TABLE.items() if expected(kind, needs, good(needs)) is None])
        for name, kind in KINDS.items()
        if name in ("reader", "writer", "appender", "bare operator")
    ] == [
        ("reader", [route for route, needs in TABLE.items() if needs.permission == "read"]),
        (
            "writer",
            [
                "memory/write",
                "memory/delete",
                "memory/rename",
                "conversation/append_turn",
                "conversation/append_projections",
            ],
        ),
        ("appender", ["conversation/append_turn", "conversation/append_projections"]),
        ("bare operator", ["store/scopes", "store/conversations", "store/restore_scope", "store/restore_conversation"]),
    ]
    assert {expected(KINDS["operator"], needs, good(needs)) for needs in TABLE.values()} == {None}
    assert {expected(KINDS["ghost"], needs, good(needs)) for needs in TABLE.values()} == {403}
    assert {expected(KINDS["revoked"], needs, good(needs)) for needs in TABLE.values()} == {401}


def good(needs: Needs) -> Any:
    return {SCOPE: TEAM, CONVERSATION: TALK, LIST: [TALK], STORE: MISSING}[needs.own]


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_route_lets_in_whom_the_specification_lets_in_and_nobody_else(ground, route):
    needs = TABLE[route]
    before = store_rows()
    for who, kind in KINDS.items():
        caller = ground.callers[who]
        # A stranger is looked up each time and its request is not read: the first names are enough.
        for name in NAMES[needs.own][:2] if kind.stranger else NAMES[needs.own]:
            body = body_of(ground, kind, route, name)
            wanted = expected(kind, needs, name)
            try:
                if wanted is not None:
                    refused_untouched(caller, kind, wanted, route, body)
                    continue
                answer = asked(caller, route, body)
                # With a name that is there it is done; else it may be refused, for another reason.
                done = {200} if name == good(needs) else {200, 400}
                assert answer.status in done, answer.body
                if answer.status == 400:
                    assert answer.code != "forbidden"
                assert (WORD if kind.project != "tenant" else FOREIGN_WORD).encode() not in answer.body
            except AssertionError as error:
                raise AssertionError(f"{who} at {route} with {name!r}: {error}") from error
    assert store_rows() == before


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_a_name_that_is_there_is_refused_like_one_that_is_not(ground, route):
    needs = TABLE[route]
    pairs = {
        SCOPE: ("workspace:closed", "workspace:absent"),
        CONVERSATION: ("w-2-a", "w-0-a"),
        LIST: (["w-2-a"], ["w-0-a"]),
    }
    if needs.own == STORE:
        # A restore names one, too.
        present, absent = (
            {"scope": "workspace:closed", "conversation_id": "w-2-a"},
            {"scope": "workspace:absent", "conversation_id": "w-0-a"},
        )
    else:
        present, absent = ({needs.own: name} for name in pairs[needs.own])
    for who, kind in KINDS.items():
        if kind.stranger or expected(kind, needs, present.get(needs.own)) is None:
            continue
        answers = [
            refused_untouched(ground.callers[who], kind, 403, route, {**body_of(ground, kind, route), **named})
            for named in (present, absent)
        ]
        told = [
            answer.body.replace(b"workspace:closed", b"workspace:absent").replace(b"w-2-a", b"w-0-a")
            for answer in answers
        ]
        assert told[0] == told[1], (who, told)
        assert answers[0].headers == answers[1].headers, who


# What a caller may add to a request in the hope that it counts.
HOPES: dict[str, dict[str, Any]] = {
    "another actor": {"actor": "client:operator"},
    "a granted scope": {"scope": TEAM},
    "a granted conversation": {"conversation_id": TALK},
    "granted conversations": {"conversations": [TALK]},
    "no conversations": {"conversations": []},
    "many scopes": {"scopes": [TEAM]},
    "grants of its own": {"operator": True, "grants": {"read": [TEAM]}, "authorization": {"mode": "open"}},
    "another project": {"project": "open", "project_id": 1, "client": "client:operator"},
    "a profile": {"profile": "work", "mode": "rw", "token": "tok-default"},
    "a preview": {"write": False, "dry_run": True},
}
HEADERS = {
    "X-Actor": "client:operator",
    "X-Client": "client:operator",
    "X-Forwarded-User": "client:operator",
    "X-Project": "open",
    "X-Neosian-Project": "open",
    "X-Neosian-Grants": "off",
    "X-Http-Method-Override": "GET",
    "X-Original-Url": "/health",
    "Remote-User": "client:operator",
    "Proxy-Authorization": "Bearer tok-default",
    "Cookie": "sessionid=1",
    "Host": "open",
}


def closed(needs: Needs) -> Any:
    """A name of the route's own parameter that is granted to nobody."""
    return {SCOPE: "workspace:closed", CONVERSATION: "w-2-a", LIST: ["w-2-a"], STORE: MISSING}[needs.own]


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_nothing_that_is_added_to_a_request_widens_it(ground, route):
    needs = TABLE[route]
    minted = [
        ground.callers["operator"].ok(listing, scope=TEAM, limit=1, **more).get(key)
        for listing, key, more in (
            ("memory/search", "next_cursor", {"query": "secret"}),
            ("memory/list_documents", "next_cursor", {}),
            ("memory/history", "next_cursor", {}),
            ("memory/changes", "checkpoint_cursor", {}),
        )
    ]
    assert None not in minted
    hopes = [*HOPES.values(), *({"cursor": cursor} for cursor in minted), {"through": ground.heads["tenant"]}]
    everything = {key: value for hope in hopes for key, value in hope.items()}
    before = store_rows()
    for who, kind in KINDS.items():
        caller = ground.callers[who]
        for name in (closed(needs), MISSING):
            status = expected(kind, needs, name)
            # An allowance judges the names a route ignores, too, and says so; a stranger's refusal is the same anyway.
            if status is None or kind.allowance is not None:
                continue
            plain = refused_untouched(caller, kind, status, route, body_of(ground, kind, route, name))
            # A stranger is looked up each time: all it may hope for at once.
            for hope in [everything] if kind.stranger else hopes:
                # The route's own parameter is what is judged; here it stays what it is.
                body = body_of(ground, kind, route, name, **{key: hope[key] for key in hope if key != needs.own})
                assert refused_untouched(caller, kind, status, route, body) == plain, (who, hope)
            body = body_of(ground, kind, route, name)
            assert refused_untouched(caller, kind, status, route, body, **HEADERS) == plain, who
    assert store_rows() == before


def test_a_name_given_twice_is_the_one_that_is_judged_and_used(ground):
    """Of a repeated key the last one counts, for the judgement and for the answer."""
    reader = ground.callers["reader"]
    last_closed = b'{"scope": "workspace:team", "path": "x", "scope": "workspace:closed"}'
    refused_untouched(reader, KINDS["reader"], 403, "memory/read", last_closed)
    last_open = b'{"scope": "workspace:closed", "path": "x", "scope": "workspace:team"}'
    answer = reader.raw("POST", "/v1/memory/read", last_open)
    assert (answer.status, answer.json["document"]["scope"]) == (200, TEAM)


def test_the_statements_of_a_permitted_request_are_seen(ground):
    """Without this, no statement at a refusal would say nothing."""
    for route, body in (
        ("memory/read", {"scope": TEAM, "path": "x"}),
        ("conversation/read_turns", {"conversation_id": TALK}),
        ("memory/search", {"scope": TEAM, "query": "secret"}),
    ):
        with CaptureQueriesContext(connection) as queries:
            ground.callers["reader"].ok(route, body)
        assert len(queries) >= 1, route
        assert any("memory_" in query["sql"] or "conversations_" in query["sql"] for query in queries)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_no_other_method_goes_round_the_gate(ground, method):
    body = json.dumps({"scope": "workspace:closed", "path": "x"}).encode()
    for who in ("ghost", "reader", "operator", "no token"):
        with CaptureQueriesContext(connection) as queries:
            answer = ground.callers[who].raw(method, "/v1/memory/read", body)
        assert answer.status == (401 if KINDS[who].stranger else 405)
        assert len(queries) == 0


@pytest.mark.parametrize(
    "path",
    [
        "/v1/memory/read/",
        "/v1//memory/read",
        "/V1/memory/read",
        "/v1/memory/READ",
        "/v1/memory/../memory/read",
        "/memory/read",
    ],
)
def test_no_other_spelling_of_a_path_is_a_route(ground, path):
    body = json.dumps({"scope": TEAM, "path": "x"}).encode()
    for who in ("ghost", "operator", "no token"):
        assert ground.callers[who].raw("POST", path, body).status == (401 if KINDS[who].stranger else 404)
