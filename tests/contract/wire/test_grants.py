"""Exact-scope grants through the wire, in both homes: the acceptance cases of the authorization design."""

from __future__ import annotations

import pytest

from authz import grants_file, tokens
from authz.grants import ClientEntry, ConversationGrant, ScopeGrant
from authz.operations import clients, grants, projects
from tests.clients import WireClient
from tests.contract.wire.conversation_rows import message, projection, restore, store_rows, turn

TEAM = "workspace:team"
ENTRIES = (
    ClientEntry(
        "client:reader",
        scopes=(ScopeGrant(TEAM, read=True),),
        conversations=(ConversationGrant("w-1-", read=True),),
    ),
    ClientEntry(
        "client:writer",
        scopes=(ScopeGrant(TEAM, write=True),),
        conversations=(ConversationGrant("w-1-", append=True),),
    ),
    ClientEntry(
        "client:op",
        True,
        (ScopeGrant(TEAM, read=True, write=True),),
        (ConversationGrant(ids=("w-1-a",), read=True, append=True),),
    ),
    ClientEntry(
        "client:fenced",
        True,
        (ScopeGrant(TEAM, read=True, write=True), ScopeGrant("user:a", read=True)),
        (ConversationGrant("w-1-", read=True, append=True),),
    ),
)
# What each client's token reaches before its grants are asked.
REACH = {
    "client:reader": "",
    "client:writer": "",
    "client:op": "",
    "client:fenced": "@workspace:+w-1-a",
    "client:ghost": "",
}


class Cast:
    """A client of each kind, by its name."""

    def __init__(self, tokens: dict[str, str]) -> None:
        self.tokens = tokens

    def __getattr__(self, name: str) -> WireClient:
        return WireClient(self.tokens[f"client:{name}"])


@pytest.fixture(params=["file", "database", "database clients"])
def cast(request, wire, settings, tmp_path):
    """The same clients with the same grants: as the file, as rows for the table's tokens, as rows for stored ones."""
    wire.ok("memory/write", scope=TEAM, path="x", content="word")
    wire.ok("memory/write", scope="workspace:team2", path="x", content="word")
    wire.ok("memory/write", scope="user:a", path="x", content="word")
    for name in ("w-1-a", "w-1-z", "w-2-b"):
        restore(wire, name, turns=[turn(1, "word", name)], projections=[projection(1, "word")])
    default = projects.named("default")
    given = {actor: f"tok {actor}" for actor in REACH}
    if request.param == "database clients":
        for actor, reach in REACH.items():
            scope, _, ids = reach.removeprefix("@").partition("+")
            issued = clients.create(
                project=default, actor=actor, scope_prefix=scope or None, conversation_prefix=ids or None
            )
            given[actor] = issued.token
    else:
        settings.NEOSIAN_SERVE_TOKEN = ",".join(f"{actor}{reach}={given[actor]}" for actor, reach in REACH.items())
    if request.param == "file":
        path = tmp_path / "grants.toml"
        path.write_text(grants_file.render(ENTRIES))
        settings.NEOSIAN_SERVE_GRANTS = str(path)
    else:
        grants.replace(project=default, values=ENTRIES, by="alice")
        projects.set_access(project=default, access="scoped")
    tokens.forget_cached()
    return Cast(given)


def refused(answer, said):
    assert (answer.status, answer.headers["content-type"]) == (403, "application/json")
    assert answer.json == {"error": {"code": "forbidden", "message": said, "details": {}}}


def no_scope(permission, scope):
    return f"this token's grants do not permit {permission} on scope '{scope}'"


def no_conversation(permission, name):
    return f"this token's grants do not permit {permission} on conversation '{name}'"


NO_OPERATOR = "this operation needs the operator grant"
NO_ENTRY = "this token holds no grants"
NO_STORE = "this token's grants do not permit read on the whole store"
NO_MOUNTS = "grants are enabled: /mcp is not served, use a local stdio bridge"


