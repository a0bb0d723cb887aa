from __future__ import annotations

import json
import tracemalloc
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
        scalars | text,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text, inner, max_size=4),
        max_leaves=12,
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


@pytest.mark.parametrize(("opened", "closed", "containers"), [("[", "]", 1), ('{"a":', "}", 1), ('[{"a":', "}]", 2)])
def test_nesting_is_bounded_exactly(opened, closed, containers):
    levels = MAX_DEPTH // containers
    value = jsonio.read((opened * levels + "1" + closed * levels).encode())
    assert jsonio.text(value) == opened * levels + "1" + closed * levels
    with pytest.raises(NotJson, match="nested deeper"):
        jsonio.read((opened * (levels + 1) + "1" + closed * (levels + 1)).encode())


def test_brackets_beside_each_other_are_no_nesting():
    assert jsonio.read(b"[" + b"[]," * 5000 + b"[]]") == [[]] * 5001
    assert jsonio.too_deep(b"[" * 901)
    # A closing mark too many must not make room for more.
    assert jsonio.read(b'["]]]]", "' + b"[" * 2000 + b'"]') == ["]]]]", "[" * 2000]


@pytest.mark.parametrize(
    "body",
    [
        b"", b" ", b"{", b"[1,]", b"{'a':1}", b"NaN", b"-Infinity", b"[Infinity]", b"nul", b"01", b"1 2", b"\xff",
        b"\xef\xbb\xbf1", "1".encode("utf-16"), "1".encode("utf-32-le"), b"9" * 4301, b"-" + b"9" * 5000, b'"\n"',
        b"\x001", b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000,
    ],
)  # fmt: skip
def test_what_is_no_standard_json_is_refused(body):
    with pytest.raises(NotJson):
        jsonio.read(body)


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b" 1\r\n", 1),
        (b"-0", 0),
        (b"-0.0", -0.0),
        (b"1e2", 100.0),
        (b"1e999", float("inf")),
        (b"9" * 4300, int("9" * 4300)),
        (b'{"a":1,"b":2,"a":3}', {"a": 3, "b": 2}),
        (rb'"\ud83d\ude00"', "😀"),
        (rb'"\ud83d"', "\ud83d"),
        (rb'"\u0000"', "\0"),
        (b'"\x7f"', "\x7f"),
    ],
)
def test_standard_json_is_read(body, value):
    assert spelled(jsonio.read(body)) == spelled(value)


def test_text_is_compact_and_unescaped():
    value = {"b": [1, 2.0, -0.0, 1e22, True, None], "a": 'é😀\u2028"\\\n\x1f\x7f'}
    assert jsonio.text(value) == '{"b":[1,2.0,-0.0,1e+22,true,null],"a":"é😀\u2028\\"\\\\\\n\\u001f\x7f"}'


PLACES = [lambda bad: bad, lambda bad: [bad], lambda bad: {"k": {"k": [1, bad]}}, lambda bad: {"k": [{bad: 1}]}]


@pytest.mark.parametrize("place", range(len(PLACES)))
@pytest.mark.parametrize("bad", ["\0", "a\0b", "\\u0000\0", "\ud800", "\ude00\ud83d"], ids=ascii)
def test_text_no_store_can_hold_is_refused_wherever_it_stands(bad, place):
    with pytest.raises(InvalidValue, match="NUL" if "\0" in bad else "surrogate"):
        jsonio.storable(PLACES[place](bad))


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_a_number_no_json_can_spell_is_refused(number):
    for value in (number, [number], {"k": [number]}):
        with pytest.raises(InvalidValue, match="number"):
            jsonio.storable(value)


@pytest.mark.parametrize("value", ["\\u0000", ["\\\\u0000"], {"\\u0000": 1}, "u0000", "\\ud800"], ids=ascii)
def test_text_that_merely_spells_out_an_escape_is_text(value):
    assert json.loads(jsonio.storable(value)) == value


@given(trees(any_text))
def test_whatever_is_storable_is_utf_8_without_nul(value):
    try:
        written = jsonio.storable(value)
    except InvalidValue:
        assert any(char == "\0" or "\ud800" <= char <= "\udfff" for char in "".join(_texts(value)))
        return
    written.encode("utf-8")
    assert "\0" not in "".join(_texts(json.loads(written)))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *_texts(item))]
    return []


@pytest.mark.parametrize(
    "text", [b"x" * 2_000_000, b'\\"' * 1_000_000, b"\\\\" * 1_000_000], ids=["plain", "quotes", "slashes"]
)
def test_counting_the_depth_of_a_large_body_takes_no_memory(text):
    # Enough containers side by side that the body is walked, and one long string to walk over.
    body = b'{"a":[' + b"{}," * jsonio.MAX_DEPTH + b'{}],"b":"' + text + b'"}'
    tracemalloc.start()
    try:
        assert not jsonio.too_deep(body)
        assert tracemalloc.get_traced_memory()[1] < 500_000
    finally:
        tracemalloc.stop()


def test_brackets_inside_strings_are_no_depth():
    assert not jsonio.too_deep(b'["' + b"[" * 5000 + b'\\"' + b"{" * 5000 + b'"]')
    assert jsonio.too_deep(b'["\\\\",' + b"[" * jsonio.MAX_DEPTH + b"]" * jsonio.MAX_DEPTH + b"]")
