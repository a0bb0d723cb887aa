"""``manage.py export``: what an archive holds, and what is left when writing one fails."""

from __future__ import annotations

import errno
import fcntl
import json
import resource
import stat

import pytest
import time_machine

from memory import archive
from memory.archive import ScopeArchive
from memory.operations import store as scope_store
from neosian_site.workflows.archive import export as workflow
from tests.commands.conftest import files
from tests.contract.wire.conversation_rows import store_rows

pytestmark = pytest.mark.django_db

WHEN = "2026-01-02T03:04:05Z"


@pytest.fixture
def sample(store):
    """One document, version and redaction of a scope, one redaction and turn of a conversation."""
    with time_machine.travel(WHEN, tick=False):
        store.write("a", "x", scope="user:root/proj:proj")
        store.redact(scope="user:root/proj:proj")
        store.turn("s1", "hi é")
    return store


def test_po_01_erased_history_leaves_its_skeleton_and_later_writes_their_bytes(store, manage, tmp_path):
    scope = "user:a/proj:x"
    with time_machine.travel(WHEN, tick=False):
        store.write("notes/a", "---\nhi é\n", scope)
        store.write("notes/a", "two", scope)
        store.delete("notes/a", scope)
        store.redact(scope=scope)
        store.write("notes/b", "fresh", scope)
    assert manage("export", tmp_path / "out").status == 0
    root = tmp_path / "out/user%3Aa/proj%3Ax"
    rows = [json.loads(line) for line in (root / "versions/notes/a.jsonl").read_text().splitlines()]
    assert rows == [
        {
            "neosian_format": 1,
            "path": "notes/a",
            "version": number,
            "action": action,
            "content": "",
            "actor": "c:1",
            "created_at": WHEN,
            "redacted": True,
        }
        for number, action in enumerate(["created", "modified", "deleted"], start=1)
    ]
    assert (root / "redactions.jsonl").read_bytes() == (
        b'{"ts":"2026-01-02T03:04:05Z","actor":"ops:1","path":null,"count":1}\n'
    )
    assert (root / "documents/notes/b.md").read_bytes() == (
        b"---\nneosian_format: 1\nversion: 1\ncreated_at: '2026-01-02T03:04:05Z'\n"
        b"updated_at: '2026-01-02T03:04:05Z'\nactor: c:1\n---\nfresh"
    )
    assert not (root / "documents/notes/a.md").exists()


def test_po_02_a_turn_is_one_line_of_ascii_in_a_fixed_order(sample, manage, tmp_path):
    assert manage("export", tmp_path / "out").status == 0
    assert (tmp_path / "out/conversations/s1/turns.jsonl").read_bytes() == (
        b'{"neosian_format":1,"turn":1,"created_at":"2026-01-02T03:04:05Z","messages":[{"role":"user",'
        b'"content":"hi \\u00e9","reasoning":null,"tool_calls":[],"tool_call_id":null}],"actor":"a:1"}\n'
    )


def test_a_documents_own_opening_fence_and_line_ends_are_kept(store, manage, tmp_path):
    store.write("a", "---\nx\r\ny\r")
    assert manage("export", tmp_path / "out").status == 0
    assert (tmp_path / "out/user%3Aa/documents/a.md").read_bytes().endswith(b"---\n---\nx\r\ny\r")


def test_po_08_the_report_counts_every_unit(sample, manage, tmp_path):
    manage("redact", "s1", "--all")
    ran = manage("export", tmp_path / "out", "--json")
    assert (ran.status, ran.err) == (0, "")
    assert ran.json == {
        "verb": "export",
        "archive": str(tmp_path / "out"),
        "client": None,
        "units": [
            {
                "kind": "scope",
                "name": "user:root/proj:proj",
                "documents": 1,
                "versions": 1,
                "redactions": 1,
                "turns": 0,
                "projections": 0,
            },
            {
                "kind": "conversation",
                "name": "s1",
                "documents": 0,
                "versions": 0,
                "redactions": 1,
                "turns": 1,
                "projections": 0,
            },
        ],
    }


def test_the_text_is_one_line_a_unit_and_a_total(sample, manage, tmp_path):
    sample.turn("s2", "x")
    sample.turn("s2", "y")
    sample.project("s2", 1, "p")
    ran = manage("export", tmp_path / "out")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "scope        user:root/proj:proj  1 document  1 version  1 redaction\n"
        "conversation s1  1 turn  0 projections\n"
        "conversation s2  2 turns  1 projection\n"
        f"exported 1 scope, 2 conversations to {tmp_path}/out\n"
    )


def test_po_04_an_occupied_directory_is_refused_and_stays_as_it_is(sample, manage, tmp_path):
    manage("export", tmp_path / "out")
    before = files(tmp_path / "out")
    sample.write("new", "x", scope="user:aaa")
    ran = manage("export", tmp_path / "out")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == ("error: [memory_conflict] Memory conflict in scope 'user:root/proj:proj': target_occupied\n")
    ran = manage("export", tmp_path / "out", "--conversation", "s1", "--json")
    assert (ran.status, ran.json) == (
        1,
        {"error": "[agent_conversation_conflict] Conversation conflict on 's1': target_occupied", "hint": None},
    )
    assert files(tmp_path / "out") == before


