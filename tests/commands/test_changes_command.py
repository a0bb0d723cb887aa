"""``manage.py changes``: feeds pruned and started over; text, JSON, exit codes and refusals."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
import time_machine

from authz.caller import Caller
from authz.operations import projects
from memory.operations import changes, documents
from tests.contract.wire.conversation_rows import store_rows

TIMES = ("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z", "2026-05-03T00:00:00Z")
NOW = datetime(2026, 5, 3, 1, tzinfo=UTC)


@pytest.fixture
def caller(db):
    """A project with a feed of three events and one of two, a day between them, each read once."""
    made = Caller(projects.create(slug="tenant").pk, "client:a")
    for scope, times in (("user:a", TIMES), ("user:b", TIMES[1:])):
        for time in times:
            with time_machine.travel(time, tick=False):
                documents.write(made, scope=scope, path="x", content=time)
                feed(made, scope)
    neighbour = Caller(projects.create(slug="neighbour").pk, "client:a")
    with time_machine.travel(TIMES[0], tick=False):
        documents.write(neighbour, scope="user:a", path="x", content="theirs")
        feed(neighbour, "user:a")
    return made


@pytest.fixture(autouse=True)
def _later():
    with time_machine.travel(NOW, tick=False):
        yield


def feed(caller, scope):
    return changes.read(caller, scope=scope)


def sequences(caller, scope):
    page = feed(caller, scope)
    start = page.floor if page.gap is not None else None
    if start is not None:
        page = changes.read(caller, scope=scope, cursor=start)
    return [int(re.search(rb'"sequence": ?(\d+)', bytes(event))[1]) for event in page.events]


def on_tenant(verb, *more):
    return "changes", verb, "--project", "tenant", *more


@pytest.mark.parametrize(
    ("options", "removed", "left"),
    [
        (("--keep", "1"), {"user:a": 2, "user:b": 1}, {"user:a": [3], "user:b": [2]}),
        (("--keep", "2"), {"user:a": 1}, {"user:a": [2, 3], "user:b": [1, 2]}),
        (("--keep", "0"), {"user:a": 3, "user:b": 2}, {"user:a": [], "user:b": []}),
        (("--older-than", "2d"), {"user:a": 1}, {"user:a": [2, 3], "user:b": [1, 2]}),
        (("--older-than", "25h"), {"user:a": 1}, {"user:a": [2, 3], "user:b": [1, 2]}),
        (("--older-than", "24h"), {"user:a": 2, "user:b": 1}, {"user:a": [3], "user:b": [2]}),
        (("--older-than", "30d"), {}, {"user:a": [1, 2, 3], "user:b": [1, 2]}),
        (("--keep", "9"), {}, {"user:a": [1, 2, 3], "user:b": [1, 2]}),
        (("--keep", "1", "--scope", "user:b"), {"user:b": 1}, {"user:a": [1, 2, 3], "user:b": [2]}),
        # Either is enough.
        (("--keep", "2", "--older-than", "24h"), {"user:a": 2, "user:b": 1}, {"user:a": [3], "user:b": [2]}),
    ],
)
def test_a_prune_is_a_preview_until_it_is_told_to_write(manage, caller, options, removed, left):
    before = store_rows()
    preview = manage(*on_tenant("prune", *options, "--json"))
    assert store_rows() == before
    assert (preview.status, preview.json["write"], preview.json["removed"]) == (0, False, sum(removed.values()))
    text = manage(*on_tenant("prune", *options)).out.splitlines()
    total, feeds = sum(removed.values()), len(removed)
    summary = f"would remove {total} event{'s' * (total != 1)} of {feeds} feed{'s' * (feeds != 1)}"
    summary = summary if removed else "nothing to remove"
    assert text == [*(f"{scope}  {count}" for scope, count in removed.items()), summary]
    assert store_rows() == before
    done = manage(*on_tenant("prune", *options, "--write", "--json")).json
    assert {found["scope"]: found["removed"] for found in done["feeds"]} == removed
    assert (done["verb"], done["project"], done["write"]) == ("prune", "tenant", True)
    assert {scope: sequences(caller, scope) for scope in left} == left
    # The earliest cursor that is told replays without a gap.
    for found in done["feeds"]:
        assert changes.read(caller, scope=found["scope"], cursor=found["earliest_cursor"]).gap is None
    assert manage(*on_tenant("prune", *options, "--write")).out == "nothing to remove\n"


def test_a_prune_touches_events_of_one_project_alone(manage, caller):
    neighbour = projects.named("neighbour")
    before, mine = store_rows(neighbour.pk), store_rows(caller.project_id)
    out = manage(*on_tenant("prune", "--keep", "0", "--write")).out
    assert out == "user:a  3\nuser:b  2\nremoved 5 events of 2 feeds\n"
    assert store_rows(neighbour.pk) == before
    after = store_rows(caller.project_id)
    assert {name for name in after if after[name] != mine[name]} == {"memory.ChangeEvent", "memory.Scope"}


def test_a_reader_that_is_behind_a_prune_is_told_what_it_missed(manage, caller):
    start = changes.read(caller, scope="user:a", limit=1).checkpoint
    manage(*on_tenant("prune", "--keep", "1", "--write"))
    page = changes.read(caller, scope="user:a", cursor=start)
    assert (page.gap.kind, page.events) == ("retention", [])


def test_a_reset_starts_the_named_feeds_over(manage, caller):
    cursors = {scope: feed(caller, scope).head for scope in ("user:a", "user:b")}
    streams = {scope: str(feed(caller, scope).stream) for scope in cursors}
    ran = manage(*on_tenant("reset", "--scope", "user:a", "--json"))
    (made,) = ran.json["feeds"]
    assert (ran.status, ran.json["verb"], ran.json["project"], made["scope"]) == (0, "reset", "tenant", "user:a")
    assert made["stream"] == str(feed(caller, "user:a").stream) != streams["user:a"]
    assert str(feed(caller, "user:b").stream) == streams["user:b"]
    gaps = {scope: changes.read(caller, scope=scope, cursor=cursor).gap for scope, cursor in cursors.items()}
    assert (gaps["user:a"].kind, gaps["user:b"]) == ("stream_reset", None)


def test_a_reset_of_all_leaves_documents_and_other_projects_alone(manage, caller):
    neighbour = projects.named("neighbour")
    theirs, mine = store_rows(neighbour.pk), store_rows(caller.project_id)
    lines = manage(*on_tenant("reset", "--all")).out.splitlines()
    assert lines == [
        f"user:a  {feed(caller, 'user:a').stream}",
        f"user:b  {feed(caller, 'user:b').stream}",
        "reset 2 feeds",
    ]
    assert store_rows(neighbour.pk) == theirs
    after = store_rows(caller.project_id)
    assert {name for name in after if after[name] != mine[name]} <= {"memory.ChangeEvent", "memory.Scope"}
    assert documents.read(caller, scope="user:a", path="x") is not None


def test_a_scope_that_is_not_there_cannot_be_reset(manage, caller):
    before = store_rows()
    # Neither it nor the one named before it.
    for named in ((), ("--scope", "user:a")):
        ran = manage(*on_tenant("reset", *named, "--scope", "user:absent"))
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
        assert "user:absent" in ran.err
        assert store_rows() == before


@pytest.mark.parametrize(
    "line",
    [
        ("prune",),
        ("prune", "--write"),
        ("prune", "--keep", "-1"),
        ("prune", "--keep", "some"),
        ("prune", "--older-than", "30"),
        ("prune", "--older-than", "0d"),
        ("prune", "--older-than", "1w"),
        ("prune", "--older-than", "99999999999d"),
        ("reset",),
        ("reset", "--all", "--scope", "user:a"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_changes_nothing(manage, caller, line):
    before = store_rows()
    ran = manage(*on_tenant(*line))
    assert (ran.status, ran.out) == (2, "")
    assert store_rows() == before


@pytest.mark.parametrize("verb", [("prune", "--keep", "1"), ("reset", "--all")])
def test_a_missing_project_is_refused(manage, verb):
    ran = manage("changes", verb[0], "--project", "absent", *verb[1:])
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: [project_not_found] no project 'absent'")
