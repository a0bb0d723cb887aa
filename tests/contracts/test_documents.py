"""The published files are sound by the standard validators, offline, and say what the code does."""

from __future__ import annotations

import json
import re
import socket
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator, validate
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from neosian_site import contracts

FOLDER = Path(contracts.__file__).parent
BASE = "file:///contracts/"
# Nothing is fetched: what is not here is an error.
REGISTRY: Registry[Any] = Registry().with_resources(
    (BASE + file, Resource(contracts.load(name), DRAFT202012)) for name, file in contracts.FILES.items()
)
SCHEMAS = [name for name, file in contracts.FILES.items() if file.endswith(".schema.json")]


@pytest.fixture(autouse=True)
def _offline(monkeypatch):
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a contract was looked for on the network")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def walk(node: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    yield pointer, node
    steps = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, inner in steps:
        yield from walk(inner, f"{pointer}/{str(step).replace('~', '~0').replace('/', '~1')}")


def checked(name: str, pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"{BASE}{contracts.FILES[name]}#{pointer}"}, registry=REGISTRY)


def examples() -> list[Any]:
    found = []
    for pointer, node in walk(contracts.load("wire")):
        if isinstance(node, dict) and "schema" in node and "example" in node:
            found.append(pytest.param(f"{pointer}/schema", node["example"], id=pointer.replace("~1", "/")))
    return found


def test_every_file_of_the_folder_is_a_contract_and_every_contract_a_file():
    files = {path.name for path in FOLDER.iterdir() if path.suffix == ".json"}
    assert files == set(contracts.FILES.values())


@pytest.mark.parametrize("name", contracts.names())
def test_a_file_is_pretty_printed_json_and_nothing_else(name):
    text = contracts.content(name).decode()
    assert text == json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n"


def test_identifiers_are_names_and_no_addresses():
    found = [contracts.identifier(name) for name in contracts.names()]
    assert len(set(found)) == len(found)
    for name, identifier in zip(contracts.names(), found, strict=True):
        assert re.fullmatch(rf"urn:neosian-site:contract:{name}:[1-9]", identifier)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one_of_2020_12(name):
    document = contracts.load(name)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(document)


def test_the_wire_is_openapi_3_1_1():
    document = contracts.load("wire")
    assert document["openapi"] == "3.1.1"
    validate(document, base_uri=(FOLDER / contracts.FILES["wire"]).as_uri(), cls=OpenAPIV31SpecValidator)


def test_the_schemas_within_the_wire_are_sound():
    for pointer, node in walk(contracts.load("wire")):
        if pointer.endswith("/schema"):
            Draft202012Validator.check_schema(node)


@pytest.mark.parametrize("name", contracts.names())
def test_every_reference_resolves_beside_the_file(name):
    resolver = REGISTRY.resolver(BASE + contracts.FILES[name])
    references = {node["$ref"] for _, node in walk(contracts.load(name)) if isinstance(node, dict) and "$ref" in node}
    for reference in references:
        assert isinstance(resolver.lookup(reference).contents, dict)
        assert reference.startswith("#") or reference.partition("#")[0] in contracts.FILES.values()


def test_every_definition_is_referred_to():
    """A definition nobody uses promises a shape nobody answers."""
    for name in ("state", "changes", "grants", "profile"):
        used = {
            node["$ref"].rpartition("/")[2]
            for other in contracts.names()
            for _, node in walk(contracts.load(other))
            if isinstance(node, dict) and "$ref" in node
        }
        assert contracts.load(name)["$defs"].keys() - used == set()


@pytest.mark.parametrize(("pointer", "example"), examples())
def test_an_example_is_what_its_schema_describes(pointer, example):
    checked("wire", pointer).validate(example)


def test_every_route_has_an_example_of_its_request_and_its_answer():
    for path, item in contracts.load("wire")["paths"].items():
        for operation in item.values():
            assert "example" in operation["responses"]["200"]["content"]["application/json"], path
            if "requestBody" in operation:
                assert "example" in operation["requestBody"]["content"]["application/json"], path


def test_the_archive_is_enough_to_resolve_every_reference(tmp_path):
    with zipfile.ZipFile(BytesIO(contracts.archive())) as zipped:
        zipped.extractall(tmp_path)
    wire = tmp_path / "wire-v6.openapi.json"
    validate(json.loads(wire.read_text()), base_uri=wire.as_uri(), cls=OpenAPIV31SpecValidator)
    unpacked: Registry[Any] = Registry().with_resources(
        (path.as_uri(), Resource(json.loads(path.read_text()), DRAFT202012)) for path in tmp_path.iterdir()
    )
    pointer = "/paths/~1v1~1memory~1read/post/responses/200/content/application~1json/schema"
    validator = Draft202012Validator({"$ref": f"{wire.as_uri()}#{pointer}"}, registry=unpacked)
    assert validator.is_valid({"document": None})
    assert not validator.is_valid({"document": {"scope": "user:a"}})


