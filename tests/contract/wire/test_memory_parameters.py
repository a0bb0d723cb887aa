"""What every memory route does with its parameters, written once for all of them."""

from __future__ import annotations

import json

import pytest

from tests.contract.wire.memory_ground import BODIES, filled, stored, unchanged

REQUIRED = [(route, name) for route, body in BODIES.items() for name in body]
TEXTS = REQUIRED + [
    (route, name)
    for route, names in {
        "memory/write": ["actor"],
        "memory/delete": ["actor"],
        "memory/rename": ["actor"],
        "memory/list_documents": ["prefix", "cursor"],
        "memory/versions": ["cursor"],
        "memory/redact": ["path", "actor"],
        "memory/history": ["since", "cursor"],
        "memory/redactions": ["since", "cursor"],
    }.items()
    for name in names
]
PAGED = ["memory/list_documents", "memory/versions", "memory/history", "memory/redactions"]
NUMBERS = [("memory/write", "expected_version"), *((route, "limit") for route in PAGED)]
# The optional parameters, and those that name a document.
OPTIONAL = [pair for pair in TEXTS + NUMBERS if pair not in REQUIRED]
PATHS = [
    ("memory/read", "path"),
    ("memory/write", "path"),
    ("memory/delete", "path"),
    ("memory/rename", "src"),
    ("memory/rename", "dst"),
    ("memory/versions", "path"),
    ("memory/redact", "path"),
]


@pytest.mark.parametrize(("route", "name"), REQUIRED)
@pytest.mark.parametrize("null", [True, False])
def test_a_required_parameter_left_out_or_null_is_missed_by_name(wire, route, name, null):
    filled(wire)
    body = {key: value for key, value in BODIES[route].items() if key != name}
    if null:
        body[name] = None
    with unchanged():
        refused = wire.post(route, body)
    assert (refused.status, refused.code, refused.details) == (400, "value_error", {})
    assert refused.message == f"missing parameter: '{name}'"


@pytest.mark.parametrize(("route", "name"), OPTIONAL)
def test_an_optional_parameter_may_be_null(wire, route, name):
    filled(wire)
    assert wire.post(route, BODIES[route] | {name: None}).status == 200


@pytest.mark.parametrize(("route", "name"), TEXTS)
def test_text_of_another_type_is_refused_by_name(wire, route, name):
    filled(wire)
    with unchanged():
        for value in (0, 1, 1.5, True, False, [], ["x"], {}, {"a": 1}):
            refused = wire.post(route, BODIES[route] | {name: value})
            assert (refused.status, refused.code, refused.details) == (400, "value_error", {}), value
            assert refused.message == f"parameter '{name}' must be a string"


@pytest.mark.parametrize(("route", "name"), NUMBERS)
def test_a_number_of_another_type_is_refused_by_name(wire, route, name):
    filled(wire)
    with unchanged():
        for value in ("5", "", True, False, [], [1], {}):
            refused = wire.post(route, BODIES[route] | {name: value})
            assert (refused.status, refused.code, refused.details) == (400, "value_error", {}), value
            assert refused.message == f"parameter '{name}' must be an integer"


@pytest.mark.parametrize(("route", "name"), NUMBERS)
@pytest.mark.parametrize("spelling", ["1.0", "1.5", "1e2", "-0.0", "1E0", "1e999"])
def test_a_number_spelled_with_a_fraction_or_an_exponent_is_no_integer(wire, route, name, spelling):
    filled(wire)
    body = json.dumps(BODIES[route])[:-1] + f', "{name}": {spelling}}}'
    with unchanged():
        refused = wire.raw("POST", f"/v1/{route}", body.encode())
    assert (refused.status, refused.code) == (400, "value_error")
    assert refused.message == f"parameter '{name}' must be an integer"


@pytest.mark.parametrize("route", PAGED)
def test_minus_zero_is_zero(wire, route):
    filled(wire)
    body = json.dumps(BODIES[route])[:-1] + ', "limit": -0}'
    answer = wire.raw("POST", f"/v1/{route}", body.encode())
    assert answer.status == 200
    assert list(answer.json.values()) == [[], None]