def test_po_06_naming_one_kind_moves_nothing_of_the_other(sample, manage, tmp_path):
    sample.write("a", "x")
    manage("export", tmp_path / "scopes", "--scope", "user:a")
    assert sorted(files(tmp_path / "scopes")) == ["user%3Aa/documents/a.md", "user%3Aa/versions/a.jsonl"]
    manage("export", tmp_path / "turns", "--conversation", "s1")
    assert sorted(files(tmp_path / "turns")) == ["conversations/s1/turns.jsonl"]


def test_named_units_may_join_an_archive_that_holds_others(sample, manage, tmp_path):
    sample.write("a", "x")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    manage("export", whole)
    for flags in (("--scope", "user:root/proj:proj"), ("--conversation", "s1"), ("--scope", "user:a")):
        assert manage("export", parts, *flags).status == 0
    assert files(parts) == files(whole)


def test_a_named_unit_that_holds_nothing_is_told_and_writes_no_file(store, manage, tmp_path):
    ran = manage("export", tmp_path / "out", "--scope", "user:none", "--scope", "user:none", "--conversation", "none")
    assert ran.status == 0
    assert ran.out == (
        "scope        user:none  0 documents  0 versions  0 redactions\n"
        "conversation none  0 turns  0 projections\n"
        f"exported 1 scope, 1 conversation to {tmp_path}/out\n"
    )
    assert files(tmp_path / "out") == {}


def test_po_07_an_empty_store_makes_nothing(manage, store, tmp_path):
    ran = manage("export", tmp_path / "out")
    assert (ran.status, ran.out, ran.err) == (0, "nothing to export\n", "")
    assert manage("export", tmp_path / "out", "--json").json["units"] == []
    assert not (tmp_path / "out").exists()


def test_po_27_an_archive_holds_documents_turns_and_their_trails_alone(sample, manage, tmp_path):
    sample.write("a", "x")  # Makes a change event, too.
    manage("export", tmp_path / "out")
    assert sorted(files(tmp_path / "out")) == [
        "conversations/s1/turns.jsonl",
        "user%3Aa/documents/a.md",
        "user%3Aa/versions/a.jsonl",
        "user%3Aroot/proj%3Aproj/documents/a.md",
        "user%3Aroot/proj%3Aproj/redactions.jsonl",
        "user%3Aroot/proj%3Aproj/versions/a.jsonl",
    ]


def test_all_erasing_acts_are_written_however_many(store, manage, tmp_path):
    store.write("a", "x")
    store.turn("s1", "x")
    for _ in range(3):
        store.redact("a")
    for _ in range(520):
        manage("redact", "s1", "--turns", "1")
    manage("export", tmp_path / "out")
    acts = (tmp_path / "out/conversations/s1/redactions.jsonl").read_text().splitlines()
    assert len(acts) == 520
    assert json.loads(acts[0])["turns"] == [1]
    assert len((tmp_path / "out/user%3Aa/redactions.jsonl").read_text().splitlines()) == 3


def test_only_the_owner_can_read_an_archive_and_its_new_parents(sample, manage, tmp_path):
    manage("export", tmp_path / "deep/er/out")
    for path in (tmp_path / "deep").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE((tmp_path / "deep").stat().st_mode) == 0o700
    # The lock the published tool makes.
    assert (tmp_path / "deep/er/out/.store.lock").read_bytes() == b"\0"


def test_exporting_changes_no_row(sample, manage, tmp_path):
    before = store_rows()
    manage("export", tmp_path / "out")
    assert store_rows() == before


def test_another_project_is_named_by_flag_or_by_the_environment(store, empty, manage, tmp_path, monkeypatch):
    empty.write("a", "theirs")
    assert manage("export", tmp_path / "none").out == "nothing to export\n"
    assert manage("export", tmp_path / "flag", "--project", "empty").status == 0
    monkeypatch.setenv("NEOSIAN_PROJECT", "empty")
    assert manage("export", tmp_path / "twin").status == 0
    assert files(tmp_path / "flag") == files(tmp_path / "twin") != {}
    ran = manage("export", tmp_path / "no", "--project", "nope")
    assert (ran.status, ran.err.splitlines()[0].partition("]")[0]) == (1, "error: [project_not_found")
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["{dir}/out", "--scope", "bad"], "must match <type>:<id>[/<type>:<id>...]"),
        (["{dir}/out", "--conversation", "a/b"], "one flat segment"),
        (["{dir}/file"], "is not a directory"),
        ([], "Missing argument"),
    ],
)
def test_a_wrong_command_line_is_status_2_and_opens_nothing(
    manage, store, tmp_path, args, said, django_assert_num_queries
):
    (tmp_path / "file").write_text("mine")
    args = [arg.format(dir=tmp_path) for arg in args]
    with django_assert_num_queries(0):
        ran = manage("export", *args)
        told = manage("export", *args, "--json")
    assert (ran.status, ran.out) == (2, "")
    assert said in ran.err
    assert told.status == 2
    assert told.json["error"] == "usage"
    assert said in told.json["hint"]
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "out").exists()