# --- The wire --------------------------------------------------------------------------------------------------------


def test_only_health_asks_for_no_token():
    document = contracts.load("wire")
    assert document["security"] == [{"bearer": []}]
    assert document["components"]["securitySchemes"] == {"bearer": {"type": "http", "scheme": "bearer"}}
    operations = {path: operation for path, item in document["paths"].items() for operation in item.values()}
    assert [path for path, operation in operations.items() if "security" in operation] == ["/health"]
    assert operations["/health"]["security"] == []
    assert [path for path, operation in operations.items() if "401" not in operation["responses"]] == ["/health"]


def test_there_are_two_get_routes_and_twenty_four_post_routes():
    paths = contracts.load("wire")["paths"]
    assert [path for path, item in paths.items() if list(item) == ["get"]] == ["/health", "/v1/capabilities"]
    posts = [path for path, item in paths.items() if list(item) == ["post"]]
    assert len(posts) == 24
    optional = [path for path in posts if "404" in paths[path]["post"]["responses"]]
    assert optional == ["/v1/memory/search", "/v1/memory/changes", "/v1/memory/prune_changes"]


STATUSES = {"200", "400", "401", "403", "405", "413", "500", "503"}


def test_every_post_route_documents_every_status_it_can_answer():
    for path, item in contracts.load("wire")["paths"].items():
        if "post" in item:
            assert item["post"]["responses"].keys() - {"404"} == STATUSES, path


BODY = "/post/requestBody/content/application~1json/schema"


def request(route: str) -> Draft202012Validator:
    return checked("wire", f"/paths/~1v1~1{route.replace('/', '~1')}{BODY}")


WRITE = {"scope": "user:a", "path": "x", "content": ""}
SEARCH = {"scope": "user:a", "query": "x"}
RESTORE_TURN = {"conversation_id": "c", "turn": 1, "messages": [{"role": "user"}], "created_at": "2026-01-01T00:00:00Z"}


def restored(**more: Any) -> dict[str, Any]:
    return {"conversation_id": "c", "turns": [{**RESTORE_TURN, **more}], "projections": []}


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memory/write", {**WRITE, "actor": None, "expected_version": None, "unknown": 1}),
        ("memory/write", {**WRITE, "expected_version": -1}),
        ("memory/redact", {"scope": "user:a", "path": None}),
        ("memory/history", {"scope": "user:a", "since": "2026-01-01T00:00:00+02:00", "limit": 10**30}),
        ("memory/search", {**SEARCH, "cursor": None}),
        ("memory/search", {**SEARCH, "fields": ["metadata"], "metadata_keys": ["a"]}),
        ("memory/changes", {"scope": "user:a", "cursor": None, "limit": 100}),
        ("conversation/append_turn", {"conversation_id": "c", "messages": [{"role": "tool", "more": 1}]}),
        ("conversation/redact_turns", {"conversation_id": "c", "through": None, "turns": [2, 2]}),
        ("conversation/turn_redactions", {}),
        ("store/scopes", {"anything": None}),
        ("store/restore_conversation", restored(redacted=False)),
        ("store/restore_conversation", restored(redacted=True, messages=[])),
        ("store/restore_conversation", {**restored(), "redactions": None}),
    ],
)
def test_a_request_the_seeds_allow_is_described(route, body):
    request(route).validate(body)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("memory/write", {"scope": "user:a", "path": "x"}),
        ("memory/write", {**WRITE, "content": None}),
        ("memory/write", {**WRITE, "expected_version": "1"}),
        ("memory/write", {**WRITE, "expected_version": True}),
        ("memory/write", {**WRITE, "scope": "user:a\n"}),
        ("memory/list_documents", {"scope": "user:a", "limit": -1}),
        ("memory/search", {**SEARCH, "limit": None}),
        ("memory/search", {**SEARCH, "prefix": None}),
        ("memory/search", {**SEARCH, "unknown": None}),
        ("memory/search", {**SEARCH, "cursor": ""}),
        ("memory/search", {**SEARCH, "fields": []}),
        ("memory/search", {**SEARCH, "fields": ["metadata"]}),
        ("memory/search", {**SEARCH, "fields": ["metadata"], "metadata_keys": []}),
        ("memory/search", {**SEARCH, "metadata_keys": ["a"]}),
        ("memory/search", {**SEARCH, "query": "x" * 1025}),
        ("memory/changes", {"scope": "user:a", "limit": 101}),
        ("memory/changes", {"scope": "user:a", "more": 1}),
        ("memory/prune_changes", {"scope": "user:a", "through": "x", "write": None}),
        ("memory/prune_changes", {"scope": "user:a", "through": None}),
        ("conversation/append_turn", {"conversation_id": "c", "messages": []}),
        ("conversation/append_turn", {"conversation_id": "c", "messages": [{"role": "User"}]}),
        ("conversation/append_turn", {"conversation_id": "c", "messages": [{"role": "user", "content": [{}]}]}),
        ("conversation/read_turns", {"conversation_id": "c", "after": -1}),
        ("conversation/redact_turns", {"conversation_id": "c", "through": 1, "turns": []}),
        ("conversation/search_turns", {"query": "x", "limit": 501}),
        ("conversation/search_turns", {"query": "x", "conversations": [1]}),
        ("store/scopes", []),
        ("store/restore_conversation", restored(redacted=False, messages=[])),
        ("store/restore_conversation", restored(redacted=True)),
        ("store/restore_conversation", restored(turn=0)),
    ],
)
def test_a_request_the_seeds_refuse_is_not_described(route, body):
    assert not request(route).is_valid(body)


