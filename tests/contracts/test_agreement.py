"""The frozen wire contract and the code's own description of its requests say the same, both ways."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from openapi_spec_validator import validate

from neosian_site import contracts
from neosian_site.api.wire import schema
from neosian_site.urls import API_ROUTES

Document = dict[str, Any]

FILES = {file: name for name, file in contracts.FILES.items()}


@pytest.fixture(scope="module")
def generated() -> Document:
    return schema.generated()


@pytest.fixture(scope="module")
def frozen() -> Document:
    """Without ``/health``, which is no view of the framework's."""
    document = contracts.load("wire")
    del document["paths"]["/health"]
    return document


def follow(node: Document, root: Document) -> tuple[Document, Document]:
    """A schema with its reference followed, and the document it stands in."""
    while "$ref" in node:
        file, _, pointer = node["$ref"].partition("#")
        root = contracts.load(FILES[file]) if file else root
        node = root
        for step in pointer.strip("/").split("/"):
            node = node[step.replace("~1", "/").replace("~0", "~")]
    return node, root


def types(node: Document, root: Document) -> set[str]:
    node, root = follow(node, root)
    if "type" in node:
        return {node["type"]} if isinstance(node["type"], str) else set(node["type"])
    return set().union(*(types(part, root) for part in node.get("anyOf", [])))


def items(node: Document, root: Document) -> tuple[Document, Document] | None:
    node, root = follow(node, root)
    return (node["items"], root) if "items" in node else None


def compared(place: str, left: Document, left_root: Document, right: Document, right_root: Document) -> Iterator[str]:
    """Where two schemas of one value differ in names, types, what is required, defaults or being closed.

    An object that one side leaves open and unnamed says nothing of its members.
    """
    left, left_root = follow(left, left_root)
    right, right_root = follow(right, right_root)
    if types(left, left_root) != types(right, right_root):
        yield f"{place}: {sorted(types(left, left_root))} and {sorted(types(right, right_root))}"
    inner = items(left, left_root), items(right, right_root)
    if inner[0] and inner[1]:
        yield from compared(f"{place}[]", *inner[0], *inner[1])
    if "properties" not in left or "properties" not in right:
        return
    for key in sorted(left["properties"].keys() ^ right["properties"].keys()):
        yield f"{place}.{key}: only in one"
    for key in sorted(set(left.get("required", [])) ^ set(right.get("required", []))):
        yield f"{place}.{key}: required in one"
    if left.get("additionalProperties", True) != right.get("additionalProperties", True):
        yield f"{place}: closed in one"
    for key in sorted(left["properties"].keys() & right["properties"].keys()):
        one, other = left["properties"][key], right["properties"][key]
        # Only what is closed on the wire has defaults; elsewhere null says the same as nothing.
        if left.get("additionalProperties") is False and one.get("default", ...) != other.get("default", ...):
            yield f"{place}.{key}: default {one.get('default')!r} and {other.get('default')!r}"
        yield from compared(f"{place}.{key}", one, left_root, other, right_root)


def differences(left: Document, right: Document) -> list[str]:
    found = [f"{path}: only in one" for path in sorted(left["paths"].keys() ^ right["paths"].keys())]
    for path in sorted(left["paths"].keys() & right["paths"].keys()):
        one, other = left["paths"][path], right["paths"][path]
        if one.keys() != other.keys():
            found.append(f"{path}: {sorted(one)} and {sorted(other)}")
        for method in one.keys() & other.keys():
            found += operation_differences(path, one[method], left, other[method], right)
    return found


def operation_differences(path: str, one: Document, left: Document, other: Document, right: Document) -> list[str]:
    found = [f"{path}: {key} differs" for key in ("operationId", "tags") if one[key] != other[key]]
    if one.get("parameters") != other.get("parameters"):
        found.append(f"{path}: parameters outside the body")
    bodies = [operation.get("requestBody", {}).get("content", {}) for operation in (one, other)]
    if bodies[0].keys() != bodies[1].keys():
        found.append(f"{path}: {sorted(bodies[0])} and {sorted(bodies[1])}")
    for kind in bodies[0].keys() & bodies[1].keys():
        found += compared(path, bodies[0][kind]["schema"], left, bodies[1][kind]["schema"], right)
    return found


