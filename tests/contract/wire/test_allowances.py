"""What a constrained token reaches: the gate's table, and the acceptance cases of the authorization design."""

from __future__ import annotations

from typing import Any

import pytest

from authz import tokens
from neosian_site.api.wire.urls import ROUTES
from tests.clients import Answer
from tests.contract.wire.conversation_rows import message, projection, restore, store_rows, turn
from tests.contract.wire.feed_ground import position

STORE = sorted(route for route in ROUTES if route.startswith("store/"))
MEMORY = sorted(route for route in ROUTES if route.startswith("memory/"))
# They refuse a key they do not know, once the names are judged.
CLOSED = ["memory/changes", "memory/prune_changes", "memory/search"]
LISTS = ["conversation/search_turns", "conversation/turn_redactions"]
CONVERSATION = sorted(route for route in ROUTES if route.startswith("conversation/") and route not in LISTS)


def assert_out_of_reach(answer: Answer, what: str) -> None:
    assert (answer.status, answer.code, answer.details) == (403, "forbidden", {})
    assert answer.message == f"this token's allowance does not reach {what}"


def body_for(route: str, **changed: Any) -> dict[str, Any]:
    """A body with which ``route`` answers 200 inside Alice's allowance."""
    bodies: dict[str, dict[str, Any]] = {
        "memory/read": {"path": "x"},
        "memory/write": {"path": "x", "content": "new"},
        "memory/delete": {"path": "x"},
        "memory/rename": {"src": "x", "dst": "y"},
        "memory/list_documents": {},
        "memory/versions": {"path": "x"},
        "memory/redact": {},
        "memory/history": {},
        "memory/redactions": {},
        "memory/search": {"query": "word"},
        "memory/changes": {},
        "memory/prune_changes": {},
        "conversation/append_turn": {"messages": [message("new")]},
        "conversation/read_turns": {},
        "conversation/last_turn_number": {},
        "conversation/append_projections": {"entries": [projection(1)]},
        "conversation/read_projections": {},
        "conversation/redact_turns": {},
        "conversation/search_turns": {"query": "word", "conversations": ["alice-1"]},
        "conversation/turn_redactions": {"conversations": ["alice-1"]},
    }
    own = {"memory": {"scope": "user:alice"}, "conversation": {"conversation_id": "alice-1"}}
    body = {**({} if route in LISTS else own[route.partition("/")[0]]), **bodies[route], **changed}
    if route == "memory/prune_changes" and isinstance(body.get("scope"), str):
        body["through"] = position(body["scope"])
    return body


@pytest.fixture
def filled(wire):
    """One document and one turn of each neighbour."""
    for scope in ("user:alice", "user:alic", "user:bob"):
        wire.ok("memory/write", scope=scope, path="x", content="word")
    for name in ("alice-1", "alice", "bob-1"):
        restore(wire, name, turns=[turn(1, "word", name)], projections=[projection(1, "word")])
    return wire


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(STORE)))
def test_a_route_works_inside_the_allowance(filled, route):
    filled.as_("tok-alice").ok(route, body_for(route))


@pytest.mark.parametrize("route", MEMORY)
@pytest.mark.parametrize("token", ["tok-alice", "tok-reader"])
def test_another_scope_is_refused_and_nothing_changes(filled, route, token):
    before = store_rows()
    for scope in ("user:bob", "user:alic", "User:alice", " user:alice", "user:al/x:alice", "", "!", "\0"):
        assert_out_of_reach(filled.as_(token).post(route, body_for(route, scope=scope)), f"scope {scope!r}")
    assert store_rows() == before


@pytest.mark.parametrize("route", CONVERSATION)
@pytest.mark.parametrize("token", ["tok-alice", "tok-conv"])
def test_another_conversation_is_refused_and_nothing_changes(filled, route, token):
    before = store_rows()
    for name in ("bob-1", "alice", "Alice-1", "xalice-1", "", "..", "\0"):
        answer = filled.as_(token).post(route, body_for(route, conversation_id=name))
        assert_out_of_reach(answer, f"conversation {name!r}")
    assert store_rows() == before


