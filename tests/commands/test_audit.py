"""``manage.py audit``: a scope's ledger, newest first, without content."""

from __future__ import annotations

import pytest
import time_machine

pytestmark = pytest.mark.django_db


@pytest.fixture
def lived(store):
    """A minute apart: two writes, a deletion, an erasure of a path and of the scope, a write under another name."""
    steps = [
        lambda: store.write("a", "secret", by="c:1"),
        lambda: store.write("a", "secret", by="c:1#4"),
        lambda: store.delete("a", by="c:1/x#2"),
        lambda: store.redact("a", by="ops:1"),
        lambda: store.redact(by="c:1"),
        lambda: store.write("b", "words", by="c:10"),
    ]
    for minute, step in enumerate(steps):
        with time_machine.travel(f"2026-01-02T03:0{minute}:00Z", tick=False):
            step()
    store.write("a", "elsewhere", scope="user:a/proj:x")
    return store


LINES = [
    "2026-01-02T03:05:00Z  c:10  created  /b v1\n",
    "2026-01-02T03:04:00Z  c:1  redacted  1 at scope-wide\n",
    "2026-01-02T03:03:00Z  ops:1  redacted  1 at /a\n",
    "2026-01-02T03:02:00Z  c:1/x#2  deleted  /a v3 (redacted)\n",
    "2026-01-02T03:01:00Z  c:1#4  modified  /a v2 (redacted)\n",
    "2026-01-02T03:00:00Z  c:1  created  /a v1 (redacted)\n",
]


@pytest.mark.parametrize(
    ("flags", "lines"),
    [
        ([], LINES),
        (["--limit", "2"], LINES[:2]),
        (["--limit", "99"], LINES),
        (["--since", "2026-01-02T03:04:00Z"], LINES[:2]),
        (["--since", "2026-01-02T05:04:00+02:00", "--limit", "1"], LINES[:1]),
        (["--actor", "c:1"], [LINES[1], *LINES[3:]]),
        (["--actor", "c:1", "--limit", "2"], [LINES[1], LINES[3]]),
        (["--actor", "c:1/x"], [LINES[3]]),
        (["--actor", "ops:1"], [LINES[2]]),
    ],
)
def test_writes_and_erasures_stand_in_one_list_newest_first(lived, manage, flags, lines):
    ran = manage("audit", "--scope", "user:a", *flags)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == "".join(lines)


@pytest.mark.parametrize("flags", [["--actor", "c"], ["--actor", "%"], ["--since", "2030-01-01T00:00:00Z"]])
def test_nothing_found_is_said(lived, manage, flags):
    ran = manage("audit", "--scope", "user:a", *flags)
    assert (ran.status, ran.out) == (0, "no ledger entries for scope 'user:a'\n")
    assert manage("audit", "--scope", "user:a", "--json", *flags).json["entries"] == []


def test_the_json_has_every_key_of_the_published_one(lived, manage):
    told = manage("audit", "--scope", "user:a", "--json", "--limit", "3").json
    assert (told["scope"], told["conversation_id"], told["client"]) == ("user:a", None, None)
    common = {"conversation_id": None, "turn": None, "continues": [], "turns": []}
    assert told["entries"] == [
        {
            "created_at": "2026-01-02T03:05:00Z",
            "actor": "c:10",
            "event": "created",
            "path": "b",
            "version": 1,
            "redacted": False,
            "count": None,
            **common,
        },
        {
            "created_at": "2026-01-02T03:04:00Z",
            "actor": "c:1",
            "event": "redacted",
            "path": None,
            "version": None,
            "redacted": False,
            "count": 1,
            **common,
        },
        {
            "created_at": "2026-01-02T03:03:00Z",
            "actor": "ops:1",
            "event": "redacted",
            "path": "a",
            "version": None,
            "redacted": False,
            "count": 1,
            **common,
        },
    ]


def test_content_is_never_told(lived, manage):
    lived.write("sessions/s", "words of a session")
    for flags in ([], ["--json"]):
        said = manage("audit", "--scope", "user:a", *flags).out
        assert "words" not in said
        assert "secret" not in said


def test_a_sessions_document_tells_what_it_continues_until_it_is_erased(store, manage):
    store.write("sessions/s2", "# x session s2\n\n- agent: x\n- continues: s0\n- turns: 1\n- continues: s1\n")
    store.write("notes/s2", "- continues: s0\n")
    first, second = manage("audit", "--scope", "user:a").out.splitlines()
    assert first.endswith("  created  /notes/s2 v1")
    assert second.endswith("  created  /sessions/s2 v1  continues s0, s1")
    assert manage("audit", "--scope", "user:a", "--json").json["entries"][1]["continues"] == ["s0", "s1"]
    store.redact("sessions/s2")
    assert manage("audit", "--scope", "user:a").out.splitlines()[-1].endswith("  /sessions/s2 v1 (redacted)")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "Missing option '--scope'"),
        (["--scope", "bad"], "must match <type>:<id>[/<type>:<id>...]"),
        (["--scope", "user:a", "--limit", "0"], "0 is not in the range x>=1"),
        (["--scope", "user:a", "--since", "2020"], "Invalid isoformat string"),
    ],
)
def test_a_wrong_command_line_is_status_2(store, manage, args, said, django_assert_num_queries):
    with django_assert_num_queries(0):
        ran = manage("audit", *args)
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err


def test_an_unknown_project_is_refused_by_its_code(store, manage):
    ran = manage("audit", "--scope", "user:a", "--project", "nope", "--json")
    assert ran.status == 1
    assert ran.json["error"].startswith("[project_not_found] no project 'nope'")
    assert ran.err.startswith("error: [project_not_found] no project 'nope'")
