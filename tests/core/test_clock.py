from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core import clock
from neosian_site.core.errors import InvalidValue

offsets = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)).map(
    lambda delta: timezone(timedelta(seconds=int(delta.total_seconds())))
)
moments = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=offsets)


@given(moments)
def test_a_moment_comes_back_from_its_spelling(moment):
    text = clock.render(moment)
    assert clock.parse(text) == moment
    assert clock.parse(text).tzinfo is UTC
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", text)
    assert text.endswith(".000000Z") is False


@given(moments, st.sampled_from(["T", " "]))
def test_any_offset_names_the_same_instant(moment, separator):
    assert clock.parse(moment.isoformat(separator)) == moment
    assert clock.render(clock.parse(moment.isoformat())) == clock.render(moment)


@given(st.lists(moments, min_size=2, max_size=2))
def test_spellings_of_one_length_sort_as_the_moments_do(pair):
    first, second = (moment.replace(microsecond=moment.microsecond or 1) for moment in pair)
    assert (clock.render(first) < clock.render(second)) == (first < second)


@given(st.text(max_size=40) | st.text("0123456789-:.,+TZW ", max_size=32))
def test_any_text_is_a_time_or_refused(text):
    try:
        moment = clock.parse(text)
    except InvalidValue:
        return
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05-00:00", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05+05:30", "2026-01-01T21:34:05Z"),
        ("2026-01-02T03:04:05-0800", "2026-01-02T11:04:05Z"),
        ("2026-01-02T03:04:05+05", "2026-01-01T22:04:05Z"),
        ("2026-01-02T03:04:05+00:00:30", "2026-01-02T03:03:35Z"),
        ("2026-01-02 03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04Z", "2026-01-02T03:04:00Z"),
        ("2026-01-02T03Z", "2026-01-02T03:00:00Z"),
        ("2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.500000Z"),
        ("20260102T030405Z", "2026-01-02T03:04:05Z"),
        ("20260102T030405.25+0100", "2026-01-02T02:04:05.250000Z"),
        ("2026-W01-5T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026W015T030405Z", "2026-01-02T03:04:05Z"),
        # Cut to microseconds, never rounded.
        ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000Z"),
        ("2026-01-02T03:04:05.123456Z", "2026-01-02T03:04:05.123456Z"),
        ("2026-01-02T03:04:05.1234569Z", "2026-01-02T03:04:05.123456Z"),
        ("2026-01-02T03:04:05.999999999Z", "2026-01-02T03:04:05.999999Z"),
        ("2026-01-02T03:04:05.0000009Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.000000Z", "2026-01-02T03:04:05Z"),
        ("2024-02-29T23:59:59.999999Z", "2024-02-29T23:59:59.999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("0001-01-01T00:00:00-01:00", "0001-01-01T01:00:00Z"),
    ],
)
def test_an_iso_time_with_an_offset_is_read_and_spelled_in_utc(text, shown):
    assert clock.render(clock.parse(text)) == shown


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "now", "2026-01-02", "20260102", "2026-W01-5", "2026-01", "2026-01-02T", "T03:04:05Z", "03:04:05Z",
        "2026-01-02t03:04:05Z", "2026-01-02T03:04:05z", "2026-01-02_03:04:05Z", "2026-01-02  03:04:05Z",
        "2026-01-02T24:00:00Z", "2026-01-02 24:00Z", "2026-01-02T25:00:00Z", "2026-01-02T23:60:00Z",
        "2026-01-02T23:59:60Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z", "0000-01-01T00:00:00Z", "10000-01-01T00:00:00Z", "-2026-01-02T03:04:05Z",
        " 2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z ", "2026-01-02T03:04:05Z\n", "2026-01-02T03:04:05 Z",
        "2026-01-02T03:04:05 UTC", "2026-01-02T03:04:05UTC", "2026-01-02T03:04:05+24:00", "2026-01-02T03:04:05+",
        "1767322800", "1767322800Z", "٢٠٢٦-01-02T03:04:05Z", "2026-01-02T03:04:05Z\0",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-00:01", "2026-W54-1T00:00:00Z", "9" * 10_000,
    ],
    ids=lambda value: ascii(value)[:30],
)  # fmt: skip
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidValue):
        clock.parse(text)


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05", "2026-01-02 03:04", "20260102T030405", "2026-01-02T03:04:05.5"]
)
def test_a_time_without_an_offset_is_refused_as_such(text):
    with pytest.raises(InvalidValue, match="naive wire timestamp refused"):
        clock.parse(text)


@pytest.mark.parametrize(
    "value", [None, 1, 1.5, True, [], {}, b"2026-01-02T03:04:05Z", datetime(2026, 1, 2, tzinfo=UTC)]
)
def test_what_is_no_text_is_refused(value):
    with pytest.raises(InvalidValue, match="malformed wire timestamp"):
        clock.parse(value)


def test_the_clock_is_the_process_clock_in_utc():
    with time_machine.travel("2026-03-29T01:30:00.000001+01:00", tick=False):
        assert clock.now() == datetime(2026, 3, 29, 0, 30, 0, 1, tzinfo=UTC)
        assert clock.now().tzinfo is UTC