@pytest.mark.parametrize("route", BODIES)
def test_a_bad_scope_is_refused_and_nothing_is_made(wire, route):
    with unchanged():
        for scope in ("", " ", "user", "user:a ", "User:a", "user:a/b", "user:a%2Fb", "user:..", "é:a", "user:a\n"):
            refused = wire.post(route, BODIES[route] | {"scope": scope})
            assert (refused.status, refused.code) == (400, "memory_scope_invalid"), scope
            assert list(refused.details) == ["scope", "reason"]
            assert refused.details["scope"] == scope
            assert refused.message == f"Invalid memory scope {scope!r}: {refused.details['reason']}"


@pytest.mark.parametrize(("route", "name"), PATHS)
def test_a_bad_path_is_refused_and_nothing_is_made(wire, route, name):
    filled(wire)
    with unchanged():
        for path in ("", " ", "/x", "x/", "a//b", "..", "x/./y", "a b", "a:b", "a%2Fb", "a\\b", "ünï/名", "x\n"):
            refused = wire.post(route, BODIES[route] | {name: path})
            assert (refused.status, refused.code) == (400, "memory_path_invalid"), path
            assert list(refused.details) == ["path", "reason"]
            assert refused.details["path"] == path
            assert refused.message == f"Invalid memory document path {path!r}: {refused.details['reason']}"


@pytest.mark.parametrize(("route", "name"), TEXTS + NUMBERS)
def test_a_mistyped_parameter_is_refused_before_a_bad_scope(wire, route, name):
    refused = wire.post(route, BODIES[route] | {"scope": "bad"} | {name: [0]})
    assert (refused.status, refused.code) == (400, "value_error")
    assert refused.message.startswith(f"parameter '{name}' must be ")


@pytest.mark.parametrize("route", BODIES)
def test_types_are_judged_from_left_to_right(wire, route):
    names = [name for other, name in TEXTS + NUMBERS if other == route]
    order = {
        "memory/read": ["scope", "path"],
        "memory/write": ["scope", "path", "content", "actor", "expected_version"],
        "memory/delete": ["scope", "path", "actor"],
        "memory/rename": ["scope", "src", "dst", "actor"],
        "memory/list_documents": ["scope", "prefix", "cursor", "limit"],
        "memory/versions": ["scope", "path", "cursor", "limit"],
        "memory/redact": ["scope", "path", "actor"],
        "memory/history": ["scope", "since", "cursor", "limit"],
        "memory/redactions": ["scope", "since", "cursor", "limit"],
    }[route]
    assert sorted(order) == sorted(names)
    for place, name in enumerate(order):
        body = BODIES[route] | {later: [0] for later in reversed(order[place:])}
        assert f"'{name}'" in wire.post(route, body).message


@pytest.mark.parametrize("route", PAGED)
def test_limits_scopes_and_cursors_are_judged_in_the_contracts_order(wire, route):
    body = BODIES[route] | {"scope": "bad", "cursor": "bad"}
    assert wire.post(route, body | {"limit": -1}).code == "value_error"
    assert "limit" in wire.post(route, body | {"limit": -1}).message
    for limit in (0, 1, None):
        assert wire.post(route, body | {"limit": limit}).code == "memory_scope_invalid"
    assert wire.post(route, body | {"scope": "user:a"}).code == "value_error"


def test_a_bad_path_of_versions_is_refused_before_its_cursor(wire):
    for limit in (0, 1):
        refused = wire.post("memory/versions", scope="user:a", path="..", cursor="bad", limit=limit)
        assert refused.code == "memory_path_invalid"


@pytest.mark.parametrize("route", ["memory/history", "memory/redactions"])
def test_a_bad_since_is_refused_before_a_bad_scope(wire, route):
    assert wire.post(route, scope="bad", since="yesterday").code == "value_error"


def test_a_bad_path_is_refused_before_the_guard(wire):
    assert (
        wire.post("memory/write", scope="user:a", path="..", content="", expected_version=9).code
        == "memory_path_invalid"
    )


@pytest.mark.parametrize("route", BODIES)
def test_unknown_keys_are_ignored(wire, route):
    filled(wire)
    extra = {"": 1, "Scope": 1, "path ": [], "limit\x00": "x", "conversation_id": "c", "conversations": 5, "é": None}
    assert wire.post(route, extra | BODIES[route]).status == 200


