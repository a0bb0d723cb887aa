"""What the published files say of names, grants, profiles and refusals is what the code does."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from authz import grants_file
from authz.names import check_actor
from conversations import errors as conversation_errors
from memory import errors as memory_errors
from neosian_site import contracts
from neosian_site.api.wire.errors import TABLE
from neosian_site.core.errors import InvalidValue
from neosian_site.core.names import conversation_fault, path_fault, scope_fault

STATE = contracts.load("state")
ERRORS = contracts.load("errors")
GRANTS = Draft202012Validator(contracts.load("grants"))
PROFILE = Draft202012Validator(contracts.load("profile"))


def definition(document: dict[str, Any], name: str) -> Draft202012Validator:
    return Draft202012Validator(document["$defs"][name])


# --- Names -----------------------------------------------------------------------------------------------------------


def actor_fault(name: str) -> str | None:
    try:
        check_actor(name)
    except InvalidValue as error:
        return str(error)
    return None


ACTOR = Draft202012Validator(contracts.load("grants")["$defs"]["client"]["properties"]["actor"])
GRAMMARS = {
    "scope": (definition(STATE, "scope"), scope_fault),
    "path": (definition(STATE, "path"), path_fault),
    "conversation_id": (definition(STATE, "conversation_id"), conversation_fault),
    "actor": (ACTOR, actor_fault),
}
# Short pieces that meet at every border of the grammars.
PIECES = st.sampled_from(
    ["a", "user", "user:a", "Z9", ".", "..", "...", ":", "/", "#", "#0", "#12", "-", "_", "\n", " ", "é", "a" * 32]
)
NAMES = st.lists(PIECES, max_size=8).map("".join)
EDGES = [
    "a" * 128,
    "a" * 129,
    "user:" + "a" * 128,
    "user:" + "a" * 129,
    "u" * 32 + ":a",
    "u" * 33 + ":a",
    "/".join(["u:a"] * 8),
    "/".join(["u:a"] * 9),
    "/".join(["a"] * 16),
    "/".join(["a"] * 17),
    "/".join(["a" * 127] * 4),
    "/".join(["a" * 128] * 4),
    "/".join(["u:" + "a" * 126] * 4),
    "/".join(["u:" + "a" * 125] * 4),
    "user:a\n",
    "a\n",
    "user:..\n",
]


def _same(kind: str, name: str) -> None:
    validator, fault = GRAMMARS[kind]
    assert validator.is_valid(name) is (fault(name) is None), name


@pytest.mark.parametrize("kind", GRAMMARS)
@pytest.mark.parametrize("name", EDGES, ids=range(len(EDGES)))
def test_a_pattern_ends_where_the_grammar_ends(kind, name):
    _same(kind, name)


@given(kind=st.sampled_from(sorted(GRAMMARS)), name=NAMES)
def test_a_pattern_allows_a_name_exactly_when_the_code_does(kind, name):
    _same(kind, name)


def test_one_grammar_is_written_alike_wherever_it_stands():
    for name in ("scope", "path", "timestamp"):
        assert contracts.load("changes")["$defs"][name] == STATE["$defs"][name]
    pattern = STATE["$defs"]["scope"]["pattern"]
    assert contracts.load("grants")["$defs"]["scope_grant"]["properties"]["scope"]["pattern"] == pattern
    assert contracts.load("profile")["$defs"]["mount"]["properties"]["scope"]["pattern"] == pattern


# --- Refusals --------------------------------------------------------------------------------------------------------

REFUSALS = [
    memory_errors.ScopeInvalid("s", "r"),
    memory_errors.PathInvalid("p", "r"),
    memory_errors.DocumentNotFound("s", "p"),
    memory_errors.VersionMismatch("s", "p", expected_version=1, actual_version=2),
    memory_errors.DocumentAbsent("s", "p", expected_version=1),
    memory_errors.DestinationExists("s", "p"),
    memory_errors.ScopeOccupied("s"),
    memory_errors.MemoryFormatUnsupported("s", None, "r"),
    conversation_errors.ConversationIdInvalid("c", "r"),
    conversation_errors.ConversationOccupied("c"),
    conversation_errors.ConversationFormatUnsupported("c", "r"),
]
ACTIVE = {entry["code"]: entry for entry in ERRORS["active"]}


def code_of(error: Exception) -> str:
    return next(TABLE[kind][0] for kind in type(error).__mro__ if kind in TABLE)


def test_active_codes_are_those_the_server_has_with_their_statuses():
    served: dict[str, set[int]] = {}
    for code, status in TABLE.values():
        served.setdefault(code, set()).add(status)
    assert {code: set(entry["status"]) for code, entry in ACTIVE.items()} == served


def test_a_code_stands_once():
    codes = [entry["code"] for entry in ERRORS["active"] + ERRORS["reserved"]]
    assert len(set(codes)) == len(codes)


def test_every_entry_has_the_same_keys():
    for entry in ERRORS["active"] + ERRORS["reserved"]:
        assert list(entry)[:5] == ["code", "status", "where", "meaning", "details"]
        assert entry["where"]
        assert entry["meaning"].endswith(".")


@pytest.mark.parametrize("error", REFUSALS, ids=lambda error: type(error).__name__)
def test_the_details_of_a_code_are_those_the_refusal_carries(error):
    entry = ACTIVE[code_of(error)]
    assert list(entry["details"]) == list(error.details())
    if "reasons" in entry:
        assert error.details()["reason"] in entry["reasons"]
    shape = Draft202012Validator(STATE["$defs"][f"error_{entry['code']}"])
    shape.validate({"code": entry["code"], "message": str(error), "details": error.details()})


def test_every_family_of_refusals_with_details_is_tried_above():
    plain = {"value_error", "forbidden"}
    assert {code_of(error) for error in REFUSALS} == ACTIVE.keys() - plain
    assert all(ACTIVE[code]["details"] == {} for code in plain)


def test_the_envelope_knows_the_active_codes_and_the_one_of_lesser_stores():
    envelope = STATE["$defs"]["error_envelope"]["properties"]["error"]["oneOf"]
    codes = [entry["$ref"].removeprefix("#/$defs/error_") for entry in envelope]
    assert codes == [*ACTIVE, "agent_configuration_error"]
    assert "agent_configuration_error" in {entry["code"] for entry in ERRORS["reserved"]}


# --- Grants ----------------------------------------------------------------------------------------------------------

READER = {
    "grant_format": 1,
    "clients": [
        {
            "actor": "client:reader",
            "operator": False,
            "scopes": [{"scope": "workspace:team", "read": True}],
            "conversations": [{"prefix": "w-1-", "read": True}, {"ids": ["a", "b"], "append": True}],
        }
    ],
}


def _as_toml(value: Any) -> str:
    """A document of grants as inline TOML, whatever is wrong with it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_as_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    return json.dumps(value)


