"""The small parts: telling values apart, shapes, and what an approval is bound to."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from neosian_site.api.wire.urls import ROUTES as SERVED
from neosian_site.conformance import answers, shapes
from neosian_site.conformance.cases import CASES, GROUPS, policy
from neosian_site.conformance.checks import Failed, difference
from neosian_site.conformance.routes import OPTIONAL_ROUTES, ROUTES
from neosian_site.conformance.session import newest_first
from tests.live.server import ROOT


@pytest.mark.parametrize(
    ("found", "expected", "apart"),
    [
        (1, 1, None),
        (1, True, ": expected true, got 1"),
        (1.0, 1, ": expected 1, got 1.0"),
        ("1", 1, ': expected 1, got "1"'),
        (None, False, ": expected false, got null"),
        ({"a": 1}, {"a": 1, "b": 2}, ": no 'b'"),
        ({"a": 1, "b": 2}, {"a": 1}, ": unexpected 'b'"),
        ({"a": [{"b": 1}]}, {"a": [{"b": 2}]}, ".a[0].b: expected 2, got 1"),
        ([1, 2], [1], ": expected 1 items, got 2"),
        ((1, [2]), (1, [2]), None),
    ],
)
def test_a_difference_is_named_where_it_is(found: Any, expected: Any, apart: str | None) -> None:
    assert difference(found, expected) == apart


@pytest.mark.parametrize(
    "text",
    ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.6Z", "2026-01-02T03:04:05.678901Z"],
)
def test_a_time_in_utc_with_z_passes(text: str) -> None:
    shapes.time(text, "at")


@pytest.mark.parametrize(
    "value",
    ["2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00", "2026-01-02 03:04:05Z", "2026-01-02T03:04:05z",
     "2026-13-02T03:04:05Z", "2026-01-02T03:04Z", "20260102T030405Z", 5, None, True],
)  # fmt: skip
def test_any_other_time_is_refused(value: Any) -> None:
    with pytest.raises(Failed, match=r"^at: expected"):
        shapes.time(value, "at")


def test_a_turn_without_messages_that_is_not_redacted_is_refused() -> None:
    turn = {"conversation_id": "c", "turn": 1, "messages": [], "created_at": "2026-01-02T03:04:05Z", "actor": None}

    answers.TURN(turn | {"redacted": True}, "turn")
    with pytest.raises(Failed, match="no messages, and it is not redacted"):
        answers.TURN(turn | {"redacted": False}, "turn")


def test_rows_of_one_coarse_moment_may_stand_in_any_order() -> None:
    one, other = ({"created_at": "2026-01-02T03:04:05Z", "n": n} for n in (1, 2))
    late = {"created_at": "2026-01-02T03:04:06Z", "n": 3}

    newest_first([late, one, other], [one, other, late], "rows")
    newest_first([late, other, one], [one, other, late], "rows")
    with pytest.raises(Failed, match="not newest first"):
        newest_first([one, other, late], [one, other, late], "rows")


def test_every_route_of_the_server_has_its_shape_and_its_parameters_case() -> None:
    known = {route.name for route in ROUTES} | set(OPTIONAL_ROUTES)

    assert set(answers.ANSWERS) == known == set(SERVED)
    assert {f"parameters.{route.name.replace('/', '.')}" for route in ROUTES} <= {case.name for case in CASES}


def test_the_runner_imports_nothing_of_the_server() -> None:
    told = (
        "import sys, neosian_site.conformance.runner;"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} & {'django', 'rest_framework', 'psycopg',"
        " 'memory', 'conversations', 'authz', 'search'}),"
        " *sorted(name for name in sys.modules if name.startswith('neosian_site.')"
        " and not name.startswith('neosian_site.conformance')))"
    )
    found = subprocess.run([sys.executable, "-c", told], cwd=ROOT, text=True, capture_output=True, check=True)

    assert found.stdout.split() == []


def test_groups_are_those_of_the_cases() -> None:
    assert {case.group for case in CASES} == set(GROUPS)


def test_the_digest_of_an_approval_is_the_published_one() -> None:
    release = {"knowledge": 1, "title": "Release"}
    window = {"effective_at": "2026-01-01T00:00:00Z", "expires_at": "2027-01-01T00:00:00Z"}
    owned = release | {"attributes": {"owner": "ops"}, "references": ["notes/ci"]}

    assert policy.digest(release, "1. Tag it.\n").startswith("b45cd7270ec76def")
    assert policy.digest(owned, "1. Tag it.\n", **window).startswith("be2d4efdf178ce81")
