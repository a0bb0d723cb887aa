"""What the code itself says of the wire's requests, as OpenAPI by drf-spectacular.

Nobody is served this: the published contract is the frozen file of ``neosian_site.contracts``, and a test holds the
two against each other. Answers are no part of it, as views render bytes; every answer of the suite is held to the
frozen file instead.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import datetime
from typing import Annotated, Any, Union, get_args, get_origin

from drf_spectacular.extensions import OpenApiViewExtension
from drf_spectacular.generators import EndpointEnumerator, SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes

from conversations.archive import ProjectionRow
from conversations.messages import Messages
from conversations.operations.projections import ProjectionEntry
from neosian_site.api.wire import urls
from neosian_site.api.wire.view import GatedView, WireView
from neosian_site.core.jsonio import JsonText
from neosian_site.core.validation import Closed, Strict

Schema = dict[str, Any]

_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    datetime: {"type": "string"},
    # Kept as text, given as an object or not at all.
    JsonText: {"type": ["object", "null"]},
    Messages: {"type": "array", "items": {"type": "object"}},
}
# What a row is read with, where that is not what it becomes.
_READ_AS: dict[Any, type[Strict]] = {ProjectionEntry: ProjectionRow}


def generated() -> Schema:
    """An OpenAPI document of every wire route; made anew with each call."""
    generator = _Generator(patterns=urls.routes)  # type: ignore[no-untyped-call]
    document: Schema = generator.get_schema(public=True)  # type: ignore[no-untyped-call]
    return document


def body(model: type[Strict]) -> Schema:
    """The object a request model reads."""
    closed = issubclass(model, Closed)
    properties = {}
    for name, field in model.model_fields.items():
        properties[name] = _type(field.annotation)
        if closed and not field.is_required():
            properties[name]["default"] = field.default
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        **({"additionalProperties": False} if closed else {}),
    }


def _type(annotation: Any) -> Schema:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, types.UnionType):
        present = [part for part in arguments if part is not type(None)]
        assert len(present) == 1, "a parameter has one type, or that and null"
        inner = _type(present[0])
        return inner if len(arguments) == 1 else {**inner, "type": [inner["type"], "null"]}
    if origin is list:
        return {"type": "array", "items": _type(arguments[0])}
    if annotation in _SCALARS:
        return dict(_SCALARS[annotation])
    row = _READ_AS.get(annotation, annotation)
    if isinstance(row, type) and issubclass(row, Strict):
        return body(row)
    assert is_dataclass(row), f"{annotation} needs a line in _SCALARS"
    return {"type": "object"}


class _WireSchema(AutoSchema):
    """One route, from its path and its request model."""

    def get_operation_id(self) -> str:
        return "_".join(self.path.removeprefix("/v1/").split("/"))

    def get_tags(self) -> list[str]:
        group, _, name = self.path.removeprefix("/v1/").partition("/")
        return [group if name else "service"]

    def get_auth(self) -> list[dict[str, Any]]:
        return [{"bearer": []}]

    def get_request_serializer(self) -> Any:
        assert isinstance(self.view, WireView), "only the routes with a body have a request"
        return {"application/json": body(self.view.request_model)}

    def get_response_serializers(self) -> Any:
        return {200: OpenApiTypes.OBJECT}


def _handler(*args: Any, **kwargs: Any) -> None:
    """Stands where the framework looks for a method's handler; the views dispatch by themselves."""


class _Described(OpenApiViewExtension):  # type: ignore[no-untyped-call]
    """A wire view with a description of its own and a handler per method, which drf-spectacular looks for."""

    target_class = GatedView
    match_subclasses = True

    def view_replacement(self) -> type[GatedView]:
        methods = dict.fromkeys(self.target.http_method_names, _handler)
        return type(self.target.__name__, (self.target,), {"schema": _WireSchema(), **methods})


class _Enumerator(EndpointEnumerator):
    def get_allowed_methods(self, callback: Callable[..., Any]) -> list[str]:
        view: type[GatedView] = callback.cls  # type: ignore[attr-defined] # as_view() notes it
        return [method.upper() for method in view.http_method_names if method != "head"]


class _Generator(SchemaGenerator):
    endpoint_inspector_cls = _Enumerator