def test_a_reader_reads_its_scope_and_no_other(cast):
    # AZ-15
    assert cast.reader.ok("memory/read", scope=TEAM, path="x")["document"]["content"] == "word"
    before = store_rows()
    refused(cast.reader.post("memory/write", scope=TEAM, path="x", content=""), no_scope("write", TEAM))
    for scope in ("workspace:team2", "workspace:team/proj:x", "workspace:tea", "Workspace:team"):
        refused(cast.reader.post("memory/read", scope=scope, path="x"), no_scope("read", scope))
    assert store_rows() == before


def test_a_writer_writes_and_reads_nothing_and_an_operator_erases(cast):
    # AZ-16
    assert cast.writer.ok("memory/write", scope=TEAM, path="x", content="new")["document"]["content"] == "new"
    refused(cast.writer.post("memory/read", scope=TEAM, path="x"), no_scope("read", TEAM))
    refused(cast.writer.post("memory/redact", scope=TEAM), NO_OPERATOR)
    assert cast.op.ok("memory/read", scope=TEAM, path="x")["document"]["content"] == "new"
    assert cast.op.ok("memory/redact", scope=TEAM) == {"count": 1}


@pytest.mark.parametrize(("route", "key"), [("search_turns", "turns"), ("turn_redactions", "redactions")])
def test_a_list_of_conversations_is_named_and_judged_whole(cast, route, key):
    # AZ-17
    route, query = f"conversation/{route}", {"query": "word"}
    for client in (cast.reader, cast.op):
        refused(client.post(route, query), NO_STORE)
        refused(client.post(route, query, conversations=None), NO_STORE)
        assert client.ok(route, query, conversations=["w-1-a"]).keys() == {key}
        refused(client.post(route, query, conversations=["w-1-a", "w-2-b"]), no_conversation("read", "w-2-b"))
        assert client.ok(route, query, conversations=[]) == {key: []}
    refused(cast.writer.post(route, query, conversations=["w-1-a"]), no_conversation("read", "w-1-a"))
    found = cast.reader.ok("conversation/search_turns", query="word", conversations=["w-1-a", "w-1-z"])
    assert sorted(row["conversation_id"] for row in found["turns"]) == ["w-1-a", "w-1-z"]


def test_items_of_a_list_that_are_no_strings_are_a_type_error_once_every_string_is_readable(cast):
    typed = cast.reader.post("conversation/search_turns", query="word", conversations=["w-1-a", 7])
    assert (typed.status, typed.code) == (400, "value_error")
    assert typed.message == "parameter 'conversations' must be a list of strings"
    refused(
        cast.reader.post("conversation/search_turns", query="word", conversations=[7, "w-2-b"]),
        no_conversation("read", "w-2-b"),
    )


def test_appending_and_reading_a_conversation_are_two_permissions(cast):
    # AZ-18
    new = [message("new")]
    assert cast.writer.ok("conversation/append_turn", conversation_id="w-1-z", messages=new)["turn"]["turn"] == 2
    refused(cast.writer.post("conversation/read_turns", conversation_id="w-1-z"), no_conversation("read", "w-1-z"))
    assert len(cast.reader.ok("conversation/read_turns", conversation_id="w-1-z")["turns"]) == 2
    refused(
        cast.reader.post("conversation/append_turn", conversation_id="w-1-z", messages=new),
        no_conversation("append", "w-1-z"),
    )
    refused(
        cast.reader.post("conversation/append_projections", conversation_id="w-1-z", entries=[projection(1)]),
        no_conversation("append", "w-1-z"),
    )
    assert cast.writer.ok("conversation/append_projections", conversation_id="w-1-z", entries=[projection(1)]) == {}
    # An id is the whole id.
    refused(cast.op.post("conversation/read_turns", conversation_id="w-1-z"), no_conversation("read", "w-1-z"))
    refused(cast.op.post("conversation/read_turns", conversation_id="w-1-ab"), no_conversation("read", "w-1-ab"))