@pytest.mark.parametrize("route", CONVERSATION)
def test_a_token_with_a_scope_prefix_alone_has_no_conversation(filled, route):
    before = store_rows()
    answer = filled.as_("tok-reader").post(route, body_for(route))
    assert_out_of_reach(answer, "conversation 'alice-1'")
    assert store_rows() == before


@pytest.mark.parametrize("route", MEMORY)
def test_a_token_with_an_id_prefix_alone_has_every_scope(filled, route):
    filled.as_("tok-conv").ok(route, body_for(route, scope="user:bob"))


@pytest.mark.parametrize("route", LISTS)
def test_lists_by_one_sided_tokens(filled, route):
    assert_out_of_reach(filled.as_("tok-reader").post(route, body_for(route)), "conversation 'alice-1'")
    filled.as_("tok-conv").ok(route, body_for(route))
    for token in ("tok-reader", "tok-conv", "tok-alice"):
        (rows,) = filled.as_(token).ok(route, body_for(route, conversations=[])).values()
        assert rows == []


@pytest.mark.parametrize("route", STORE)
@pytest.mark.parametrize("token", ["tok-alice", "tok-reader", "tok-conv"])
def test_the_whole_store_is_refused_whatever_the_body(filled, route, token):
    before = store_rows()
    for body in (
        {},
        {"scope": "user:alice", "documents": [], "versions": [], "redactions": []},
        {"conversation_id": "alice-9", "turns": [], "projections": []},
        {"scope": "user:bob"},
        {"conversations": []},
    ):
        assert_out_of_reach(filled.as_(token).post(route, body), "the whole store")
    assert store_rows() == before


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(STORE)))
def test_a_route_without_its_own_name_asks_for_the_whole_store(filled, route):
    own = "scope" if route in MEMORY else "conversations" if route in LISTS else "conversation_id"
    inside = body_for(route)[own]
    wrong = [None, 5, True, {"alice-1": 1}, inside[0] if own == "conversations" else [inside]]
    absent = {key: value for key, value in body_for(route).items() if key != own}
    before = store_rows()
    for body in (absent, *({**absent, own: value} for value in wrong)):
        assert_out_of_reach(filled.as_("tok-alice").post(route, body), "the whole store")
    assert store_rows() == before


IGNORED = {"scope": "user:alice", "conversation_id": "alice-1", "conversations": ["alice-1"]}
FOREIGN = {
    "scope": ("user:bob", "scope 'user:bob'"),
    "conversation_id": ("bob-1", "conversation 'bob-1'"),
    "conversations": (["alice-1", "bob-1"], "conversation 'bob-1'"),
}


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(STORE)))
def test_keys_the_route_ignores_never_authorize(filled, route):
    own = "scope" if route in MEMORY else "conversations" if route in LISTS else "conversation_id"
    body = {**body_for(route), **IGNORED}
    answer = filled.as_("tok-alice").post(route, body)
    if route in CLOSED:
        assert (answer.status, answer.message) == (400, "unknown parameter: 'conversation_id'")
    else:
        assert answer.status == 200
    del body[own]
    assert_out_of_reach(filled.as_("tok-alice").post(route, body), "the whole store")


@pytest.mark.parametrize("route", sorted(set(ROUTES) - set(STORE)))
def test_a_foreign_name_refuses_wherever_the_body_names_it(filled, route):
    before = store_rows()
    for key, (foreign, what) in FOREIGN.items():
        assert_out_of_reach(filled.as_("tok-alice").post(route, body_for(route, **{key: foreign})), what)
    assert store_rows() == before


@pytest.mark.parametrize("route", LISTS)
@pytest.mark.parametrize(
    ("conversations", "refused"),
    [
        (["alice-1", "alice-2"], None),
        (["bob-1", "alice-1"], "bob-1"),
        (["alice-1", "bob-1", "carol"], "bob-1"),
        (["alice-1", 3, "bob-1"], "bob-1"),
        (["alice"], "alice"),
        (["*"], "*"),
        (["%"], "%"),
        ([""], ""),
    ],
)
def test_every_id_of_a_list_is_judged(filled, route, conversations, refused):
    answer = filled.as_("tok-alice").post(route, body_for(route, conversations=conversations))
    if refused is None:
        assert answer.status == 200
    else:
        assert_out_of_reach(answer, f"conversation {refused!r}")


