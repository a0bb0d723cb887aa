"""Every parameter of every route, fed with what it is not: the contract's answer, by name, and never a 500.

The table below is checked against the routes: a route or parameter without an entry fails. The optional routes refuse
what they do not know and have files of their own.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from django.db import transaction

from neosian_site.api.wire.urls import ROUTES
from neosian_site.core.validation import Closed
from tests.contract.wire.conversation_rows import WHEN, act, message, projection, restore, store_rows, turn

LENIENT = {route: view for route, view in ROUTES.items() if not issubclass(view.request_model, Closed)}

# Each parameter's kind, in the order in which the contract checks the types.
PARAMETERS: dict[str, dict[str, str]] = {
    "memory/read": {"scope": "scope", "path": "path"},
    "memory/write": {
        "scope": "scope",
        "path": "path",
        "content": "text",
        "actor": "text?",
        "expected_version": "integer?",
    },
    "memory/delete": {"scope": "scope", "path": "path", "actor": "text?"},
    "memory/rename": {"scope": "scope", "src": "path", "dst": "path", "actor": "text?"},
    "memory/list_documents": {"scope": "scope", "prefix": "prefix?", "cursor": "cursor?", "limit": "integer?"},
    "memory/versions": {"scope": "scope", "path": "path", "cursor": "cursor?", "limit": "integer?"},
    "memory/redact": {"scope": "scope", "path": "path?", "actor": "text?"},
    "memory/history": {"scope": "scope", "since": "time?", "cursor": "cursor?", "limit": "integer?"},
    "memory/redactions": {"scope": "scope", "since": "time?", "cursor": "cursor?", "limit": "integer?"},
    "conversation/append_turn": {"conversation_id": "id", "messages": "objects", "actor": "text?"},
    "conversation/read_turns": {"conversation_id": "id", "after": "integer?", "limit": "integer?"},
    "conversation/last_turn_number": {"conversation_id": "id"},
    "conversation/search_turns": {"limit": "integer?", "query": "term", "conversations": "ids?"},
    "conversation/append_projections": {"conversation_id": "id", "entries": "objects"},
    "conversation/read_projections": {"conversation_id": "id", "after": "integer?", "limit": "integer?"},
    "conversation/redact_turns": {
        "conversation_id": "id",
        "through": "integer?",
        "turns": "integers?",
        "actor": "text?",
    },
    "conversation/turn_redactions": {"limit": "integer?", "conversations": "ids?", "since": "time?"},
    "store/scopes": {},
    "store/conversations": {},
    "store/restore_scope": {"scope": "scope", "documents": "objects", "versions": "objects", "redactions": "objects"},
    "store/restore_conversation": {
        "conversation_id": "id",
        "turns": "objects",
        "projections": "objects",
        "redactions": "objects?",
    },
}

# A body of required parameters with which each route answers 200 in the store that ``store`` makes.
BODIES: dict[str, dict[str, Any]] = {
    "memory/read": {"scope": "user:a", "path": "x"},
    "memory/write": {"scope": "user:a", "path": "x", "content": "c"},
    "memory/delete": {"scope": "user:a", "path": "x"},
    "memory/rename": {"scope": "user:a", "src": "x", "dst": "y"},
    "memory/list_documents": {"scope": "user:a"},
    "memory/versions": {"scope": "user:a", "path": "x"},
    "memory/redact": {"scope": "user:a"},
    "memory/history": {"scope": "user:a"},
    "memory/redactions": {"scope": "user:a"},
    "conversation/append_turn": {"conversation_id": "c", "messages": [message()]},
    "conversation/read_turns": {"conversation_id": "c"},
    "conversation/last_turn_number": {"conversation_id": "c"},
    "conversation/search_turns": {"query": "hello"},
    "conversation/append_projections": {"conversation_id": "c", "entries": [projection(1)]},
    "conversation/read_projections": {"conversation_id": "c"},
    "conversation/redact_turns": {"conversation_id": "c"},
    "conversation/turn_redactions": {},
    "store/scopes": {},
    "store/conversations": {},
    "store/restore_scope": {"scope": "user:new", "documents": [], "versions": [], "redactions": []},
    "store/restore_conversation": {"conversation_id": "new", "turns": [], "projections": []},
}

NOUNS = {
    "integer": "an integer",
    "integers": "a list of integers",
    "ids": "a list of strings",
    "objects": "a list of objects",
}
DEEP: Any = "x"
for _ in range(129):
    DEEP = [DEEP]

NO_STRINGS: list[Any] = [1, 0, -1, 1.5, 10**30, True, False, [], ["x"], {}, {"x": "y"}, DEEP]
NO_INTEGERS: list[Any] = ["1", "", 1.0, 1.5, 1e300, True, False, [], [1], {}, {"x": 1}, DEEP]
NO_LISTS: list[Any] = ["x", "", 1, 0, 1.5, 10**30, True, False, {}, {"0": "x"}]
WRONG: dict[str, list[Any]] = {
    "integer": NO_INTEGERS,
    "integers": [*NO_LISTS, ["1"], [1, 1.0], [1, True], [1, None], [[1]], [{}], DEEP],
    "ids": [*NO_LISTS, [1], ["c", None], ["c", True], ["c", 1.5], [["c"]], [{}], DEEP],
    "objects": [*NO_LISTS, [1], ["x"], [None], [True], [[]], [{}, 1], DEEP],
}

ALL = [(route, name) for route, parameters in PARAMETERS.items() for name in parameters]


def kind_of(route: str, name: str) -> str:
    return PARAMETERS[route][name].rstrip("?")


def of_kind(*kinds: str) -> list[tuple[str, str]]:
    return [(route, name) for route, name in ALL if kind_of(route, name) in kinds]


def noun_of(route: str, name: str) -> str:
    return NOUNS.get(kind_of(route, name), "a string")


def wrong_values(route: str, name: str) -> list[Any]:
    return WRONG.get(kind_of(route, name), NO_STRINGS)


@pytest.fixture
def store(wire):
    """One document with three versions and an act, one conversation with two turns, a projection and an act."""
    for content in ("1", "2", "3"):
        wire.ok("memory/write", scope="user:a", path="x", content=content)
    restore(wire, turns=[turn(1), turn(2)], projections=[projection(1)], redactions=[act([1])])
    return wire


def test_the_table_names_every_parameter_of_every_route_in_order():
    assert {route: list(parameters) for route, parameters in PARAMETERS.items()} == {
        route: list(view.request_model.model_fields) for route, view in LENIENT.items()
    }
    assert set(BODIES) == set(LENIENT)
    assert set(ROUTES) - set(LENIENT) == {"memory/search", "memory/changes", "memory/prune_changes"}
    for route, parameters in PARAMETERS.items():
        assert {name for name, kind in parameters.items() if not kind.endswith("?")} == set(BODIES[route])


@pytest.mark.parametrize("route", BODIES)
def test_the_bodies_the_other_tests_start_from_are_answered(store, route):
    store.ok(route, BODIES[route])


@pytest.mark.parametrize(("route", "name"), ALL)
def test_a_value_of_another_type_is_refused_by_its_name_and_changes_nothing(store, route, name):
    before = store_rows()
    for value in wrong_values(route, name):
        answer = store.post(route, {**BODIES[route], name: value})
        assert (answer.status, answer.code, answer.details) == (400, "value_error", {}), repr(value)[:80]
        assert answer.message == f"parameter '{name}' must be {noun_of(route, name)}", repr(value)[:80]
    assert store_rows() == before


@pytest.mark.parametrize(("route", "name"), ALL)
def test_null_and_absent_are_one(store, route, name):
    body = {**BODIES[route], name: None}
    if PARAMETERS[route][name].endswith("?"):
        store.ok(route, body)
        return
    before = store_rows()
    absent = {key: value for key, value in body.items() if key != name}
    for answer in (store.post(route, body), store.post(route, absent)):
        assert (answer.status, answer.code, answer.details) == (400, "value_error", {})
        assert answer.message == f"missing parameter: '{name}'"
    assert store_rows() == before


@pytest.mark.parametrize("route", BODIES)
def test_unknown_keys_are_ignored(store, route):
    unknown = {
        "unknown": DEEP,
        "k" * 10_000: 1,
        "": None,
        "__class__": "x",
        "self": {},
        "caller": {"client": "client:ops"},
        "project": 1,
        "project_id": 2,
        "\ud800": "\0",
        "kwargs": 10**30,
        "SCOPE": 1,
        "limit ": -1,
        "model_config": [],
    }
    store.ok(route, {**unknown, **BODIES[route]})


@pytest.mark.parametrize("route", [route for route, parameters in PARAMETERS.items() if len(parameters) > 1])
def test_types_are_judged_from_left_to_right(store, route):
    before = store_rows()
    for first, second in combinations(PARAMETERS[route], 2):
        body = {**BODIES[route], first: wrong_values(route, first)[3], second: wrong_values(route, second)[3]}
        assert store.post(route, body).message.startswith(f"parameter '{first}' must be"), (first, second)
    assert store_rows() == before


BAD_NAMES = {"scope": "user:a b", "id": "a/b", "path": "../x"}


@pytest.mark.parametrize("route", [route for route, parameters in PARAMETERS.items() if len(parameters) > 1])
def test_every_type_is_judged_before_any_grammar(store, route):
    named = {name: BAD_NAMES[kind_of(route, name)] for name in PARAMETERS[route] if kind_of(route, name) in BAD_NAMES}
    for name in PARAMETERS[route]:
        body = {**BODIES[route], **named, name: wrong_values(route, name)[3]}
        answer = store.post(route, body)
        assert (answer.code, answer.message) == (
            "value_error",
            f"parameter '{name}' must be {noun_of(route, name)}",
        )


CODES = {"scope": "memory_scope_invalid", "path": "memory_path_invalid", "id": "agent_conversation_id_invalid"}
NAMES = {
    "scope": [
        "abc", "", ":", "user:", ":a", "user:a/", "/user:a", "user:a//user:b", "user:a/b", "User:a", "us-er:a", "1:a",
        "user:a b", " user:a", "user:a ", "user:a\n", "user:..", "user:.", "user:a/p:..", "user:a%2Fb", "user:ü",
        "u" * 33 + ":a", "user:" + "a" * 129, "/".join(["u:a"] * 9), "u:" + "a/u:" * 300, "{user:a}", "urn:uuid:1",
        "user:a\0", "\0", "user:\ud800", "\ud83d", "é" * 10_000,
    ],
    "path": [
        "", "/", "/x", "x/", "a//b", ".", "..", "../x", "a/./b", "a/..", " x", "x ", "x\n", "a b", "a:b", "a%2Fb",
        "a\\b", "ü", "a" * 129, "/".join(["a"] * 17), "a/" * 400 + "a", "{x}", "x\0", "\0", "x\ud800", "\uff11",
        "é" * 10_000,
    ],
    "id": [
        "", " ", "a b", "a/b", "a:b", ".", "..", "a\n", "a" * 129, "{a}", "urn:uuid:a", "ü", "a\0", "\0", "\ud800",
        "é" * 10_000,
    ],
}  # fmt: skip


@pytest.mark.parametrize(("route", "name"), of_kind(*CODES))
def test_a_name_outside_its_grammar_is_refused_with_the_names_code(store, route, name):
    kind = kind_of(route, name)
    before = store_rows()
    for value in NAMES[kind]:
        answer = store.post(route, {**BODIES[route], name: value})
        assert (answer.status, answer.code) == (400, CODES[kind]), ascii(value)[:80]
        shown = answer.details["conversation_id" if kind == "id" else kind]
        # Half a character never leaves the server: it is spelled out.
        assert shown == value.encode("utf-8", "backslashreplace").decode(), ascii(value)[:80]
        assert answer.details["reason"]
    assert store_rows() == before


@pytest.mark.parametrize(("route", "name"), of_kind("ids"))
def test_an_id_outside_its_grammar_refuses_the_list(store, route, name):
    for value in NAMES["id"]:
        answer = store.post(route, {**BODIES[route], name: ["c", value]})
        assert (answer.status, answer.code) == (400, CODES["id"]), ascii(value)[:80]


@pytest.mark.parametrize(("route", "name"), of_kind("text"))
def test_text_that_cannot_come_back_is_refused_by_its_name(store, route, name):
    before = store_rows()
    for value in ("a\0b", "\0", "\ud83d", "a\ude00b", "\ude00\ud83d"):
        answer = store.post(route, {**BODIES[route], name: value})
        assert (answer.status, answer.code) == (400, "value_error"), ascii(value)
        assert f"'{name}'" in answer.message
    assert store_rows() == before


@pytest.mark.parametrize(("route", "name"), of_kind("text"))
def test_any_other_text_is_text(store, route, name):
    for value in (
        "",
        " ",
        "<|endoftext|>",
        "%s %d",
        "'; --",
        "\\u0000",
        "\u2028",
        "\ufeff",
        "😀",
        "e\u0301",
        "x" * 9000,
    ):
        answer = store.post(route, {**BODIES[route], name: value})
        # The first call may take what the next one needs; none of them is the text's fault.
        assert answer.status == 200 or answer.code in ("memory_document_not_found", "memory_conflict"), ascii(value)[
            :80
        ]


@pytest.mark.parametrize(("route", "name"), of_kind("prefix"))
def test_a_prefix_may_be_any_text_and_matches_what_begins_with_it(store, route, name):
    for value in ("", "x"):
        assert [entry["path"] for entry in store.ok(route, {**BODIES[route], name: value})["entries"]] == ["x"]
    for value in (" ", "X", "%", "_", "*", "a\0", "\0", "\ud800", "\x7f", "x\x7f", "xx", "é", "\uffff", "x" * 10_000):
        assert store.ok(route, {**BODIES[route], name: value}) == {"entries": [], "next_cursor": None}, ascii(value)[
            :80
        ]


@pytest.mark.parametrize(("route", "name"), of_kind("cursor"))
def test_a_cursor_that_was_not_minted_here_is_refused(store, route, name):
    foreign = store.ok("memory/versions", scope="user:a", path="x", limit=1)["next_cursor"]
    if route == "memory/versions":
        foreign = store.ok("memory/history", scope="user:a", limit=1)["next_cursor"]
    assert foreign is not None
    for value in ("", " ", "x", "=", "!!", "\0", "\ud800", "é", "W10", "bnVsbA", "e30", "WzFd", "A" * 10_000, foreign):
        answer = store.post(route, {**BODIES[route], name: value})
        assert (answer.status, answer.code) == (400, "value_error"), ascii(value)[:80]
        assert "cursor" in answer.message
        # Where no row is asked for, it is not looked at.
        store.ok(route, {**BODIES[route], name: value, "limit": 0})


@pytest.mark.parametrize(("route", "name"), of_kind("time"))
def test_a_time_is_an_instant_or_it_is_refused(store, route, name):
    for value in (
        WHEN,
        "20260102T030405+0530",
        "2026-01-02 03:04Z",
        "2026-W01-5T00:00:00Z",
        "2026-01-02T03:04:05,5-08",
    ):
        store.ok(route, {**BODIES[route], name: value})
    for value in (
        "", " ", "now", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02t03:04:05Z", "2026-01-02T03:04:05z",
        " 2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z ", "2026-01-02T24:00:00Z", "2026-01-02T23:59:60Z",
        "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "1767322800", "2026-01-02T03:04:05 UTC", "-infinity",
        "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "\0", "\ud800", "9" * 10_000,
    ):  # fmt: skip
        answer = store.post(route, {**BODIES[route], name: value})
        assert (answer.status, answer.code, answer.details) == (400, "value_error", {}), ascii(value)[:80]


HUGE = [2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30, 10**4000]
OVER_BOUND = {
    "conversation/search_turns": "a search answers at most 500 turns; narrow the query",
    "conversation/turn_redactions": "the trail answers at most 500 acts; narrow the window",
}


@pytest.mark.parametrize(("route", "name"), of_kind("integer"))
def test_a_number_of_any_size_has_the_contracts_answer(store, route, name):
    for value in HUGE:
        answer = store.post(route, {**BODIES[route], name: value})
        if name == "limit" and route in OVER_BOUND:
            assert (answer.status, answer.code, answer.message) == (400, "value_error", OVER_BOUND[route])
        elif name == "expected_version":
            assert (answer.status, answer.code) == (400, "memory_conflict")
            assert answer.details["expected_version"] == value
            assert (answer.details["reason"], answer.details["actual_version"]) == ("version_mismatch", 3)
        else:
            assert answer.status == 200, value


@pytest.mark.parametrize(("route", "name"), of_kind("integer"))
def test_a_negative_number_is_refused_and_changes_nothing(store, route, name):
    before = store_rows()
    for value in (-1, -(2**31) - 1, -(2**63) - 1, -(10**30)):
        answer = store.post(route, {**BODIES[route], name: value})
        expected = "memory_conflict" if name == "expected_version" else "value_error"
        assert (answer.status, answer.code) == (400, expected), value
        assert expected == "memory_conflict" or name in answer.message
        assert b"SELECT" not in answer.body
        assert b"bigint" not in answer.body
    assert store_rows() == before


@pytest.mark.parametrize("route", [route for route, parameters in PARAMETERS.items() if "limit" in parameters])
@pytest.mark.parametrize("limit", [0, 1, 499, 500])
def test_a_limit_within_bounds_is_answered(store, route, limit):
    answer = store.post(route, {**BODIES[route], "limit": limit})
    if limit == 0 and route in OVER_BOUND:
        assert (answer.status, answer.code, answer.message) == (400, "value_error", "limit must be >= 1, got 0")
        return
    found = next(iter(answer.json.values()))
    assert answer.status == 200
    assert len(found) <= limit


def test_a_negative_limit_and_a_bad_name_are_judged_in_each_groups_own_order(store):
    """A memory listing's limit is a type; a conversation's is a value."""
    for route, parameters in PARAMETERS.items():
        if "limit" not in parameters or "conversations" in parameters:
            continue
        if "scope" in parameters:
            assert store.post(route, {**BODIES[route], "scope": "!", "limit": -1}).code == "value_error", route
            assert store.post(route, {**BODIES[route], "scope": "!", "limit": 0}).code == CODES["scope"], route
            assert store.post(route, {**BODIES[route], "scope": "!", "cursor": "!"}).code == CODES["scope"], route
        else:
            assert store.post(route, {**BODIES[route], "conversation_id": "!", "limit": -1}).code == CODES["id"], route


@pytest.mark.parametrize(("route", "name"), of_kind("integers"))
def test_numbers_of_any_size_in_a_list_select_what_they_name(store, route, name):
    assert store.ok(route, {**BODIES[route], name: HUGE}) == {"count": 0}
    assert store.ok(route, {**BODIES[route], name: [*HUGE, 2]}) == {"count": 1}
    answer = store.post(route, {**BODIES[route], name: [1, -(10**30)]})
    assert (answer.status, answer.code) == (400, "value_error")


# --- Rows of archives: a valid one of each list, and what each key may not hold ---------------------------------------

DOCUMENT = {
    "scope": "user:new",
    "path": "x",
    "content": "c",
    "version": 1,
    "created_at": WHEN,
    "updated_at": WHEN,
    "actor": None,
    "redacted": False,
    "extra": {},
}
VERSION = {
    "path": "x",
    "version": 1,
    "action": "created",
    "content": "c",
    "actor": None,
    "created_at": WHEN,
    "redacted": False,
}
ROWS: dict[tuple[str, str], dict[str, Any]] = {
    ("store/restore_scope", "documents"): DOCUMENT,
    ("store/restore_scope", "versions"): VERSION,
    ("store/restore_scope", "redactions"): {"path": None, "actor": None, "created_at": WHEN, "count": 1},
    ("store/restore_conversation", "turns"): turn(1, conversation_id="new"),
    ("store/restore_conversation", "projections"): projection(1),
    ("store/restore_conversation", "redactions"): act([1], "new"),
    ("conversation/append_projections", "entries"): projection(1),
}
NULLABLE = {"actor", "extra", "span", "path"}
ROW_KEYS = [(route, name, key) for (route, name), row in ROWS.items() for key in row]


@pytest.mark.parametrize(("route", "name"), ROWS)
def test_the_rows_the_other_tests_start_from_are_taken(store, route, name):
    store.ok(route, {**BODIES[route], name: [ROWS[route, name]]})


@pytest.mark.parametrize(("route", "name", "key"), ROW_KEYS)
def test_no_json_value_in_a_row_makes_more_than_a_refusal(store, route, name, key):
    """Whatever stands in a row, the answer is 200 or the envelope, and a refusal restores nothing."""
    before = store_rows()
    good = ROWS[route, name][key]
    values: list[Any] = [
        None, 0, 1.0, 1.5, -1, 2**31, 2**63, 10**30, True, False, "", "1", "x\0", "\ud800", "..", "false", "é" * 9000,
        [], [1], [[]], ["x"], [None], {}, {"x": "y"}, {"\0": 1}, DEEP,
    ]  # fmt: skip
    for value in values:
        same_type = type(value) is type(good) or (good is None and isinstance(value, str))
        with transaction.atomic():
            answer = store.post(route, {**BODIES[route], name: [{**ROWS[route, name], key: value}]})
            # What was taken is taken away again; what a refusal left would stay to be seen below.
            transaction.set_rollback(answer.status == 200)
        if answer.status == 200:
            assert same_type or (value is None and key in NULLABLE), repr(value)[:80]
        else:
            assert (answer.status, list(answer.json)) == (400, ["error"]), repr(value)[:80]
            assert answer.code in ("value_error", "memory_path_invalid"), repr(value)[:80]
    assert store_rows() == before