def test_turns_are_redacted_by_an_operator_who_may_append(cast):
    refused(cast.writer.post("conversation/redact_turns", conversation_id="w-1-a"), NO_OPERATOR)
    refused(cast.reader.post("conversation/redact_turns", conversation_id="w-1-a"), NO_OPERATOR)
    refused(cast.op.post("conversation/redact_turns", conversation_id="w-1-z"), no_conversation("append", "w-1-z"))
    assert cast.op.ok("conversation/redact_turns", conversation_id="w-1-a") == {"count": 1}


@pytest.mark.parametrize("write", [False, True])
def test_a_feed_is_pruned_by_an_operator_of_its_scope(cast, write):
    # AZ-19
    head = cast.op.ok("memory/changes", scope=TEAM)["head_cursor"]
    refused(cast.writer.post("memory/prune_changes", scope=TEAM, through=head, write=write), NO_OPERATOR)
    refused(cast.reader.post("memory/prune_changes", scope=TEAM, through=head, write=write), NO_OPERATOR)
    refused(
        cast.op.post("memory/prune_changes", scope="user:a", through=head, write=write), no_scope("write", "user:a")
    )
    assert cast.op.ok("memory/prune_changes", scope=TEAM, through=head, write=write)["write"] is write


def test_the_whole_store_is_an_operators_without_an_allowance(cast):
    # AZ-20
    assert cast.op.ok("store/scopes") == {"scopes": ["user:a", TEAM, "workspace:team2"]}
    assert cast.op.ok("store/conversations") == {"conversations": ["w-1-a", "w-1-z", "w-2-b"]}
    for route in ("store/scopes", "store/conversations", "store/restore_scope", "store/restore_conversation"):
        refused(cast.reader.post(route), NO_OPERATOR)
        refused(cast.writer.post(route), NO_OPERATOR)
        refused(cast.fenced.post(route), "this token's allowance does not reach the whole store")
        refused(cast.ghost.post(route), NO_ENTRY)


def test_an_allowance_and_the_grants_must_both_allow(cast):
    # Granted and inside; granted and outside; inside and not granted.
    assert cast.fenced.ok("memory/read", scope=TEAM, path="x")["document"]["content"] == "word"
    refused(
        cast.fenced.post("memory/read", scope="user:a", path="x"),
        "this token's allowance does not reach scope 'user:a'",
    )
    refused(cast.fenced.post("memory/read", scope="workspace:team2", path="x"), no_scope("read", "workspace:team2"))
    assert cast.fenced.ok("conversation/last_turn_number", conversation_id="w-1-a") == {"turn": 1}
    refused(
        cast.fenced.post("conversation/last_turn_number", conversation_id="w-1-z"),
        "this token's allowance does not reach conversation 'w-1-z'",
    )
    # Ignored names close, by the allowance; they close nothing by the grants.
    refused(
        cast.fenced.post("memory/read", scope=TEAM, path="x", conversation_id="w-2-b"),
        "this token's allowance does not reach conversation 'w-2-b'",
    )
    assert cast.op.ok("memory/read", scope=TEAM, path="x", conversation_id="w-2-b", conversations=["w-2-b"])
    refused(cast.fenced.post("memory/redact", scope="user:a"), "this token's allowance does not reach scope 'user:a'")


def test_a_client_without_an_entry_may_do_nothing_but_shake_hands(cast):
    # AZ-21
    refused(cast.ghost.post("memory/read", scope=TEAM, path="x"), NO_ENTRY)
    refused(cast.ghost.post("memory/read"), NO_ENTRY)
    refused(cast.ghost.post("conversation/search_turns", query="x", conversations=[]), NO_ENTRY)
    refused(cast.ghost.post("store/scopes"), NO_ENTRY)
    assert cast.ghost.raw("GET", "/v1/capabilities").json["client"] == "client:ghost"