def test_the_code_and_the_frozen_contract_describe_the_same_requests(generated, frozen):
    assert differences(generated, frozen) == []


def test_what_the_code_describes_is_openapi_of_the_frozen_version(generated, frozen):
    validate(generated)
    assert generated["openapi"] == frozen["openapi"] == "3.1.1"


def test_the_paths_served_are_the_paths_of_the_contract():
    assert API_ROUTES.keys() == contracts.load("wire")["paths"].keys()


def test_describing_the_routes_leaves_them_as_they_were():
    before = {path: view.cls.__dict__.keys() for path, view in API_ROUTES.items() if hasattr(view, "cls")}
    schema.generated()
    assert {path: view.cls.__dict__.keys() for path, view in API_ROUTES.items() if hasattr(view, "cls")} == before


def _drop_path(document: Document) -> None:
    del document["paths"]["/v1/memory/search"]


def _rename_operation(document: Document) -> None:
    document["paths"]["/v1/memory/read"]["post"]["operationId"] = "other"


def _add_method(document: Document) -> None:
    document["paths"]["/v1/memory/read"]["get"] = {"operationId": "x", "tags": ["memory"]}


def _body(document: Document, route: str) -> Document:
    return document["paths"][f"/v1/{route}"]["post"]["requestBody"]["content"]["application/json"]["schema"]


def _drop_parameter(document: Document) -> None:
    del _body(document, "memory/write")["properties"]["actor"]


def _add_parameter(document: Document) -> None:
    _body(document, "memory/write")["properties"]["label"] = {"type": "string"}


def _require(document: Document) -> None:
    _body(document, "memory/write")["required"].append("actor")


def _retype(document: Document) -> None:
    _body(document, "memory/write")["properties"]["expected_version"] = {"type": "integer"}


def _retype_items(document: Document) -> None:
    _body(document, "conversation/redact_turns")["properties"]["turns"]["items"] = {"type": "string"}


def _open(document: Document) -> None:
    del _body(document, "memory/changes")["additionalProperties"]


def _change_default(document: Document) -> None:
    _body(document, "memory/changes")["properties"]["limit"]["default"] = 51


def _change_row(document: Document) -> None:
    rows = _body(document, "store/restore_scope")["properties"]["versions"]
    rows["items"] = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


CHANGES = [
    (_drop_path, "/v1/memory/search: only in one"),
    (_rename_operation, "/v1/memory/read: operationId differs"),
    (_add_method, "/v1/memory/read: "),
    (_drop_parameter, "/v1/memory/write.actor: only in one"),
    (_add_parameter, "/v1/memory/write.label: only in one"),
    (_require, "/v1/memory/write.actor: required in one"),
    (_retype, "/v1/memory/write.expected_version: "),
    (_retype_items, "/v1/conversation/redact_turns.turns[]: "),
    (_open, "/v1/memory/changes: closed in one"),
    (_change_default, "/v1/memory/changes.limit: default "),
    (_change_row, "/v1/store/restore_scope.versions[].action: only in one"),
]


@pytest.mark.parametrize("side", ["generated", "frozen"])
@pytest.mark.parametrize(("change", "said"), CHANGES, ids=[change.__name__.strip("_") for change, _ in CHANGES])
def test_a_change_on_one_side_alone_is_noticed(
    change: Callable[[Document], None], said: str, side: str, generated: Document, frozen: Document
):
    sides = {"generated": copy.deepcopy(generated), "frozen": copy.deepcopy(frozen)}
    change(sides[side])
    found = differences(sides["generated"], sides["frozen"])
    assert any(line.startswith(said) for line in found), found
