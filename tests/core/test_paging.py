from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core.errors import InvalidValue
from neosian_site.core.paging import EMPTY_NUMBERED_PAGE, EMPTY_PAGE, bounded, page_size

REFUSAL = "narrow the query"


@pytest.mark.parametrize(
    ("limit", "size"), [(None, 500), (0, 0), (1, 1), (499, 499), (500, 500), (501, 500), (10**30, 500)]
)
def test_a_page_holds_up_to_500_rows_whatever_is_asked(limit, size):
    assert page_size(limit) == size


def test_a_listing_may_have_its_own_default():
    assert (page_size(None, 50), page_size(0, 50), page_size(51, 50)) == (50, 0, 51)


@given(st.integers(max_value=-1))
def test_a_negative_limit_is_refused_with_its_value(limit):
    with pytest.raises(InvalidValue) as refused:
        page_size(limit)
    assert str(refused.value) == f"limit must be >= 0, got {limit}"


@given(st.integers())
def test_a_bound_is_kept_or_refused_and_never_changed(limit):
    if 1 <= limit <= 500:
        assert bounded(limit, 50, REFUSAL) == limit
        return
    with pytest.raises(InvalidValue) as refused:
        bounded(limit, 50, REFUSAL)
    assert str(refused.value) == (REFUSAL if limit > 500 else f"limit must be >= 1, got {limit}")


@pytest.mark.parametrize(("limit", "size"), [(None, 50), (1, 1), (500, 500)])
def test_a_bound_is_between_one_and_500(limit, size):
    assert bounded(limit, 50, REFUSAL) == size


@pytest.mark.parametrize("limit", [0, -1, 501, 10**30])
def test_a_bound_out_of_range_is_refused(limit):
    with pytest.raises(InvalidValue):
        bounded(limit, 50, REFUSAL)


def test_a_page_that_was_not_asked_for_is_empty_and_the_last():
    assert (EMPTY_PAGE.rows, EMPTY_PAGE.next_cursor) == ([], None)
    assert (EMPTY_NUMBERED_PAGE.rows, EMPTY_NUMBERED_PAGE.next_after) == ([], None)