def test_the_handshake_says_that_grants_are_enforced_and_nothing_of_them(cast):
    # AZ-22
    said = [getattr(cast, name).raw("GET", "/v1/capabilities").json for name in ("reader", "op", "ghost")]
    assert [handshake.pop("client") for handshake in said] == ["client:reader", "client:op", "client:ghost"]
    assert said[0] == said[1] == said[2]
    assert said[0]["authorization"] == {"version": 1, "mode": "scoped"}


def test_the_handshake_of_an_open_project_says_nothing_of_authorization(wire):
    assert "authorization" not in wire.raw("GET", "/v1/capabilities").json


def test_mounts_are_served_to_nobody(cast):
    # AZ-23
    for name in ("reader", "writer", "op", "fenced", "ghost"):
        for method in ("POST", "GET", "DELETE"):
            refused(getattr(cast, name).raw(method, "/mcp", b"{}"), NO_MOUNTS)
    assert WireClient("stranger").raw("POST", "/mcp", b"{}").status == 401


def test_a_forged_actor_opens_nothing(cast):
    # AZ-25
    before = store_rows()
    for actor in ("client:op", "client:writer", "../client:op"):
        refused(
            cast.reader.post("memory/write", scope=TEAM, path="x", content="", actor=actor), no_scope("write", TEAM)
        )
        refused(cast.reader.post("memory/redact", scope=TEAM, actor=actor), NO_OPERATOR)
    assert store_rows() == before


def test_a_cursor_of_an_operator_opens_nothing(cast, wire):
    # AZ-26
    for number in range(3):
        cast.op.ok("memory/write", scope=TEAM, path=f"p{number}", content="word")
    for route, body in (
        ("memory/search", {"query": "word", "limit": 1}),
        ("memory/list_documents", {"limit": 1}),
        ("memory/history", {"limit": 1}),
        ("memory/changes", {"limit": 1}),
    ):
        page = cast.op.ok(route, body, scope=TEAM)
        cursor = page.get("next_cursor") or page["checkpoint_cursor"]
        refused(cast.writer.post(route, body, scope=TEAM, cursor=cursor), no_scope("read", TEAM))
        refused(cast.ghost.post(route, body, scope=TEAM, cursor=cursor), NO_ENTRY)
        refused(cast.writer.post(route, body, scope=TEAM, cursor="no cursor"), no_scope("read", TEAM))
        # Nor does it have to be one's own where the scope is granted.
        assert cast.reader.ok(route, body, scope=TEAM, cursor=cursor)


@pytest.mark.parametrize("scope", [None, 5, True, [TEAM], {"scope": TEAM}])
def test_a_scope_that_is_none_is_granted_to_nobody(cast, scope):
    for client in (cast.reader, cast.op):
        refused(client.post("memory/read", scope=scope, path="x"), NO_STORE)
    refused(cast.op.post("memory/write", scope=scope, path="x", content=""), NO_STORE)
    refused(cast.op.post("memory/redact", scope=scope), NO_STORE)
    # The operator grant comes before the name.
    refused(cast.reader.post("memory/redact", scope=scope), NO_OPERATOR)
    refused(cast.op.post("conversation/read_turns", conversation_id=scope), NO_STORE)


def test_a_name_outside_its_grammar_is_granted_to_nobody(cast):
    for scope in ("", "!", "workspace:team ", "workspace:..", "\0"):
        answer = cast.op.post("memory/read", scope=scope, path="x")
        assert answer.status == 403
        assert answer.message == f"this token's grants do not permit read on scope {scope!r}"


def test_permission_comes_before_unknown_fields_types_and_grammar(cast):
    for body in ({"surplus": 1}, {"query": 5}, {"query": "word", "limit": 0}, {"query": "word", "cursor": "!"}):
        refused(cast.reader.post("memory/search", body, scope="user:a"), no_scope("read", "user:a"))
        answer = cast.reader.post("memory/search", {**body}, scope=TEAM)
        assert (answer.status, answer.code) == (400, "value_error")
    refused(cast.reader.post("memory/read", scope="user:a", path=5), no_scope("read", "user:a"))
    assert cast.reader.post("memory/read", scope=TEAM, path="..").code == "memory_path_invalid"


