"""Canonical JSON: one spelling of a value."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core import canonical

texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (0, "0"),
        (-(2**53), "-9007199254740992"),
        ("", '""'),
        ([], "[]"),
        ({}, "{}"),
        ((1, "a"), '[1,"a"]'),
        ({"b": 1, "a": [2, 1]}, '{"a":[2,1],"b":1}'),
        ({"x": {"b": 1, "a": 2}}, '{"x":{"a":2,"b":1}}'),
        # By code point: U+FFFF stands before U+10000, which 16-bit units would turn round.
        ({"\U00010000": 1, "\uffff": 2, "é": 3, "Z": 4, "a": 5}, '{"Z":4,"a":5,"é":3,"\uffff":2,"\U00010000":1}'),
        ('"\\/', '"\\"\\\\/"'),
        ("\b\t\n\f\r", '"\\b\\t\\n\\f\\r"'),
        ("\0\x0b\x1b\x1f", '"\\u0000\\u000b\\u001b\\u001f"'),
        ("\x7f\x85\u2028\ufeffé😀", '"\x7f\x85\u2028\ufeffé😀"'),
    ],
    ids=ascii,
)
def test_a_value_has_one_spelling(value, text):
    assert canonical.text(value) == text
    assert canonical.digest(value) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("value", [1.0, float("nan"), [1, {"a": 0.5}], {1: 2}, {"a": {None: 1}}, (1.5,), b"x", {1, 2}])
def test_what_has_no_spelling_is_refused(value):
    with pytest.raises(TypeError):
        canonical.text(value)
    with pytest.raises(TypeError):
        canonical.digest(value)


@given(values)
def test_the_spelling_is_json_of_the_same_value(value):
    assert json.loads(canonical.text(value)) == value


@given(st.dictionaries(texts, values, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_matter(value, random):
    keys = list(value)
    random.shuffle(keys)
    assert canonical.digest({key: value[key] for key in keys}) == canonical.digest(value)
