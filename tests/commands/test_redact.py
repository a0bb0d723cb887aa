"""``manage.py redact``: which turns lose their words, and the sessions documents that go with them."""

from __future__ import annotations

import json

import pytest

from conversations.operations import projections, turns
from conversations.operations import redaction as turn_redaction
from memory.operations import documents
from search.operations import turns as turn_search
from tests.contract.wire.conversation_rows import store_rows

pytestmark = pytest.mark.django_db

ONE = "give exactly one of --all, --through N or --turns N[,N...]"


@pytest.fixture
def talked(store):
    for content in ("first words", "second words", "third words"):
        store.turn("s1", content)
    store.project("s1", 3, "of two and three", span=2)
    store.project("s1", 1, "of one")
    store.turn("s2", "other words")
    store.write("sessions/s1", "notes", scope="user:b")
    store.write("sessions/s1", "notes", scope="user:a/proj:x")
    store.write("sessions/s2", "notes", scope="user:b")
    store.write("notes/s1", "sessions/s1", scope="user:b")
    return store


def _blank(store, conversation="s1"):
    page = turns.read(store.by("x"), conversation_id=conversation)
    return [row["turn"] for row in map(json.loads, page.rows) if row["redacted"]]


def _sessions(store):
    found = {}
    for scope in ("user:b", "user:a/proj:x"):
        for name in ("s1", "s2"):
            document = documents.read(store.by("x"), scope=scope, path=f"sessions/{name}")
            if document is not None:
                found[scope, name] = json.loads(document)["redacted"]
    return found


@pytest.mark.parametrize(
    ("flags", "blank", "text"),
    [
        (["--turns", "2"], [2], "redacted 1 turn of s1\n"),
        (["--turns", "3,1,3,99"], [1, 3], "redacted 2 turns of s1\n"),
        (["--through", "2"], [1, 2], "redacted 2 turns of s1\n"),
        (["--through", "9" * 30], [1, 2, 3], "redacted 3 turns of s1\n"),
    ],
)
def test_the_turns_named_lose_their_words(talked, manage, flags, blank, text):
    ran = manage("redact", "s1", *flags)
    assert (ran.status, ran.out, ran.err) == (0, text, "")
    assert _blank(talked) == blank
    assert _blank(talked, "s2") == []
    assert set(_sessions(talked).values()) == {False}


def test_projections_over_a_turn_lose_their_text(talked, manage):
    manage("redact", "s1", "--turns", "2")
    page = projections.read(talked.by("x"), conversation_id="s1")
    assert [json.loads(row)["text"] for row in page.rows] == ["of one", ""]


def test_all_takes_the_sessions_documents_of_every_scope_along(talked, manage):
    ran = manage("redact", "s1", "--all")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "redacted 3 turns of s1\nredacted /sessions/s1 in user:a/proj:x\nredacted /sessions/s1 in user:b\n"
    )
    assert _blank(talked) == [1, 2, 3]
    assert _sessions(talked) == {("user:b", "s1"): True, ("user:a/proj:x", "s1"): True, ("user:b", "s2"): False}
    assert json.loads(documents.read(talked.by("x"), scope="user:b", path="notes/s1"))["redacted"] is False


def test_po_15_repeating_counts_the_turns_again_and_finds_no_document(store, manage):
    store.turn("s1", "x")
    store.write("sessions/s1", "notes", scope="user:root/proj:proj")
    first = manage("redact", "s1", "--all", "--json")
    assert first.out == (
        '{"verb": "redact", "conversation_id": "s1", "count": 1, '
        '"documents": [{"scope": "user:root/proj:proj", "path": "sessions/s1"}], "client": null}\n'
    )
    again = manage("redact", "s1", "--all", "--json")
    assert (again.json["count"], again.json["documents"]) == (1, [])


def test_a_conversation_without_turns_still_loses_its_sessions_documents(store, manage):
    store.write("sessions/s9", "notes")
    ran = manage("redact", "s9", "--all")
    assert (ran.status, ran.out) == (0, "no turns matched in s9\nredacted /sessions/s9 in user:a\n")


@pytest.mark.parametrize("args", [["s1", "--turns", "7"], ["nobody", "--all"], ["nobody", "--through", "3"]])
def test_po_14_nothing_matched_is_said_and_changes_nothing(talked, manage, args):
    before = store_rows()
    ran = manage("redact", *args)
    assert (ran.status, ran.out, ran.err) == (0, f"no turns matched in {args[0]}\n", "")
    assert store_rows() == before


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["s1"], ONE),
        (["s1", "--all", "--turns", "1"], ONE),
        (["s1", "--all", "--through", "1"], ONE),
        (["s1", "--through", "1", "--turns", "1"], ONE),
        (["s1", "--through", "0"], "0 is not in the range x>=1"),
        (["s1", "--through", "x"], "not a valid integer"),
        (["s1", "--turns", "0"], "turn numbers start at 1"),
        (["s1", "--turns", "1,x"], "turn numbers start at 1"),
        (["s1", "--turns", "1,,2"], "turn numbers start at 1"),
        (["s1", "--turns", ""], "turn numbers start at 1"),
        (["s1", "--turns", "-1"], "turn numbers start at 1"),
        (["s1", "--turns", "\u0661"], "turn numbers start at 1"),
        (["a/b", "--all"], "one flat segment"),
        (["..", "--all"], "reserved"),
        ([], "Missing argument"),
    ],
)
def test_po_14_a_wrong_command_line_is_status_2_and_erases_nothing(
    talked, manage, args, said, django_assert_num_queries
):
    with django_assert_num_queries(0):
        ran = manage("redact", *args)
        told = manage("redact", *args, "--json")
    assert (ran.status, ran.out, told.status, told.json["error"]) == (2, "", 2, "usage")
    assert said in ran.err
    assert said in told.json["hint"]


def test_the_trail_names_the_actor_given(talked, manage):
    manage("redact", "s1", "--turns", "1")
    manage("redact", "s1", "--all", "--actor", "ops:eve")
    acts = [json.loads(act) for act in turn_redaction.trail(talked.by("x"), conversations=["s1"])]
    assert [(act["actor"], act["turns"]) for act in acts] == [("ops:eve", [1, 2, 3]), ("admin:redact", [1])]


def test_another_project_of_the_same_names_is_left_alone(talked, empty, manage):
    empty.turn("s1", "x")
    empty.write("sessions/s1", "x", scope="user:b")
    manage("redact", "s1", "--all")
    assert _blank(empty) == []
    assert json.loads(documents.read(empty.by("x"), scope="user:b", path="sessions/s1"))["redacted"] is False
    manage("redact", "s1", "--all", "--project", "empty")
    assert _blank(empty) == [1]


def test_po_17_erased_words_are_found_nowhere_and_exported_as_a_skeleton(talked, manage, tmp_path):
    caller = talked.by("x")
    assert len(turn_search.search(caller, query="words", conversations=["s1"])) == 3
    manage("redact", "s1", "--turns", "1")
    assert [json.loads(turn)["turn"] for turn in turn_search.search(caller, query="words", conversations=["s1"])] == [
        3,
        2,
    ]
    manage("export", tmp_path / "out", "--conversation", "s1")
    first = json.loads((tmp_path / "out/conversations/s1/turns.jsonl").read_text().splitlines()[0])
    assert (first["messages"], first["redacted"], first["actor"]) == ([], True, "a:1")
    assert list(first) == ["neosian_format", "turn", "created_at", "messages", "actor", "redacted"]