@pytest.mark.parametrize("route", BODIES)
def test_a_half_character_in_an_ignored_key_or_value_harms_nothing(wire, route):
    filled(wire)
    body = json.dumps({"\ud83d": "\udc00"} | BODIES[route])
    assert r"\ud83d" in body
    assert wire.raw("POST", f"/v1/{route}", body.encode()).status == 200


@pytest.mark.parametrize("route", BODIES)
def test_a_repeated_key_keeps_its_last_value(wire, route):
    filled(wire)
    good = json.dumps(BODIES[route])
    assert wire.raw("POST", f"/v1/{route}", good.replace("{", '{"scope": 1,', 1).encode()).status == 200
    with unchanged():
        refused = wire.raw("POST", f"/v1/{route}", (good[:-1] + ', "scope": 1}').encode())
    assert refused.message == "parameter 'scope' must be a string"


@pytest.mark.parametrize("route", BODIES)
def test_a_body_that_is_no_object_is_refused(wire, route):
    for body in (b"", b"{", b"NaN", b'{"scope": NaN}', b"\xff", b"{} {}"):
        refused = wire.raw("POST", f"/v1/{route}", body)
        assert (refused.status, refused.code, refused.message) == (400, "value_error", "request body must be JSON")
    for body in (b"[]", b"null", b'"x"', b"1"):
        refused = wire.raw("POST", f"/v1/{route}", body)
        assert (refused.status, refused.code, refused.message) == (400, "value_error", "request body must be an object")


# Text no store can give back


@pytest.mark.parametrize(("route", "name"), [(route, "scope") for route in BODIES] + PATHS)
def test_a_nul_or_half_character_in_a_name_is_outside_its_grammar(wire, route, name):
    filled(wire)
    kind = "scope" if name == "scope" else "path"
    with unchanged():
        for text in ("a\x00b", "\x00", "\ud83d", "a\udc00b", "\udc00\ud83d", "user:a\x00", "user:a\ud800"):
            refused = wire.post(route, BODIES[route] | {name: text})
            assert (refused.status, refused.code) == (400, f"memory_{kind}_invalid"), ascii(text)
            # No half character ever leaves the server.
            assert refused.details[kind] == text.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(
    ("route", "name"),
    [
        ("memory/write", "content"),
        ("memory/write", "actor"),
        ("memory/delete", "actor"),
        ("memory/rename", "actor"),
        ("memory/redact", "actor"),
    ],
)
@pytest.mark.parametrize("text", ["a\x00b", "\x00", "end\x00", "\ud83d", "\udc00\ud83d", "😀\ud83d"], ids=ascii)
def test_a_nul_or_half_character_in_stored_text_is_refused_whole(wire, route, name, text):
    filled(wire)
    with unchanged():
        refused = wire.post(route, BODIES[route] | {name: text})
    assert (refused.status, refused.code, refused.details) == (400, "value_error", {})
    assert f"'{name}'" in refused.message


@pytest.mark.parametrize("name", ["content", "actor"])
def test_refused_text_makes_no_scope(wire, name):
    assert wire.post("memory/write", BODIES["memory/write"] | {name: "\x00"}).status == 400
    assert stored()["memory_scope"] == []


@pytest.mark.parametrize(
    ("route", "name"),
    [(route, name) for route, name in TEXTS if name in ("cursor", "since")],
)
@pytest.mark.parametrize("text", ["a\x00b", "\x00", "\ud83d", "2026-01-01T00:00:00Z\x00"], ids=ascii)
def test_a_nul_or_half_character_in_a_cursor_or_time_is_refused(wire, route, name, text):
    filled(wire)
    refused = wire.post(route, BODIES[route] | {name: text})
    assert (refused.status, refused.code, refused.details) == (400, "value_error", {})


def test_a_whole_pair_is_one_character_and_comes_back(wire):
    body = b'{"scope":"user:a","path":"x","content":"\\ud83d\\ude00","actor":"\\ud83d\\ude00"}'
    document = wire.raw("POST", "/v1/memory/write", body).json["document"]
    assert (document["content"], document["actor"]) == ("😀", "client:default/😀")
