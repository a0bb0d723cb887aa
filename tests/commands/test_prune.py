"""``manage.py prune``: which conversations are old, what a preview says, and breaking off."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
import time_machine

from conversations.operations import idle, turns
from conversations.operations import redaction as turn_redaction
from memory.operations import documents
from neosian_site.core import clock
from tests.contract.wire.conversation_rows import store_rows

pytestmark = pytest.mark.django_db

NOW = "2026-03-04T12:00:00.5Z"


@pytest.fixture(autouse=True)
def _noon():
    with time_machine.travel(NOW, tick=False):
        yield


def _ago(store, conversation, *minutes, by="a:1"):
    for ago in minutes:
        with time_machine.travel(clock.parse(NOW) - timedelta(minutes=ago), tick=False):
            store.turn(conversation, "words", by=by)


def _blank(store, conversation):
    page = turns.read(store.by("x"), conversation_id=conversation)
    return [json.loads(row)["redacted"] for row in page.rows]


def test_po_16_a_fresh_conversation_is_not_old(store, manage):
    _ago(store, "s1", 5)
    ran = manage("prune", "--older-than", "1h")
    assert (ran.status, ran.out, ran.err) == (0, "nothing older than 2026-03-04T11:00:00Z\n", "")
    assert manage("prune", "--older-than", "1h", "--json").json == {
        "verb": "prune",
        "cutoff": "2026-03-04T11:00:00Z",
        "dry_run": True,
        "turns": 0,
        "conversations": [],
        "documents": [],
        "client": None,
    }


def test_po_16_one_young_turn_keeps_the_whole_conversation(store, manage):
    _ago(store, "s1", 120, 5)
    assert manage("prune", "--older-than", "1h", "--write").out == "nothing older than 2026-03-04T11:00:00Z\n"
    assert _blank(store, "s1") == [False, False]


def test_po_16_a_preview_changes_nothing_and_writing_erases_what_it_said(store, manage):
    _ago(store, "s1", 121, 120)
    _ago(store, "s2", 5)
    before = store_rows()
    for flags in ([], ["--dry-run"]):
        ran = manage("prune", "--older-than", "1h", *flags)
        assert (ran.status, ran.err) == (0, "")
        assert ran.out == (
            "s1  2 turns  last 2026-03-04T10:00:00Z\n"
            "would redact 1 conversation, 2 turns older than 2026-03-04T11:00:00Z\n"
        )
    assert store_rows() == before
    assert manage("prune", "--older-than", "1h", "--write").out == (
        "s1  2 turns  last 2026-03-04T10:00:00Z\nredacted 1 conversation, 2 turns older than 2026-03-04T11:00:00Z\n"
    )
    assert (_blank(store, "s1"), _blank(store, "s2")) == ([True, True], [False])
    assert manage("prune", "--older-than", "1h", "--write").out == "nothing older than 2026-03-04T11:00:00Z\n"


def test_sessions_documents_go_with_their_conversations(store, manage):
    _ago(store, "s1", 200)
    _ago(store, "s2", 120)
    _ago(store, "s3", 5)
    for name in ("s1", "s3"):
        store.write(f"sessions/{name}", "notes", scope="user:b")
        store.write(f"sessions/{name}", "notes", scope="user:a/proj:x")
    ran = manage("prune", "--before", "2026-03-04T12:00:00+01:00")
    assert ran.out == (
        "s1  1 turn  last 2026-03-04T08:40:00Z\n"
        "s2  1 turn  last 2026-03-04T10:00:00Z\n"
        "would redact 2 conversations, 2 turns older than 2026-03-04T11:00:00Z\n"
        "would redact /sessions/s1 in user:a/proj:x\n"
        "would redact /sessions/s1 in user:b\n"
    )
    done = manage("prune", "--before", "2026-03-04T12:00:00+01:00", "--write", "--json")
    assert done.json == {
        "verb": "prune",
        "cutoff": "2026-03-04T11:00:00Z",
        "dry_run": False,
        "turns": 2,
        "conversations": [
            {"conversation_id": "s1", "turns": 1, "last_at": "2026-03-04T08:40:00Z"},
            {"conversation_id": "s2", "turns": 1, "last_at": "2026-03-04T10:00:00Z"},
        ],
        "documents": [
            {"scope": "user:a/proj:x", "path": "sessions/s1"},
            {"scope": "user:b", "path": "sessions/s1"},
        ],
        "client": None,
    }
    redacted = {
        (scope, name): json.loads(documents.read(store.by("x"), scope=scope, path=f"sessions/{name}"))["redacted"]
        for scope in ("user:b", "user:a/proj:x")
        for name in ("s1", "s3")
    }
    assert redacted == {
        ("user:b", "s1"): True,
        ("user:a/proj:x", "s1"): True,
        ("user:b", "s3"): False,
        ("user:a/proj:x", "s3"): False,
    }


def test_a_turn_as_old_as_the_cutoff_itself_is_young(store, manage):
    _ago(store, "s1", 60)
    at = clock.render(clock.parse(NOW) - timedelta(minutes=60))
    assert manage("prune", "--before", at).out == "nothing older than 2026-03-04T11:00:00Z\n"
    _ago(store, "s0", 61)
    assert manage("prune", "--before", "2026-03-04T10:59:00Z").out == "nothing older than 2026-03-04T10:59:00Z\n"


def test_a_conversation_that_is_partly_blank_is_erased_whole(store, manage):
    _ago(store, "s1", 120, 110)
    manage("redact", "s1", "--turns", "1")
    assert manage("prune", "--older-than", "1h", "--write").out.startswith("s1  2 turns  ")
    assert _blank(store, "s1") == [True, True]


def test_the_trail_names_the_actor_and_other_projects_are_left_alone(store, empty, manage):
    _ago(store, "s1", 120)
    _ago(empty, "s1", 120)
    manage("prune", "--older-than", "1h", "--write", "--project", "empty", "--actor", "ops:1")
    assert (_blank(store, "s1"), _blank(empty, "s1")) == ([False], [True])
    manage("prune", "--older-than", "1h", "--write")
    for who, actor in ((empty, "ops:1"), (store, "admin:prune")):
        (act,) = [json.loads(act) for act in turn_redaction.trail(who.by("x"))]
        assert (act["actor"], act["turns"]) == (actor, [1])


def test_more_than_a_page_is_pruned_page_by_page(store, manage, monkeypatch):
    monkeypatch.setattr(idle, "PAGE", 3)
    for number in range(8):
        _ago(store, f"s{number}", 120)
    ran = manage("prune", "--older-than", "1h", "--write")
    assert ran.out.splitlines()[-1] == "redacted 8 conversations, 8 turns older than 2026-03-04T11:00:00Z"
    assert manage("prune", "--older-than", "1h").out == "nothing older than 2026-03-04T11:00:00Z\n"


def test_a_conversation_continued_meanwhile_is_kept_and_not_told(store, manage, monkeypatch):
    _ago(store, "s1", 120)
    _ago(store, "s2", 120)
    store.write("sessions/s2", "notes")
    real = idle.hold_if_idle

    def continued(caller, *, conversation_id, before):
        if conversation_id == "s2":
            store.turn("s2", "back again")
        return real(caller, conversation_id=conversation_id, before=before)

    monkeypatch.setattr(idle, "hold_if_idle", continued)
    done = manage("prune", "--older-than", "1h", "--write", "--json").json
    assert [row["conversation_id"] for row in done["conversations"]] == ["s1"]
    assert (done["turns"], done["documents"]) == (1, [])
    assert _blank(store, "s2") == [False, False]
    assert json.loads(documents.read(store.by("x"), scope="user:a", path="sessions/s2"))["redacted"] is False


def test_a_run_that_broke_off_tells_what_it_erased_and_the_next_one_finishes(store, manage, monkeypatch):
    for name in ("s1", "s2", "s3"):
        _ago(store, name, 120)
        store.write(f"sessions/{name}", "notes")
    real = turn_redaction.redact

    def interrupted(caller, *, conversation_id, **more):
        if conversation_id == "s2":
            raise KeyboardInterrupt
        return real(caller, conversation_id=conversation_id, **more)

    with monkeypatch.context() as patched:
        patched.setattr(turn_redaction, "redact", interrupted)
        ran = manage("prune", "--older-than", "1h", "--write")
    assert ran.status == 130
    assert ran.out == (
        "s1  1 turn  last 2026-03-04T10:00:00Z\n"
        "redacted 1 conversation, 1 turn older than 2026-03-04T11:00:00Z\n"
        "redacted /sessions/s1 in user:a\n"
    )
    done = manage("prune", "--older-than", "1h", "--write", "--json").json
    assert [row["conversation_id"] for row in done["conversations"]] == ["s2", "s3"]
    assert [row["path"] for row in done["documents"]] == ["sessions/s2", "sessions/s3"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "give exactly one of --older-than and --before"),
        (["--older-than", "1d", "--before", "2026-01-01T00:00:00Z"], "give exactly one of --older-than and --before"),
        (["--older-than", "1h", "--write", "--dry-run"], "--write and --dry-run exclude each other"),
        (["--older-than", "5x"], "not a duration: '5x' (e.g. 30d or 12h)"),
        (["--older-than", "0d"], "not a duration: '0d' (e.g. 30d or 12h)"),
        (["--older-than", "01d"], "not a duration: '01d' (e.g. 30d or 12h)"),
        (["--older-than", "1d\n"], "not a duration: '1d\\n' (e.g. 30d or 12h)"),
        (["--older-than", "\u0661d"], "not a duration: '\u0661d' (e.g. 30d or 12h)"),
        (["--older-than", "99999999999d"], "'99999999999d' is longer than there is time"),
        (["--older-than", "999999d"], "'999999d' is longer than there is time"),
        (["--before", "2026-01-01T00:00:00"], "naive wire timestamp refused"),
        (["--before", "yesterday"], "Invalid isoformat string"),
    ],
)
def test_po_16_a_wrong_command_line_is_status_2(store, manage, args, said, django_assert_num_queries):
    with django_assert_num_queries(0):
        ran = manage("prune", *args)
        told = manage("prune", *args, "--json")
    assert (ran.status, ran.out, told.status, told.json["error"]) == (2, "", 2, "usage")
    assert said in ran.err
    assert said in told.json["hint"]