@pytest.mark.parametrize("route", LISTS)
@pytest.mark.parametrize("item", [3, None, True, ["bob-1"], {"bob-1": 1}])
def test_items_of_another_type_are_left_to_the_types(filled, route, item):
    answer = filled.as_("tok-alice").post(route, body_for(route, conversations=["alice-1", item]))
    assert (answer.status, answer.code) == (400, "value_error")
    assert answer.message == "parameter 'conversations' must be a list of strings"


def test_a_search_finds_inside_the_list_only(filled):
    hits = filled.as_("tok-alice").ok("conversation/search_turns", query="word", conversations=["alice-1"])["turns"]
    assert [hit["conversation_id"] for hit in hits] == ["alice-1"]


@pytest.mark.parametrize(
    ("scope", "status"), [("user:alice", 200), ("user:alice2", 200), ("user:alice/p:q", 200), ("user:alice!", 400)]
)
def test_a_prefix_is_literal_text_and_the_grammar_comes_later(wire, scope, status):
    assert wire.as_("tok-alice").post("memory/read", scope=scope, path="x").status == status


def test_names_in_other_parameters_are_never_looked_at(filled):
    alice = filled.as_("tok-alice")
    alice.ok("memory/write", scope="user:alice", path="user.bob", content="user:bob", actor="client:bob")
    alice.ok("memory/rename", scope="user:alice", src="user.bob", dst="bob-1")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        (b"[]", 400),
        (b'{"scope":"user:bob","path":1}', 403),
        (b'{"scope":"user:bob bad","path":"x"}', 403),
        (b'{"scope":"user:alice","scope":"user:bob","path":"x"}', 403),
        (b'{"scope":"user:bob","scope":"user:alice","path":"x"}', 200),
    ],
)
def test_the_gate_stands_between_the_body_and_its_types(wire, body, status):
    assert wire.as_("tok-alice").raw("POST", "/v1/memory/read", body).status == status


def test_a_gate_precedes_a_blank_query(filled):
    body = body_for("conversation/search_turns", query=" ", conversations=["bob-1"])
    assert_out_of_reach(filled.as_("tok-alice").post("conversation/search_turns", body), "conversation 'bob-1'")


def test_a_cursor_carries_no_authority(filled):
    for path in ("a", "b", "c"):
        filled.ok("memory/write", scope="user:bob", path=path, content="")
    cursor = filled.ok("memory/list_documents", scope="user:bob", limit=1)["next_cursor"]
    answer = filled.as_("tok-alice").post("memory/list_documents", scope="user:bob", cursor=cursor)
    assert_out_of_reach(answer, "scope 'user:bob'")


def test_refusals_do_not_tell_what_exists(filled):
    alice = filled.as_("tok-alice")
    existing = alice.post("memory/read", scope="user:bob", path="x")
    absent = alice.post("memory/read", scope="user:bab", path="x")
    assert existing.body.replace(b"user:bob", b"user:bab") == absent.body


def test_half_a_character_in_a_refused_name_is_spelled_out(wire):
    answer = wire.as_("tok-alice").post("memory/read", scope="\ud800", path="x")
    assert (answer.status, answer.code) == (403, "forbidden")
    assert "ud800" in answer.message


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_a_constrained_token_is_refused_the_mounts(wire, method):
    for token in ("tok-alice", "tok-reader", "tok-conv"):
        answer = wire.as_(token).raw(method, "/mcp", b"{}")
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.message.startswith("this token's allowance does not reach /mcp")


def test_unknown_routes_are_404_and_wrong_methods_405_for_a_constrained_token_too(wire):
    assert wire.as_("tok-alice").raw("POST", "/v1/store/unknown", b"{}").status == 404
    assert wire.as_("tok-alice").raw("GET", "/v1/store/scopes").status == 405