# --- Breaking off -----------------------------------------------------------------------------------------------------


def _full_disk_at(monkeypatch, name):
    real = workflow.open_new

    def open_new(path):
        if path.name == name:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))
        return real(path)

    monkeypatch.setattr(workflow, "open_new", open_new)


def test_an_export_that_breaks_off_keeps_whole_units_tells_them_and_is_marked(sample, manage, tmp_path, monkeypatch):
    sample.turn("s2", "x")
    sample.project("s2", 1, "p")
    _full_disk_at(monkeypatch, "projections.jsonl")
    ran = manage("export", tmp_path / "out", "--json")
    assert ran.status == 1
    assert ran.json["error"] == f"{tmp_path}/out/conversations/s2/projections.jsonl: No space left on device"
    assert ran.json["hint"] == "export again into an empty directory"
    assert [unit["name"] for unit in ran.json["units"]] == ["user:root/proj:proj", "s1"]
    # Nothing of the unit it broke off in.
    assert not (tmp_path / "out/conversations/s2").exists()
    assert (tmp_path / "out/conversations/s1/turns.jsonl").exists()
    for command in ("export", "restore"):
        ran = manage(command, tmp_path / "out", "--project", "default")
        assert (ran.status, ran.out) == (1, "")
        assert ran.err == (
            f"error: {tmp_path}/out holds an export that did not finish; export again into another directory\n"
        )


def test_an_export_that_breaks_off_at_once_leaves_nothing(sample, manage, tmp_path, monkeypatch):
    (tmp_path / "there").mkdir()
    _full_disk_at(monkeypatch, "a.jsonl")
    for name in ("new", "there"):
        ran = manage("export", tmp_path / name)
        assert ran.status == 1
        assert ran.err.startswith(f"error: {tmp_path}/{name}/user%3Aroot/proj%3Aproj/versions/a.jsonl: No space left")
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "there").iterdir()) == []


def test_a_file_the_system_does_not_take_whole_leaves_no_half_unit(sample, manage, tmp_path):
    """A real limit of the system, met in the middle of a write."""
    sample.write("big", "x" * 100_000, scope="user:z")
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, usual[1]))
    try:
        ran = manage("export", tmp_path / "out", "--scope", "user:root/proj:proj", "--scope", "user:z")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)
    assert ran.status == 1
    assert ran.out == "scope        user:root/proj:proj  1 document  1 version  1 redaction\n"
    assert ran.err == (
        f"error: {tmp_path}/out/user%3Az/documents/big.md: File too large\nhint: export again into an empty directory\n"
    )
    assert not (tmp_path / "out/user%3Az").exists()
    assert (tmp_path / "out/.unfinished-export").exists()


def test_an_export_that_is_killed_is_no_archive(sample, manage, tmp_path, monkeypatch):
    """Nothing tidies up after a process that is gone: the mark is there from the first file on."""
    marks = []
    real = workflow.write_unit

    def write_unit(source, root, unit):
        marks.append((root / ".unfinished-export").exists())
        return real(source, root, unit)

    monkeypatch.setattr(workflow, "write_unit", write_unit)
    manage("export", tmp_path / "out")
    assert marks == [True, True]
    assert not (tmp_path / "out/.unfinished-export").exists()


def test_a_directory_another_process_holds_is_refused(sample, manage, tmp_path):
    (tmp_path / "out").mkdir()
    with (tmp_path / "out/.store.lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in ("export", "restore"):
            ran = manage(command, tmp_path / "out")
            assert (ran.status, ran.err) == (1, f"error: {tmp_path}/out is in use by another process\n")
    assert files(tmp_path / "out") == {}


def test_paths_that_want_one_file_for_two_things_are_refused_by_name(store, manage, tmp_path):
    store.write("n", "x")
    store.write("n.md/x", "y")
    ran = manage("export", tmp_path / "out")
    assert ran.status == 1
    assert ran.err.startswith(
        f"error: there is no room for {tmp_path}/out/user%3Aa/documents/n.md/x.md beside another name of the archive\n"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("key", ["neosian_format", "version", "created_at", "updated_at", "actor", "redacted"])
def test_an_extra_the_head_has_no_room_for_is_refused_by_name(store, manage, tmp_path, key):
    row = {
        "scope": "user:a",
        "path": "a",
        "content": "",
        "version": 1,
        "created_at": WHEN,
        "updated_at": WHEN,
        "actor": None,
        "redacted": False,
        "extra": {key: 1},
    }
    rows = ScopeArchive(archive.documents([row]), [], [])
    scope_store.restore_scope(store.by("c:1"), scope="user:a", archive=rows)
    ran = manage("export", tmp_path / "out")
    assert ran.status == 1
    assert ran.err.startswith(
        "error: [memory_format_unsupported] Unsupported memory format for 'a' in scope 'user:a': "
        f"its extra holds the key '{key}'"
    )
    assert not (tmp_path / "out").exists()
