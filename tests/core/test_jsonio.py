from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core import jsonio
from neosian_site.core.errors import InvalidValue
from neosian_site.core.jsonio import MAX_DEPTH, NotJson

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
storable_text = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)))
any_text = st.text(st.characters())


def trees(text: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.recursive(
        scalars | text, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4), max_leaves=12
    )


def spelled(value: Any) -> str:
    """Equal only where type, key order and spelling are: ``1``, ``1.0`` and ``True`` are not."""
    return repr(value)


@given(trees(storable_text))
def test_what_is_written_is_read_back_with_its_order_and_types(value):
    for written in (jsonio.text(value), jsonio.storable(value)):
        assert spelled(jsonio.read(written.encode())) == spelled(value)
        assert jsonio.text(jsonio.read(written.encode())) == written


@given(trees(storable_text))
def test_any_spelling_of_the_library_is_read_alike(value):
    for options in ({}, {"indent": 2}, {"ensure_ascii": False}, {"separators": (" , ", " : ")}):
        assert spelled(jsonio.read(json.dumps(value, **options).encode())) == spelled(value)


@given(st.binary(max_size=40))
def test_any_bytes_are_json_or_refused(body):
    try:
        value = jsonio.read(body)
    except NotJson:
        return
    body.decode("utf-8")
    assert spelled(json.loads(body)) == spelled(value)


@given(st.text('[]{}",:\\1 ', max_size=60))
def test_depth_is_never_counted_inside_text(text):
    body = json.dumps([text]).encode()
    assert not jsonio.too_deep(body, limit=1)
    assert jsonio.read(body) == [text]


@pytest.mark.parametrize("brackets", [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_nesting_is_bounded_exactly(brackets):
    opened, closed = brackets
    levels = MAX_DEPTH // opened.count("{") if opened == "[" else MAX_DEPTH // (opened.count("{") + opened.count("["))
    assert jsonio.read((opened * levels + "1" + closed * levels).encode()) is not None
    with pytest.raises(NotJson, match="nested deeper"):
        jsonio.read((opened * (levels + 1) + "1" + closed * (levels + 1)).encode())
