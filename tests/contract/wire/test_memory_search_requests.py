"""``memory/search``: what is refused, in which order, and how far the bounds go (SG-08 to SG-12, SG-29)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.contract.wire.memory_ground import forge
from tests.contract.wire.search_ground import ROUTE, SCOPE, paths, restore

GOOD = {"scope": SCOPE, "query": "term"}
NO_LIST = "must be a list of strings"
FIELDS = "fields must be a nonempty list of path, content, metadata"
KEYS = "metadata needs 1 to 8 distinct metadata_keys"
KEY = "a metadata key must be 1 to 128 characters"
POLICY = "knowledge_policy must be all, effective or approved"
MALFORMED, FOREIGN = "malformed search cursor", "cursor does not belong to this search"
WITH_KEYS = {"fields": ["metadata"]}


def refused(answer: Any, message: str) -> None:
    assert (answer.status, answer.code, answer.message, answer.details) == (400, "value_error", message, {})


@pytest.fixture
def two(wire):
    for path in ("a", "b"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="term")
    return wire


# Each row's fault comes before those of the rows below it.
ORDER: list[tuple[dict[str, Any], str]] = [
    ({"Unknown": None, "a": 1}, "unknown parameter: 'Unknown'"),
    ({"a": None}, "unknown parameter: 'a'"),
    ({"\ud800": 1}, "unknown parameter: '\\ud800'"),
    ({"scope": 1}, "parameter 'scope' must be a string"),
    ({"scope": "\ud800"}, "parameter 'scope' holds a lone surrogate"),
    ({"query": []}, "parameter 'query' must be a string"),
    ({"query": " "}, "query must hold 1 to 16 terms"),
    ({"prefix": None}, "parameter 'prefix' must be a string"),
    ({"prefix": "x" * 1025}, "prefix must be at most 1024 bytes"),
    ({"fields": "path"}, f"parameter 'fields' {NO_LIST}"),
    ({"fields": []}, FIELDS),
    ({"metadata_keys": None}, f"parameter 'metadata_keys' {NO_LIST}"),
    ({"metadata_keys": ["k"]}, "metadata_keys needs the metadata field"),
    ({"limit": True}, "parameter 'limit' must be an integer"),
    ({"limit": 0}, "limit must be 1 to 100"),
    ({"cursor": 1}, "parameter 'cursor' must be a string"),
    ({"cursor": ""}, MALFORMED),
    ({"knowledge_policy": None}, "parameter 'knowledge_policy' must be a string"),
    ({"knowledge_policy": "ALL"}, POLICY),
]


@pytest.mark.parametrize("place", range(len(ORDER)), ids=[message for _, message in ORDER])
def test_the_first_fault_in_the_contracts_order_answers(wire, place):
    body: dict[str, Any] = {}
    for fault, _ in reversed(ORDER[place:]):
        # Of two faults of one field the upper one stands.
        body |= fault
    refused(wire.post(ROUTE, {**GOOD, **body}), ORDER[place][1])


def test_the_scopes_grammar_comes_after_every_type_and_bound_and_before_the_cursor(two):
    answer = two.post(ROUTE, {**GOOD, "scope": "bad", "cursor": "x"})
    assert (answer.status, answer.code) == (400, "memory_scope_invalid")
    assert answer.details["scope"] == "bad"
    refused(two.post(ROUTE, {**GOOD, "scope": "bad", "knowledge_policy": "x"}), POLICY)
    foreign = two.ok(ROUTE, GOOD, limit=1)["next_cursor"]
    assert two.post(ROUTE, {**GOOD, "scope": "bad", "cursor": foreign}).code == "memory_scope_invalid"
    refused(two.post(ROUTE, scope=SCOPE, query="other", cursor=foreign), FOREIGN)


def test_authority_comes_before_everything_the_body_says(wire):
    alice = wire.as_("tok-alice")
    for fault, _ in ORDER:
        if "scope" not in fault:
            answer = alice.post(ROUTE, {"scope": "user:bob", "query": "x", **fault})
            assert (answer.status, answer.code) == (403, "forbidden"), fault
    for scope in (None, 5, ["user:alice"], {"user:alice": 1}):
        assert alice.post(ROUTE, scope=scope, query=1).status == 403
    assert alice.post(ROUTE, query="x").status == 403
    # Inside the allowance the body is judged as ever.
    refused(alice.post(ROUTE, scope="user:alice", query="x", scopes=["user:bob"]), "unknown parameter: 'scopes'")
    assert alice.post(ROUTE, scope="user:alice!", query="x").code == "memory_scope_invalid"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[]", b"null", b'"x"', b"1"])
def test_a_body_that_is_no_object_is_refused_first(wire, body):
    answer = wire.raw("POST", f"/v1/{ROUTE}", body)
    whole = body in (b"[]", b"null", b'"x"', b"1")
    refused(answer, "request body must be an object" if whole else "request body must be JSON")
    assert wire.as_(None).raw("POST", f"/v1/{ROUTE}", body).status == 401


@pytest.mark.parametrize(
    ("field", "noun", "wrong"),
    [
        ("scope", "a string", [1, True, 1.5, [], ["x"], {}]),
        ("query", "a string", [1, False, 1.5, [], ["x"], {}]),
        ("prefix", "a string", [None, 0, True, [], {}]),
        ("fields", "a list of strings", [None, "path", 1, {}, [1], ["path", None], [["path"]], [True], {"path": 1}]),
        ("metadata_keys", "a list of strings", [None, "k", 1, {}, [1], ["k", None], [["k"]], [{}]]),
        ("limit", "an integer", [None, "1", 1.0, 20.0, 1.5, True, False, [], [1], {}]),
        ("cursor", "a string", [0, 1, True, False, [], ["x"], {}]),
        ("knowledge_policy", "a string", [None, 1, True, [], ["all"], {}]),
    ],
)
def test_a_value_of_another_type_names_its_field(wire, field, noun, wrong):
    for value in wrong:
        body = {**GOOD, "fields": ["metadata"], "metadata_keys": ["k"], field: value}
        refused(wire.post(ROUTE, body), f"parameter '{field}' must be {noun}")


@pytest.mark.parametrize("spelled", ["20.0", "2e1", "1E2", "-0.0"])
def test_a_number_with_a_fraction_or_an_exponent_is_no_integer(wire, spelled):
    body = f'{{"scope":"{SCOPE}","query":"x","limit":{spelled}}}'.encode()
    refused(wire.raw("POST", f"/v1/{ROUTE}", body), "parameter 'limit' must be an integer")


@pytest.mark.parametrize("name", ["scope", "query"])
def test_what_is_required_is_missing_when_absent_or_null(wire, name):
    refused(
        wire.post(ROUTE, {key: value for key, value in GOOD.items() if key != name}), f"missing parameter: '{name}'"
    )
    refused(wire.post(ROUTE, {**GOOD, name: None}), f"missing parameter: '{name}'")


def test_sg_09_only_the_cursor_may_be_null(wire):
    for name in ("prefix", "fields", "metadata_keys", "limit", "knowledge_policy"):
        answer = wire.post(ROUTE, {**GOOD, name: None})
        assert (answer.status, answer.code) == (400, "value_error")
        assert answer.message.startswith(f"parameter '{name}' must be ")
    assert wire.ok(ROUTE, GOOD, cursor=None) == {"hits": [], "next_cursor": None}


@pytest.mark.parametrize(
    "key", ["scopes", "actor", "Scope", "limit ", "since", "", "offset", "knowledge-policy", "path"]
)
@pytest.mark.parametrize("value", [None, 1, "x"])
def test_sg_11_an_unknown_key_is_refused_whatever_it_holds(wire, key, value):
    refused(wire.post(ROUTE, {**GOOD, key: value}), f"unknown parameter: '{key}'")


def test_unknown_keys_are_named_in_sorted_order(wire):
    refused(wire.post(ROUTE, {"z": 1, "b": 1, "B": 1, **GOOD, "a": 1}), "unknown parameter: 'B'")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        # SG-12
        ({"query": ""}, "query must be 1 to 1024 characters"),
        ({"query": "x" * 1025}, "query must be 1 to 1024 characters"),
        ({"query": "😀" * 1025}, "query must be 1 to 1024 characters"),
        ({"query": " " * 1025}, "query must be 1 to 1024 characters"),
        ({"query": "\u3000\u0085"}, "query must hold 1 to 16 terms"),
        ({"query": " ".join("abcdefghijklmnopq")}, "query must hold 1 to 16 terms"),
        # Counted before duplicates go.
        ({"query": "x " * 17}, "query must hold 1 to 16 terms"),
        ({"prefix": "x" * 1025}, "prefix must be at most 1024 bytes"),
        ({"prefix": "é" * 513}, "prefix must be at most 1024 bytes"),
        # SG-10
        ({"limit": 0}, "limit must be 1 to 100"),
        ({"limit": 101}, "limit must be 1 to 100"),
        ({"limit": -1}, "limit must be 1 to 100"),
        ({"limit": 2**63}, "limit must be 1 to 100"),
        ({"limit": -(10**4000)}, "limit must be 1 to 100"),
        ({"fields": []}, FIELDS),
        ({"fields": ["path", "path"]}, FIELDS),
        ({"fields": ["path", "title"]}, FIELDS),
        ({"fields": ["Path"]}, FIELDS),
        ({"fields": ["path", "content", "metadata", "path"]}, FIELDS),
        ({"fields": [""]}, FIELDS),
        # SG-08
        ({"fields": ["metadata"]}, KEYS),
        ({"fields": ["metadata"], "metadata_keys": []}, KEYS),
        ({"fields": ["metadata"], "metadata_keys": [f"k{n}" for n in range(9)]}, KEYS),
        ({"fields": ["metadata"], "metadata_keys": ["k", "k"]}, KEYS),
        ({"metadata_keys": ["k"]}, "metadata_keys needs the metadata field"),
        ({"fields": ["path"], "metadata_keys": ["k"]}, "metadata_keys needs the metadata field"),
        ({"fields": ["metadata"], "metadata_keys": [""]}, KEY),
        ({"fields": ["metadata"], "metadata_keys": ["k", "x" * 129]}, KEY),
        ({"fields": ["metadata"], "metadata_keys": ["😀" * 129]}, KEY),
        ({"knowledge_policy": ""}, POLICY),
        ({"knowledge_policy": "draft"}, POLICY),
        ({"knowledge_policy": "effective "}, POLICY),
    ],
)
def test_a_value_out_of_its_bounds_is_refused(wire, more, message):
    refused(wire.post(ROUTE, {**GOOD, **more}), message)


@pytest.mark.parametrize(
    "more",
    [
        {"query": "x" * 1024},
        {"query": "😀" * 1024},
        {"query": "x" + " " * 1023},
        {"query": " ".join("abcdefghijklmnop")},
        {"query": "x " * 16},
        {"prefix": "x" * 1024},
        {"prefix": "é" * 512},
        {"prefix": ""},
        {"limit": 1},
        {"limit": 100},
        {"fields": ["metadata", "content", "path"], "metadata_keys": ["k" * 128, *"1234567"]},
        {"fields": ["metadata"], "metadata_keys": ["😀" * 128]},
        {"metadata_keys": []},
        {"knowledge_policy": "effective"},
    ],
)
def test_a_value_on_its_bound_is_taken(wire, more):
    assert wire.ok(ROUTE, {**GOOD, **more}) == {"hits": [], "next_cursor": None}


def test_sixteen_terms_and_a_thousand_characters_really_are_looked_for(wire):
    letters = "abcdefghijklmnop"
    wire.ok("memory/write", scope=SCOPE, path="0", content=letters[::-1])
    wire.ok("memory/write", scope=SCOPE, path="1", content=letters[1:])
    body = {"scope": SCOPE, "fields": ["content"]}
    assert paths(wire.ok(ROUTE, body, query=" ".join(letters.upper()))) == ["0"]
    assert paths(wire.ok(ROUTE, body, query=" ".join(letters[1:]))) == ["0", "1"]
    long = "İéx" * 341 + "y"
    wire.ok("memory/write", scope=SCOPE, path="2", content=f"-{long}-")
    wire.ok("memory/write", scope=SCOPE, path="3", content=f"-{long[:-1]}-")
    assert paths(wire.ok(ROUTE, body, query=long)) == ["2"]
    assert paths(wire.ok(ROUTE, body, query=long[:-1])) == ["2", "3"]


SURROGATES = ["\ud83d", "\udc00", "x\ud800y", "\udc00\ud83d"]


@pytest.mark.parametrize("half", SURROGATES, ids=ascii)
def test_half_a_character_anywhere_is_refused(wire, half):
    for name, more in (
        ("scope", {"scope": half}),
        ("query", {"query": half}),
        ("prefix", {"prefix": half}),
        ("metadata_keys", {"fields": ["metadata"], "metadata_keys": ["k", half]}),
    ):
        refused(wire.post(ROUTE, {**GOOD, **more}), f"parameter '{name}' holds a lone surrogate")
    refused(wire.post(ROUTE, {**GOOD, "fields": [half]}), FIELDS)
    refused(wire.post(ROUTE, {**GOOD, "cursor": half}), MALFORMED)
    refused(wire.post(ROUTE, {**GOOD, "knowledge_policy": half}), POLICY)
    assert wire.post(ROUTE, {**GOOD, half: 1}).code == "value_error"


def test_a_nul_is_legal_text_that_nothing_holds(wire, django_assert_num_queries):
    restore(wire, {"path": "a", "content": "term", "extra": {"k": "term"}})
    metadata = {"fields": ["content", "metadata"]}
    with django_assert_num_queries(0):
        for more in (
            {"query": "\0"},
            {"query": "term \0"},
            {"query": "te\0rm"},
            {"prefix": "\0"},
            {"prefix": "a\0"},
            {"query": "\0", "metadata_keys": ["k"], **metadata},
        ):
            assert wire.ok(ROUTE, {**GOOD, **more}) == {"hits": [], "next_cursor": None}
    # A key that nothing holds leaves the rest of the search as it is.
    assert paths(wire.ok(ROUTE, GOOD, metadata_keys=["\0", "a\0"], **metadata)) == ["a"]


# Cursors


def test_a_cursor_is_bound_to_everything_but_its_limit(two):
    body = {**GOOD, "prefix": "", "fields": ["path", "content"], "metadata_keys": [], "knowledge_policy": "all"}
    cursor = two.ok(ROUTE, GOOD, limit=1)["next_cursor"]
    # Defaults spelled out are the same search, and so is another order of fields.
    for same in ({}, body, {**body, "fields": ["content", "path"]}, {"limit": 1}, {"limit": 100}):
        assert paths(two.ok(ROUTE, {**GOOD, **same}, cursor=cursor)) == ["b"]
    for change in (
        {"query": "TERM"},
        {"query": "term term"},
        {"query": "term "},
        {"scope": "workspace:other"},
        {"prefix": "b"},
        {"fields": ["content"]},
        {"fields": ["path", "content", "metadata"], "metadata_keys": ["k"]},
        {"knowledge_policy": "effective"},
    ):
        refused(two.post(ROUTE, {**body, **change}, cursor=cursor), FOREIGN)


def test_the_order_of_metadata_keys_is_no_part_of_a_search(two):
    body = {**GOOD, "fields": ["metadata", "content"], "metadata_keys": ["k", "j"]}
    cursor = two.ok(ROUTE, body, limit=1)["next_cursor"]
    assert paths(two.ok(ROUTE, {**body, "metadata_keys": ["j", "k"]}, cursor=cursor)) == ["b"]
    refused(two.post(ROUTE, {**body, "metadata_keys": ["j"]}, cursor=cursor), FOREIGN)


def test_what_was_not_minted_by_a_search_is_refused(two):
    for number in range(3):
        two.ok("memory/write", scope=SCOPE, path="a", content=f"term {number}")
    minted = {
        route: two.ok(route, scope=SCOPE, limit=1, **more)[key]
        for route, key, more in (
            ("memory/list_documents", "next_cursor", {}),
            ("memory/versions", "next_cursor", {"path": "a"}),
            ("memory/history", "next_cursor", {}),
            ("memory/changes", "checkpoint_cursor", {}),
        )
    }
    assert None not in minted.values()
    own = two.ok(ROUTE, GOOD, limit=1)["next_cursor"]
    bind = "0" * 64
    padded = forge(["memory_search", 1, bind, "aa"])
    assert padded.endswith("=")
    forged = [
        ["memory_search", 2, bind, "a"], ["memory_search", "1", bind, "a"], ["memory_search", 1.0, bind, "a"],
        ["memory_search", True, bind, "a"], ["memory_search", 1, bind], ["memory_search", 1, bind, "a", 1],
        ["memory_search", 1, 5, "a"], ["memory_search", 1, bind, 5], ["memory_search", 1, bind, None],
        ["memory_search", 1, bind, "../a"], ["memory_search", 1, bind, ""], ["memory_search", 1, bind, "a b"],
        ["memory_search", 1, bind, "a\0"], ["memory_search", 1, bind, "é"], ["memory_search", 1, bind, "\ud800"],
        ["memory_search", 1, None, "a"], ["mounted_search", 1, bind, "a", None], ["search", 1, bind, "a"], [],
        {"memory_search": 1}, "memory_search", None, 5, "{", "[" * 3000,
        '["memory_search",1,' + "9" * 3000 + ',"a"]',
    ]  # fmt: skip
    strangers = [*minted.values(), *map(forge, forged)]
    strangers += ["x", " ", "=", "====", "!", "é", "\0", own[:-1], padded.rstrip("="), f"{own} ", f" {own}", f"{own}\n"]
    for cursor in strangers:
        refused(two.post(ROUTE, GOOD, cursor=cursor), MALFORMED)
    refused(two.post(ROUTE, GOOD, cursor=padded), FOREIGN)
    refused(two.post(ROUTE, GOOD, cursor=forge(["memory_search", 1, "\ud800", "a"])), FOREIGN)


def test_sg_29_a_cursor_over_4096_bytes_is_refused_before_it_is_read(two, django_assert_num_queries):
    own = json.dumps(["memory_search", 1, "0" * 64, "a"])
    fits, over = forge(own.ljust(3072)), forge(own.ljust(3075))
    assert (len(fits), len(over)) == (4096, 4100)
    with django_assert_num_queries(0):
        refused(two.post(ROUTE, GOOD, cursor=fits), FOREIGN)
        refused(two.post(ROUTE, GOOD, cursor=over), MALFORMED)
        refused(two.post(ROUTE, GOOD, cursor="A" * 4097), MALFORMED)
        refused(two.post(ROUTE, GOOD, cursor="é" * 2049), MALFORMED)


def test_the_cursor_of_the_largest_search_is_short_and_taken_back(wire):
    longest = "/".join(["a" * 127] * 4)
    names = [f"{longest}{last}" for last in "bcd"]
    assert {len(name) for name in names} == {512}
    for name in names:
        wire.ok("memory/write", scope=SCOPE, path=name, content="x" * 1024)
    body = {
        "scope": SCOPE, "query": "x" * 1024, "prefix": longest, "fields": ["content", "metadata"],
        "metadata_keys": [f"{n}" + "é" * 127 for n in range(8)],
    }  # fmt: skip
    first = wire.ok(ROUTE, body, limit=1)
    assert len(first["next_cursor"]) <= 900
    assert paths(first) == names[:1]
    assert paths(wire.ok(ROUTE, body, cursor=first["next_cursor"])) == names[1:]


@pytest.mark.parametrize(
    "more",
    [{"limit": 0}, {"x": 1}, {"scope": "bad"}, {"cursor": "x"}, {"query": " "}, {"prefix": "é"}, {"query": "\0"}],
)
def test_what_needs_no_row_asks_the_database_nothing(two, django_assert_num_queries, more):
    with django_assert_num_queries(0):
        two.post(ROUTE, {**GOOD, **more})