def test_a_writer_may_see_what_it_wrote_and_the_version_it_missed(cast):
    written = cast.writer.ok("memory/write", scope=TEAM, path="mine", content="text")
    assert written["document"]["content"] == "text"
    conflict = cast.writer.post("memory/write", scope=TEAM, path="mine", content="", expected_version=7)
    assert (conflict.status, conflict.code, conflict.details["actual_version"]) == (400, "memory_conflict", 1)


def test_writes_are_recorded_under_the_client_whatever_its_grants(cast):
    written = cast.op.ok("memory/write", scope=TEAM, path="n", content="", actor="client:reader")
    assert written["document"]["actor"] == "client:op/client:reader"


# Changes of rows -----------------------------------------------------------------------------------------------------


@pytest.fixture
def tenant():
    """A scoped project with one stored client that may read."""
    project = projects.set_access(project=projects.create(slug="tenant"), access="scoped")
    grants.put(project=project, value=ClientEntry("client:a", scopes=(ScopeGrant(TEAM, read=True),)), by="alice")
    return project


def issue(project, actor="client:a"):
    return WireClient(clients.create(project=project, actor=actor).token)


@pytest.mark.django_db
def test_what_is_revoked_and_what_is_taken_away_is_refused(tenant):
    # AZ-28; how soon, tests/live says.
    client = issue(tenant)
    client.ok("memory/read", scope=TEAM, path="x")
    grants.put(project=tenant, value=ClientEntry("client:a", scopes=(ScopeGrant(TEAM, write=True),)), by="alice")
    tokens.forget_cached()
    refused(client.post("memory/read", scope=TEAM, path="x"), no_scope("read", TEAM))
    client.ok("memory/write", scope=TEAM, path="x", content="")
    grants.remove(project=tenant, actor="client:a", by="alice")
    tokens.forget_cached()
    refused(client.post("memory/write", scope=TEAM, path="x", content=""), NO_ENTRY)
    projects.set_access(project=tenant, access="open")
    tokens.forget_cached()
    client.ok("memory/read", scope=TEAM, path="x")
    clients.revoke(project=tenant, actor="client:a")
    tokens.forget_cached()
    answer = client.post("memory/read", scope=TEAM, path="x")
    assert (answer.status, answer.body) == (401, b"unauthorized")


@pytest.mark.django_db
def test_two_projects_keep_their_scopes_and_their_operators_apart(tenant):
    # AZ-27
    other = projects.set_access(project=projects.create(slug="other"), access="scoped")
    operator = ClientEntry("client:a", True, (ScopeGrant("user:a", read=True, write=True),))
    for project in (tenant, other):
        grants.put(project=project, value=operator, by="alice")
    mine, theirs = issue(tenant), issue(other)
    mine.ok("memory/write", scope="user:a", path="x", content="mine")
    theirs.ok("memory/write", scope="user:a", path="x", content="theirs")
    for client, content in ((mine, "mine"), (theirs, "theirs")):
        assert client.ok("memory/read", scope="user:a", path="x")["document"]["content"] == content
        assert client.ok("store/scopes") == {"scopes": ["user:a"]}
    mine.ok("memory/redact", scope="user:a")
    assert theirs.ok("memory/read", scope="user:a", path="x")["document"]["content"] == "theirs"


@pytest.mark.django_db
def test_one_projects_grants_leave_an_open_neighbour_open(tenant):
    neighbour = projects.create(slug="neighbour")
    client = issue(neighbour)
    assert client.ok("store/scopes") == {"scopes": []}
    assert "authorization" not in client.raw("GET", "/v1/capabilities").json
    assert issue(tenant).raw("GET", "/v1/capabilities").json["authorization"] == {"version": 1, "mode": "scoped"}