# --- Shapes of answers -----------------------------------------------------------------------------------------------

HIT = {
    "scope": "user:a",
    "path": "x",
    "version": 1,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00.000001Z",
    "actor": None,
    "matched_fields": ["content"],
    "excerpt": {"field": "content", "metadata_key": None, "offset": 0, "text": "x"},
}
DOCUMENT = {
    "scope": "user:a",
    "path": "x",
    "content": "",
    "version": 1,
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
    "actor": None,
    "redacted": False,
    "extra": {},
}
GAP = {"kind": "retention", "lost_from": 1, "lost_through": 2}
PAGE = {
    "format": 1,
    "scope": "user:a",
    "stream": None,
    "events": [],
    "checkpoint_cursor": "c",
    "head_cursor": "c",
    "floor_cursor": "c",
    "gap": None,
}
EVENT = {
    "sequence": 1,
    "kind": "created",
    "path": "x",
    "version": 1,
    "previous_path": None,
    "previous_version": None,
    "actor": None,
    "count": None,
    "recorded_at": "2026-01-01T00:00:00Z",
}
IMAGE = {"type": "image", "media_type": "image/png", "data": "eA==", "url": None}
MEMORY_EXCERPT = {"field": "metadata", "metadata_key": "k", "offset": 0, "text": "x"}


TIED = ("name", "definition", "value", "changes")


@pytest.mark.parametrize(
    TIED,
    [
        ("state", "document", DOCUMENT, {"redacted": True}),
        ("state", "search_hit", HIT, {}),
        ("state", "search_hit", HIT, {"excerpt": MEMORY_EXCERPT}),
        ("state", "block", IMAGE, {}),
        ("changes", "event", EVENT, {}),
        ("changes", "event", EVENT, {"kind": "renamed", "previous_path": "y", "previous_version": 2}),
        ("changes", "event", EVENT, {"kind": "erased", "path": None, "version": None, "count": 3}),
        ("changes", "page", PAGE, {}),
        ("changes", "page", PAGE, {"gap": GAP}),
    ],
)
def test_a_shape_the_specification_allows_is_described(name, definition, value, changes):
    checked(name, f"/$defs/{definition}").validate({**value, **changes})


@pytest.mark.parametrize(
    TIED,
    [
        ("state", "document", DOCUMENT, {"content": "x", "redacted": True}),
        ("state", "document", DOCUMENT, {"created_at": "2026-01-01T00:00:00+00:00"}),
        ("state", "document", DOCUMENT, {"created_at": "2026-01-01T00:00:00.5Z"}),
        ("state", "document", DOCUMENT, {"extra": None}),
        ("state", "document", DOCUMENT, {"version": 0}),
        ("state", "search_hit", HIT, {"excerpt": {**MEMORY_EXCERPT, "metadata_key": None}}),
        ("state", "search_hit", HIT, {"excerpt": {**HIT["excerpt"], "metadata_key": "k"}}),
        ("state", "search_hit", HIT, {"excerpt": {**HIT["excerpt"], "text": "x" * 241}}),
        ("state", "search_hit", HIT, {"matched_fields": []}),
        ("state", "search_hit", HIT, {"score": 1}),
        ("state", "block", IMAGE, {"url": "u"}),
        ("state", "block", IMAGE, {"data": None}),
        ("state", "block", IMAGE, {"media_type": None}),
        ("state", "block", IMAGE, {"type": "video"}),
        ("changes", "event", EVENT, {"content": "x"}),
        ("changes", "event", EVENT, {"version": None}),
        ("changes", "event", EVENT, {"kind": "renamed"}),
        ("changes", "event", EVENT, {"kind": "erased", "path": None, "version": None}),
        ("changes", "page", PAGE, {"gap": GAP, "events": [EVENT]}),
        ("changes", "page", PAGE, {"head_cursor": ""}),
        ("changes", "page", PAGE, {"head_cursor": "c" * 2049}),
        ("changes", "gap", GAP, {"kind": "untracked"}),
        ("changes", "gap", GAP, {"lost_from": None}),
    ],
)
def test_a_shape_the_specification_rules_out_is_not_described(name, definition, value, changes):
    assert not checked(name, f"/$defs/{definition}").is_valid({**value, **changes})
