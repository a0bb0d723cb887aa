from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core import cursors
from neosian_site.core.errors import InvalidValue

names = st.text(st.characters(codec="ascii", exclude_characters="\0"), min_size=1, max_size=20)
values = st.integers(-cursors.MAX_NUMBER, cursors.MAX_NUMBER) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=100
)


def packed(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode()


def refused(listing: str, cursor: str, *kinds: type) -> bool:
    with pytest.raises(InvalidValue) as found:
        cursors.read(listing, cursor, *kinds)
    return str(found.value).startswith(f"malformed {listing} cursor: ")


@given(names, st.lists(values, min_size=1, max_size=4))
def test_a_position_comes_back_from_its_cursor(listing, position):
    cursor = cursors.mint(listing, *position)
    assert cursors.read(listing, cursor, *(type(part) for part in position)) == tuple(position)
    # It travels in JSON, in URLs and on command lines as it is.
    assert re.fullmatch(r"[A-Za-z0-9_-]+", cursor)


@given(names, names, st.lists(values, min_size=1, max_size=3))
def test_a_cursor_is_bound_to_its_listing(listing, other, position):
    kinds = [type(part) for part in position]
    if other != listing:
        assert refused(other, cursors.mint(listing, *position), *kinds)


@given(st.lists(values, min_size=1, max_size=3), st.lists(st.sampled_from([int, str]), max_size=4))
def test_a_cursor_is_bound_to_the_shape_of_its_position(position, kinds):
    if kinds != [type(part) for part in position]:
        assert refused("list", cursors.mint("list", *position), *kinds)


@given(st.text(st.characters(), max_size=60))
def test_any_text_is_a_cursor_or_refused(text):
    try:
        (found,) = cursors.read("list", text, str)
    except InvalidValue:
        return
    assert isinstance(found, str)


@pytest.mark.parametrize(
    "cursor",
    [
        "", " ", "=", "====", "A", "!!", "é", "\0", "\ud800", "W10", "e30", "bnVsbA", "MQ", "IngiCg", "_w", "A" * 5000,
        "WyJsaXN0IiwieCJd\n", " WyJsaXN0IiwieCJd", "WyJsaXN0IiwieCJd WyJsaXN0IiwieCJd",
    ],
    ids=lambda value: ascii(value)[:20],
)  # fmt: skip
def test_what_was_never_minted_is_refused(cursor):
    assert refused("list", cursor, str)


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (["list"], str),
        (["list", "x", "y"], str),
        (["List", "x"], str),
        ([None, "x"], str),
        ({"list": "x"}, str),
        ("list", str),
        (["list", 1], str),
        (["list", None], str),
        (["list", ["x"]], str),
        (["list", {"a": 1}], str),
        (["list", "a\0"], str),
        (["list", "\ud800"], str),
        (["list", "1"], int),
        (["list", True], int),
        (["list", 1.0], int),
        (["list", 1e999], int),
        (["list", 2**63], int),
        (["list", -(2**63)], int),
        (["list", 10**4000], int),
        ([["list"], 1], int),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_forged_payload_of_the_wrong_shape_is_refused(payload, kind):
    assert refused("list", packed(payload), kind)


def test_a_forged_payload_that_nests_without_end_is_refused():
    deep = base64.urlsafe_b64encode(b"[" * 3000).decode()
    assert refused("list", deep, str)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63) + 1, 0])
def test_a_forged_position_is_just_a_position(number):
    assert cursors.read("list", packed(["list", number]), int) == (number,)
    assert cursors.read("list", packed(["list", number]).rstrip("="), int) == (number,)


def test_a_refusal_shows_the_cursors_beginning_only():
    with pytest.raises(InvalidValue) as found:
        cursors.read("list", "!" * 4000, str)
    assert str(found.value) == f"malformed list cursor: '{'!' * 100}'"
