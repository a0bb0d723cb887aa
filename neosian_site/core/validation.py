"""Decoding an object into a typed, frozen model; the first field that cannot be read names itself.

Strict: nothing is coerced, a boolean is no integer, ``1.0`` is none either. Absent and null are the same.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError

from neosian_site.core.errors import InvalidValue, quoted

MISSING_PARAMETER = "missing parameter"
MALFORMED_REQUEST = "malformed request"


class Strict(BaseModel):
    """An object whose unknown keys are ignored."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Closed(Strict):
    """An object that refuses a key it does not know, and null where the field does not say so."""


Model = TypeVar("Model", bound=Strict)


def decode(model: type[Model], data: dict[str, Any], *, absent: str = MISSING_PARAMETER) -> Model:
    """``data`` as ``model``.

    :param absent: how a missing key is announced
    :raises InvalidValue: a key a closed model does not know, or the first field, in the model's order, that is missing
        or of another type
    """
    if issubclass(model, Closed):
        # Before any field is looked at, and in an order that does not hang on the sender's.
        for key in sorted(data):
            if key not in model.model_fields:
                raise InvalidValue(f"unknown parameter: {quoted(key)}")
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise _refusal(model, error, absent) from error


def decode_all(model: type[Model], rows: list[Any], name: str, *, absent: str = MALFORMED_REQUEST) -> list[Model]:
    """Every row of the list parameter ``name`` as ``model``; one bad row refuses the list."""
    for row in rows:
        if not isinstance(row, dict):
            raise InvalidValue(f"parameter '{name}' must be a list of objects")
    return [decode(model, row, absent=absent) for row in rows]


def _refusal(model: type[Strict], error: ValidationError, absent: str) -> InvalidValue:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0])
    field = model.model_fields[name]
    if first["type"] == "missing" or (len(first["loc"]) == 1 and first["input"] is None and field.is_required()):
        return InvalidValue(f"{absent}: '{name}'")
    if first["type"] == "value_error":
        refused = first["ctx"]["error"]
        assert isinstance(refused, InvalidValue), "validators raise InvalidValue"
        return refused
    return InvalidValue(f"parameter '{name}' must be {_noun(field.annotation)}")


_NOUNS: dict[Any, str] = {str: "a string", int: "an integer", bool: "a boolean", dict: "an object"}
_PLURALS: dict[Any, str] = {str: "strings", int: "integers", dict: "objects"}


def _noun(annotation: Any) -> str:
    """What a value of this annotation is called in a refusal."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _noun(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        return _noun(next(part for part in get_args(annotation) if part is not type(None)))
    if origin is list:
        item = get_args(annotation)[0]
        return f"a list of {_PLURALS[get_origin(item) or item]}"
    return _NOUNS[origin or annotation]
