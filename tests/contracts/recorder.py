"""Every answer the in-process client receives is held to the frozen contract while the suite runs.

Validators are compiled once per route and status and work offline: the documents refer to each other by file name.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jsonschema_rs

from neosian_site import contracts

if TYPE_CHECKING:
    from tests.clients import Answer

# Longer answers are only asked for their status and headers.
MAX_BODY_BYTES = 1024 * 1024

_BASE = "https://contracts.invalid/"
WIRE = contracts.load("wire")
_REGISTRY = jsonschema_rs.Registry(
    [(_BASE + contracts.FILES[name], contracts.load(name)) for name in ("wire", "state", "changes")]
)
# Each path has one method; whatever else it is asked with is 405.
_METHODS = {path: next(iter(item)) for path, item in WIRE["paths"].items()}


class OutsideTheContract(AssertionError):
    """The server answered what the published document does not describe."""


@dataclass(frozen=True)
class Documented:
    """One response of one route."""

    headers: dict[str, Any]
    # By media type; empty where the answer has none.
    bodies: dict[str, jsonschema_rs.Draft202012Validator]


def hold(method: str, path: str, answer: Answer) -> None:
    """:raises OutsideTheContract: a documented route gave an answer that is not documented"""
    if path not in _METHODS:
        return
    try:
        _hold(method, answer, documented(path, str(answer.status)))
    except OutsideTheContract as error:
        raise OutsideTheContract(f"{method} {path} {answer.status}: {error}; {answer.body[:300]!r}") from None


def _hold(method: str, answer: Answer, wanted: Documented | None) -> None:
    if wanted is None:
        raise OutsideTheContract("the status is not documented")
    for name, header in wanted.headers.items():
        found = answer.headers.get(name.lower())
        if found is None or found != header["schema"].get("const", found):
            raise OutsideTheContract(f"header {name} is {found!r}")
    given = answer.headers.get("content-type")
    if not wanted.bodies:
        if given is not None:
            raise OutsideTheContract(f"content type {given!r} where there is none")
        return
    media_type = None if given is None else given.partition(";")[0]
    if media_type not in wanted.bodies or (media_type == "application/json" and given != media_type):
        raise OutsideTheContract(f"content type {given!r}")
    if method == "HEAD" or len(answer.body) > MAX_BODY_BYTES:
        return
    body = json.loads(answer.body) if media_type == "application/json" else answer.body.decode()
    validator = wanted.bodies[media_type]
    if not validator.is_valid(body):
        raise OutsideTheContract("; ".join(_faults(validator, body)))


def _faults(validator: jsonschema_rs.Draft202012Validator, body: Any) -> list[str]:
    return [
        f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in validator.iter_errors(body)
    ]


@functools.cache
def documented(path: str, status: str) -> Documented | None:
    """What the contract says of this path and status."""
    pointer = f"/paths/{_escaped(path)}/{_METHODS[path]}/responses/{status}"
    response = WIRE["paths"][path][_METHODS[path]]["responses"].get(status)
    if response is None:
        return None
    if "$ref" in response:
        pointer = response["$ref"].removeprefix("#")
        response = WIRE["components"]["responses"][pointer.rpartition("/")[2]]
    return Documented(
        response.get("headers", {}),
        {kind: validator(f"{pointer}/content/{_escaped(kind)}/schema") for kind in response.get("content", {})},
    )


def validator(pointer: str, file: str = "wire") -> jsonschema_rs.Draft202012Validator:
    """For the schema at ``pointer`` of the wire's document, or of another one."""
    return jsonschema_rs.Draft202012Validator({"$ref": f"{_BASE}{contracts.FILES[file]}#{pointer}"}, registry=_REGISTRY)


def request_validator(path: str) -> jsonschema_rs.Draft202012Validator:
    """For the bodies a POST route takes."""
    return validator(f"/paths/{_escaped(path)}/post/requestBody/content/application~1json/schema")


def _escaped(token: str) -> str:
    return token.replace("~", "~0").replace("/", "~1")