def accepted(document: dict[str, Any]) -> bool:
    text = "\n".join(f"{json.dumps(key)} = {_as_toml(item)}" for key, item in document.items())
    assert tomllib.loads(text) == document
    try:
        grants_file.parse(text.encode())
    except grants_file.GrantsRefused:
        return False
    return True


def _set(*path: str | int, to: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        document[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        del document[path[-1]]

    return change


CLIENT = ("clients", 0)
GRANT_CHANGES = {
    "as it is": (lambda _: None, True),
    "no clients": (_set("clients", to=[]), True),
    "clients left out": (_drop("clients"), True),
    "operator": (_set(*CLIENT, "operator", to=True), True),
    "nothing granted": (_set("clients", to=[{"actor": "client:a"}]), True),
    "a turn of a client": (_set(*CLIENT, "actor", to="client:a/b:c#3"), True),
    "no format": (_drop("grant_format"), False),
    "format 2": (_set("grant_format", to=2), False),
    "format as text": (_set("grant_format", to="1"), False),
    "format true": (_set("grant_format", to=True), False),
    "an unknown key": (_set("reads", to=[]), False),
    "an unknown key of a client": (_set(*CLIENT, "reads", to=True), False),
    "an unknown key of a scope": (_set(*CLIENT, "scopes", 0, "append", to=True), False),
    "an unknown key of conversations": (_set(*CLIENT, "conversations", 0, "write", to=True), False),
    "clients a table": (_set("clients", to={}), False),
    "no actor": (_drop(*CLIENT, "actor"), False),
    "an actor with an allowance": (_set(*CLIENT, "actor", to="client:a@user:a"), False),
    "read as a number": (_set(*CLIENT, "scopes", 0, "read", to=1), False),
    "operator as text": (_set(*CLIENT, "operator", to="true"), False),
    "a scope outside its grammar": (_set(*CLIENT, "scopes", 0, "scope", to="team"), False),
    "no scope": (_drop(*CLIENT, "scopes", 0, "scope"), False),
    "both prefix and ids": (_set(*CLIENT, "conversations", 0, "ids", to=["a"]), False),
    "neither prefix nor ids": (_drop(*CLIENT, "conversations", 0, "prefix"), False),
    "no ids": (_set(*CLIENT, "conversations", 1, "ids", to=[]), False),
    "an id twice": (_set(*CLIENT, "conversations", 1, "ids", to=["a", "a"]), False),
    "an id of two segments": (_set(*CLIENT, "conversations", 1, "ids", to=["a/b"]), False),
    "an empty prefix": (_set(*CLIENT, "conversations", 0, "prefix", to=""), False),
    "a prefix of 129": (_set(*CLIENT, "conversations", 0, "prefix", to="a" * 129), False),
    "a prefix of dots": (_set(*CLIENT, "conversations", 0, "prefix", to=".."), True),
}


@pytest.mark.parametrize(("change", "fits"), GRANT_CHANGES.values(), ids=GRANT_CHANGES)
def test_the_schema_of_grants_takes_what_the_loader_takes(change, fits):
    document = copy.deepcopy(READER)
    change(document)
    assert (GRANTS.is_valid(document), accepted(document)) == (fits, fits)


# --- Profiles --------------------------------------------------------------------------------------------------------

WORK = tomllib.loads(
    """
profile_format = 1
name = "work"
workspace_id = "11111111-2222-4333-8444-555555555555"
revision = 3
knowledge_policy = "all"
[[sources]]
name = "team"
kind = "http"
url = "https://memory.example"
token_env = "TEAM_MEMORY_TOKEN"
[[sources]]
name = "mine"
kind = "local"
project = "default"
[[mounts]]
path = "project"
source = "team"
scope = "workspace:team"
mode = "rw"
inject = "index"
description = ""
[capture]
consent = "none"
source = "team"
mount = "project"
[skills]
builtins = ["upkeep"]
pins = [{ path = "/project/skills/release", sha256 = "%s" }]
"""
    % ("0d" * 32)
)
PROFILE_CHANGES = {
    "as it is": (lambda _: None, True),
    "no skills": (_drop("skills"), True),
    "no policy": (_drop("knowledge_policy"), True),
    "the default project": (_drop("sources", 1, "project"), True),
    "consent none alone": (_set("capture", to={"consent": "none"}), True),
    "consent local without a place": (_set("capture", to={"consent": "local"}), False),
    "no consent": (_drop("capture"), False),
    "format 2": (_set("profile_format", to=2), False),
    "a name with a slash": (_set("name", to="a/b"), False),
    "a workspace without dashes": (_set("workspace_id", to="1" * 32), False),
    "revision 0": (_set("revision", to=0), False),
    "an unknown key": (_set("token", to="secret"), False),
    "an unknown key of a source": (_set("sources", 0, "token", to="secret"), False),
    "a file source": (_set("sources", 0, "kind", to="file"), False),
    "an http source without a token": (_drop("sources", 0, "token_env"), False),
    "an http source with a project": (_set("sources", 0, "project", to="default"), False),
    "a local source with an address": (_set("sources", 1, "url", to="https://x"), False),
    "a token for a variable's name": (_set("sources", 0, "token_env", to="a-b"), False),
    "no sources": (_set("sources", to=[]), False),
    "17 sources": (lambda document: document.update(sources=document["sources"][:1] * 17), False),
    "32 mounts": (lambda document: document.update(mounts=document["mounts"] * 32), True),
    "33 mounts": (lambda document: document.update(mounts=document["mounts"] * 33), False),
    "a mount of two segments": (_set("mounts", 0, "path", to="a/b"), False),
    "a mode nobody knows": (_set("mounts", 0, "mode", to="wo"), False),
    "a built-in nobody knows": (_set("skills", "builtins", to=["other"]), False),
    "a short digest": (_set("skills", "pins", 0, "sha256", to="0d"), False),
}


@pytest.mark.parametrize(("change", "fits"), PROFILE_CHANGES.values(), ids=PROFILE_CHANGES)
def test_the_schema_of_profiles_takes_what_the_format_takes(change, fits):
    document = copy.deepcopy(WORK)
    change(document)
    assert PROFILE.is_valid(document) is fits
