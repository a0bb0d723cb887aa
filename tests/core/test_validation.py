from __future__ import annotations

from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, ValidationError

from neosian_site.core.errors import InvalidValue
from neosian_site.core.validation import MALFORMED_REQUEST, Strict, decode, decode_all


def _short(value: str) -> str:
    if len(value) > 3:
        raise InvalidValue("label is longer than 3")
    return value


class Sample(Strict):
    name: str
    count: int | None = None
    label: Annotated[str | None, AfterValidator(lambda value: value if value is None else _short(value))] = None
    flag: bool = False
    numbers: list[int] | None = None
    words: list[str] | None = None
    items: list[dict[str, Any]] | None = None
    more: dict[str, Any] | None = None


class Row(Strict):
    first: int
    second: str | None


def refusal(data: dict[str, Any], **more: Any) -> str:
    with pytest.raises(InvalidValue) as refused:
        decode(Sample, data, **more)
    return str(refused.value)


def test_a_whole_object_is_read_as_it_is():
    data = {
        "name": "n",
        "count": 10**30,
        "label": "abc",
        "flag": True,
        "numbers": [1, -2],
        "words": ["", "w"],
        "items": [{}, {"a": [1]}],
        "more": {"k": None},
    }
    assert dict(decode(Sample, data)) == data


def test_unknown_keys_are_ignored_and_null_is_absent():
    absent = decode(Sample, {"name": "n"})
    assert absent == decode(Sample, {"name": "n", "unknown": 1, "": 2, "count": None, "numbers": None, "more": None})
    assert dict(absent) == {**dict.fromkeys(Sample.model_fields), "name": "n", "flag": False}


def test_a_decoded_object_cannot_be_changed():
    with pytest.raises(ValidationError):
        decode(Sample, {"name": "n"}).name = "m"


@pytest.mark.parametrize("data", [{}, {"name": None}, {"name": None, "count": "x"}, {"Name": "n"}])
def test_a_required_key_that_is_absent_or_null_is_missing(data):
    assert refusal(data) == "missing parameter: 'name'"
    assert refusal(data, absent=MALFORMED_REQUEST) == "malformed request: 'name'"


@pytest.mark.parametrize(
    ("key", "noun", "values"),
    [
        ("name", "a string", [1, 1.5, True, [], ["x"], {}, b"x"]),
        ("count", "an integer", ["1", "", 1.0, 1.5, True, False, [], {}]),
        ("flag", "a boolean", [0, 1, "true", "", None, [], {}]),
        ("numbers", "a list of integers", ["1", 1, {}, (1,), [1, "1"], [1.0], [True], [None], [[1]]]),
        ("words", "a list of strings", ["w", 1, {}, ["w", 1], [None], [["w"]]]),
        ("items", "a list of objects", ["x", {}, 1, [1], [None], [{}, []]]),
        ("more", "an object", ["x", 1, [], [["k", 1]], True]),
    ],
)
def test_nothing_is_coerced_and_the_refusal_names_the_key_and_its_type(key, noun, values):
    for value in values:
        assert refusal({"name": "n", key: value}) == f"parameter '{key}' must be {noun}", repr(value)


def test_the_first_key_in_the_models_order_is_named():
    assert refusal({"more": 1, "numbers": 1, "count": "x"}) == "missing parameter: 'name'"
    assert refusal({"more": 1, "numbers": 1, "count": "x", "name": "n"}) == "parameter 'count' must be an integer"
    assert refusal({"more": 1, "numbers": 1, "label": "long", "name": "n"}) == "label is longer than 3"
    assert refusal({"numbers": 1, "label": 1, "name": "n"}) == "parameter 'label' must be a string"


def test_every_row_of_a_list_is_read():
    rows = [{"first": 1, "second": None}, {"first": 2, "second": "x", "third": 3}]
    assert [dict(row) for row in decode_all(Row, rows, "rows")] == [
        {"first": 1, "second": None},
        {"first": 2, "second": "x"},
    ]
    assert decode_all(Row, [], "rows") == []


@pytest.mark.parametrize("item", [1, None, "x", [], True])
def test_a_row_that_is_no_object_refuses_the_list_before_any_row_is_judged(item):
    with pytest.raises(InvalidValue) as refused:
        decode_all(Row, [{}, {"first": "x"}, item], "rows")
    assert str(refused.value) == "parameter 'rows' must be a list of objects"


def test_a_key_that_must_be_there_may_hold_null_where_its_type_says_so():
    with pytest.raises(InvalidValue) as refused:
        decode_all(Row, [{"first": 1, "second": None}, {"first": 1}], "rows")
    assert str(refused.value) == "malformed request: 'second'"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*Sample.model_fields, "unknown"]), json_values))
def test_any_object_is_read_or_refused_by_a_name_of_the_model(data):
    refused, found = "", None
    try:
        found = decode(Sample, data)
    except InvalidValue as error:
        refused = str(error)
    if found is None:
        assert any(name in refused for name in Sample.model_fields)
        return
    for name, value in dict(found).items():
        # As it came, type included: no number is made of a boolean, no text of a number.
        assert repr(value) == repr(data.get(name, Sample.model_fields[name].default))