class TestAcceptance:
    """AZ-01 to AZ-14 of the design, in its own words and tokens."""

    @pytest.fixture
    def ask(self, wire, settings):
        settings.NEOSIAN_SERVE_TOKEN = "client:s@user:b=ts,client:c+b-=tc,client:sc@user:b+b-=tsc,client:all=ta"
        tokens.forget_cached()

        def ask(token: str | None, route: str, body: Any = None, **more: Any) -> Answer:
            return wire.as_(token).post(route, body, **more)

        return ask

    def test_az_01_no_header(self, wire, ask):
        answer = wire.as_(None).raw("GET", "/v1/capabilities")
        assert (answer.status, answer.headers["www-authenticate"], answer.body) == (401, "Bearer", b"unauthorized")
        assert wire.as_(None).raw("GET", "/health").json == {"status": "ok"}

    def test_az_02_a_scope_prefix(self, ask):
        assert ask("ts", "memory/read", scope="user:bob", path="x").status == 200
        answer = ask("ts", "memory/read", scope="user:a", path="x")
        assert answer.status == 403
        assert answer.json == {
            "error": {
                "code": "forbidden",
                "message": "this token's allowance does not reach scope 'user:a'",
                "details": {},
            }
        }

    def test_az_03_no_scope(self, ask):
        assert_out_of_reach(ask("ts", "memory/read", path="x"), "the whole store")
        assert_out_of_reach(ask("ts", "memory/read", scope=5, path="x"), "the whole store")

    def test_az_04_the_prefix_matches_and_the_grammar_fails(self, ask):
        answer = ask("ts", "memory/read", scope="user:bad scope", path="x")
        assert (answer.status, answer.code) == (400, "memory_scope_invalid")

    def test_az_05_an_id_prefix(self, ask):
        assert_out_of_reach(ask("ts", "conversation/last_turn_number", conversation_id="b-1"), "conversation 'b-1'")
        assert ask("tc", "conversation/last_turn_number", conversation_id="b-1").json == {"turn": 0}
        assert_out_of_reach(ask("tc", "conversation/last_turn_number", conversation_id="c-1"), "conversation 'c-1'")

    def test_az_06_the_table_leaves_scopes_open(self, ask):
        assert ask("tc", "memory/read", scope="user:zzz", path="x").json == {"document": None}

    def test_az_07_lists(self, ask):
        search = "conversation/search_turns"
        assert ask("tsc", search, query="x", conversations=[]).json == {"turns": []}
        assert_out_of_reach(ask("tsc", search, query="x", conversations=["b-1", "z"]), "conversation 'z'")
        answer = ask("tsc", search, query="x", conversations=[7])
        assert (answer.status, answer.message) == (400, "parameter 'conversations' must be a list of strings")

    def test_az_08_other_keys_open_nothing(self, ask):
        answer = ask("tsc", "conversation/search_turns", query="x", conversations=None, scope="user:b")
        assert_out_of_reach(answer, "the whole store")
        assert_out_of_reach(ask("tsc", "conversation/turn_redactions", conversation_id="b-1"), "the whole store")

    def test_az_09_the_whole_store(self, ask):
        assert_out_of_reach(ask("tsc", "store/scopes", scope="user:b"), "the whole store")
        assert ask("ta", "store/scopes").json == {"scopes": []}

    def test_az_10_the_mounts(self, wire, ask):
        assert wire.as_("ts").raw("POST", "/mcp", b"{}").status == 403
        # No mounts: nothing is served there.
        assert wire.as_("ta").raw("POST", "/mcp", b"{}").status == 404

    def test_az_11_the_recorded_actor(self, ask):
        written = ask("ta", "memory/write", scope="user:a", path="x", content="", actor="bad actor").json
        assert written["document"]["actor"] == "client:all/bad actor"
        written = ask("ta", "memory/write", scope="user:a", path="x", content="").json
        assert written["document"]["actor"] == "client:all"

    def test_az_12_the_gate_before_the_ceiling(self, wire, ask):
        over = {"Content-Length": str(64 * 1024 * 1024 + 1)}
        assert wire.as_(None).raw("POST", "/v1/memory/read", b"", over).status == 401
        answer = wire.as_("ta").raw("POST", "/v1/memory/read", b"", over)
        assert (answer.status, answer.code) == (413, "value_error")

    def test_az_14_a_bare_token(self, wire, settings):
        settings.NEOSIAN_SERVE_TOKEN = "plain"
        tokens.forget_cached()
        assert wire.as_("plain").raw("GET", "/v1/capabilities").json["client"] == "client:default"
