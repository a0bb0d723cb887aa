"""``manage.py restore`` (also called ``import``): what comes back, what is refused, and going on after a break."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from django.db import OperationalError

from memory.operations import documents
from neosian_site.workflows.archive import layout
from neosian_site.workflows.archive.stores import LocalStore
from tests.commands.conftest import files
from tests.contract.wire.conversation_rows import store_rows

pytestmark = pytest.mark.django_db

HEAD = "---\nneosian_format: 1\nversion: 1\ncreated_at: '2026-01-01T00:00:00Z'\nupdated_at: '2026-01-01T00:00:00Z'\n"
SCOPE = "user%3Aa"


@pytest.fixture
def filled(store, manage, tmp_path):
    """An archive of two scopes, one inside the other, and two conversations."""
    store.write("a", "one")
    store.write("a", "two\r\n", by="c:é")
    store.write("b/c", "")
    store.delete("b/c")
    store.write("secret", "x")
    store.redact("secret")
    store.write("n", "---\ndeep", scope="user:a/proj:x")
    store.turn("s1", "hi é", "again")
    store.turn("s1", "there")
    store.project("s1", 2, "both", span=2)
    store.turn("s2", "alone")
    manage("redact", "s1", "--turns", "1")
    assert manage("export", tmp_path / "archive").status == 0
    return tmp_path / "archive"


@pytest.mark.parametrize("command", ["restore", "import"])
def test_po_03_what_was_exported_comes_back_and_is_exported_the_same(filled, empty, manage, tmp_path, command):
    ran = manage(command, filled, "--project", "empty")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "scope        user:a  2 documents  5 versions  1 redaction\n"
        "scope        user:a/proj:x  1 document  1 version  0 redactions\n"
        "conversation s1  2 turns  1 projection\n"
        "conversation s2  1 turn  0 projections\n"
        f"imported 2 scopes, 2 conversations from {filled}\n"
    )
    assert manage("export", tmp_path / "again", "--project", "empty").status == 0
    assert files(tmp_path / "again") == files(filled)


def test_the_json_names_the_verb_import_and_every_unit(filled, empty, manage):
    told = manage("restore", filled, "--project", "empty", "--json").json
    assert (told["verb"], told["archive"], told["client"]) == ("import", str(filled), None)
    assert told["units"][2] == {
        "kind": "conversation",
        "name": "s1",
        "documents": 0,
        "versions": 0,
        "redactions": 1,
        "turns": 2,
        "projections": 1,
    }
    assert len(told["units"]) == 4


def test_po_13_actors_are_the_archives_and_nobody_elses(filled, empty, manage):
    manage("restore", filled, "--project", "empty")
    found = json.loads(documents.read(empty.by("x"), scope="user:a", path="a"))
    assert (found["actor"], found["version"], found["content"]) == ("c:é", 2, "two\r\n")
    assert "admin:restore" not in repr(store_rows(empty.project_id))


def test_writing_goes_on_from_the_restored_numbers(filled, empty, manage):
    manage("restore", filled, "--project", "empty")
    empty.write("b/c", "back")
    assert json.loads(documents.read(empty.by("x"), scope="user:a", path="b/c"))["version"] == 3


@pytest.mark.parametrize(
    ("flags", "landed"),
    [
        (["--scope", "user:a"], ["user:a"]),
        (["--conversation", "s2", "--conversation", "s1"], ["s1", "s2"]),
        (["--conversation", "s2", "--scope", "user:a/proj:x"], ["user:a/proj:x", "s2"]),
    ],
)
def test_only_what_is_named_lands(filled, empty, manage, flags, landed):
    told = manage("restore", filled, "--project", "empty", "--json", *flags).json
    assert [unit["name"] for unit in told["units"]] == landed
    store = LocalStore(empty.by("x"))
    assert [unit.name for unit in store.units()] == landed


def test_a_named_unit_the_archive_does_not_hold_is_told_and_makes_nothing(filled, empty, manage):
    ran = manage("restore", filled, "--project", "empty", "--scope", "user:none")
    assert ran.status == 0
    assert ran.out == (
        "scope        user:none  0 documents  0 versions  0 redactions\n"
        f"imported 1 scope, 0 conversations from {filled}\n"
    )
    assert LocalStore(empty.by("x")).units() == []


def test_a_directory_without_units_is_nothing_to_import(manage, store, tmp_path):
    (tmp_path / "user%3Aq/documents").mkdir(parents=True)
    (tmp_path / "conversations/cc").mkdir(parents=True)
    ran = manage("restore", tmp_path)
    assert (ran.status, ran.out) == (0, "nothing to import\n")


def test_an_archive_without_its_lock_or_on_a_disk_that_cannot_be_written_is_read(filled, empty, manage):
    (filled / ".store.lock").unlink()
    assert manage("restore", filled, "--project", "empty").status == 0
    assert not (filled / ".store.lock").exists()


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["{dir}/missing"], "is not a directory"),
        (["{dir}/file"], "is not a directory"),
        (["{dir}", "--scope", "bad"], "must match <type>:<id>[/<type>:<id>...]"),
        (["{dir}/missing", "--scope", "bad"], ""),
        (["{dir}", "--conversation", "a b"], "one flat segment"),
    ],
)
def test_po_05_a_wrong_command_line_is_status_2_and_opens_no_store(
    manage, store, tmp_path, args, said, django_assert_num_queries
):
    (tmp_path / "file").touch()
    args = [arg.format(dir=tmp_path) for arg in args]
    with django_assert_num_queries(0):
        ran = manage("import", *args)
        told = manage("import", *args, "--json")
    assert (ran.status, ran.out, told.status, told.json["error"]) == (2, "", 2, "usage")
    assert said in ran.err
    assert said in told.json["hint"]


# --- Occupied ---------------------------------------------------------------------------------------------------------


def test_one_occupied_unit_refuses_the_whole_run(filled, empty, manage):
    empty.turn("s2", "mine")
    before = store_rows()
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == "error: [agent_conversation_conflict] Conversation conflict on 's2': target_occupied\n"
    assert store_rows() == before


def test_a_named_unit_is_refused_where_the_store_holds_it_even_if_the_archive_does_not(filled, empty, manage):
    empty.write("a", "mine", scope="user:b")
    ran = manage("restore", filled, "--project", "empty", "--scope", "user:b")
    assert ran.status == 1
    assert ran.err == "error: [memory_conflict] Memory conflict in scope 'user:b': target_occupied\n"


# --- Going on ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def broken_off(filled, empty, manage, monkeypatch):
    """The archive, half restored: the database went away before the first conversation."""
    with monkeypatch.context() as patched:

        def gone(*args, **more):
            raise OperationalError("the connection is lost")

        patched.setattr("conversations.operations.store.restore_conversation", gone)
        ran = manage("restore", filled, "--project", "empty", "--json")
    assert ran.status == 1
    assert (ran.json["error"], ran.json["hint"]) == ("the connection is lost", "run it again with --resume")
    assert [unit["name"] for unit in ran.json["units"]] == ["user:a", "user:a/proj:x"]
    return filled


def test_a_run_that_broke_off_is_finished_by_resuming(broken_off, empty, manage, tmp_path):
    assert manage("restore", broken_off, "--project", "empty").status == 1
    ran = manage("restore", broken_off, "--project", "empty", "--resume")
    assert (ran.status, ran.err) == (0, "")
    assert ran.out == (
        "scope        user:a  2 documents  5 versions  1 redaction  present\n"
        "scope        user:a/proj:x  1 document  1 version  0 redactions  present\n"
        "conversation s1  2 turns  1 projection\n"
        "conversation s2  1 turn  0 projections\n"
        f"imported 0 scopes, 2 conversations from {broken_off}\n"
    )
    manage("export", tmp_path / "again", "--project", "empty")
    assert files(tmp_path / "again") == files(broken_off)
    before = store_rows()
    told = manage("restore", broken_off, "--project", "empty", "--resume", "--json").json
    assert [unit.get("present") for unit in told["units"]] == [True] * 4
    assert store_rows() == before


@pytest.mark.parametrize("change", ["write", "delete", "redact", "turn", "projection", "blank"])
def test_resuming_over_anything_else_is_refused_and_writes_nothing(filled, empty, manage, change):
    manage("restore", filled, "--project", "empty")
    {
        "write": lambda: empty.write("a", "two\r\n", by="c:é"),
        "delete": lambda: empty.delete("a"),
        "redact": lambda: empty.redact("a"),
        "turn": lambda: empty.turn("s1", "more"),
        "projection": lambda: empty.project("s1", 1, "more"),
        "blank": lambda: manage("redact", "s1", "--turns", "2", "--project", "empty"),
    }[change]()
    before = store_rows()
    ran = manage("restore", filled, "--project", "empty", "--resume")
    assert ran.status == 1
    assert ran.err.endswith("target_occupied\n")
    assert store_rows() == before


def test_a_trail_without_turns_lands_once_however_often_it_is_resumed(filled, empty, manage):
    (filled / "conversations/s1/turns.jsonl").unlink()
    (filled / "conversations/s1/projections.jsonl").unlink()
    assert manage("restore", filled, "--project", "empty").status == 0
    before = store_rows()
    assert manage("restore", filled, "--project", "empty", "--resume").status == 0
    assert store_rows() == before


def test_rows_in_another_order_are_the_same_unit(filled, empty, manage):
    for name in ("user%3Aa/versions/a.jsonl", "conversations/s1/turns.jsonl"):
        lines = (filled / name).read_bytes().splitlines(keepends=True)
        (filled / name).write_bytes(b"".join(reversed(lines)))
    manage("restore", filled, "--project", "empty")
    ran = manage("restore", filled, "--project", "empty", "--resume")
    assert ran.status == 0
    assert ran.out.count("  present\n") == 4


# --- Archives that are none -------------------------------------------------------------------------------------------

VERSION = (
    '{"neosian_format":1,"path":"a","version":3,"action":"modified","content":"x","actor":null,'
    '"created_at":"2026-01-01T00:00:00Z","redacted":false}\n'
)
TURN = (
    '{"neosian_format":1,"turn":9,"created_at":"2026-01-01T00:00:00Z","messages":[{"role":"user","content":"x"}],'
    '"actor":null}\n'
)

# File, what it says instead ("+" puts it at the end), what the refusal says.
MEMORY = [
    ("documents/a.md", "no head", "no head between two lines of ---"),
    ("documents/a.md", "", "no head between two lines of ---"),
    ("documents/a.md", HEAD, "no head between two lines of ---"),
    ("documents/a.md", " " + HEAD + "---\n", "no head between two lines of ---"),
    ("documents/a.md", "---\n---\n", "a head that is no mapping"),
    ("documents/a.md", "---\n- a\n---\n", "a head that is no mapping"),
    ("documents/a.md", "---\nx\n---\n", "a head that is no mapping"),
    ("documents/a.md", HEAD + "1: x\n---\n", "a head that is no mapping"),
    ("documents/a.md", HEAD + "x: [\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD + "x: &a 1\ny: *a\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD + "x: !!python/name:os.system\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD + "x: !!binary aGk=\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD + "x: .nan\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD + "x: " + "[" * 901 + "]" * 901 + "\n---\n", "a head that cannot be read"),
    ("documents/a.md", HEAD.replace("format: 1", "format: 2") + "---\n", "format 2, this version reads 1"),
    ("documents/a.md", HEAD.replace("neosian_format: 1\n", "") + "---\n", "format None, this version reads 1"),
    ("documents/a.md", HEAD.replace("format: 1", "format: '1'") + "---\n", "format '1', this version reads 1"),
    ("documents/a.md", HEAD.replace("format: 1", "format: true") + "---\n", "format True, this version reads 1"),
    ("documents/a.md", HEAD.replace("version: 1", "version: 0") + "---\n", "version must be >= 1, got 0"),
    ("documents/a.md", HEAD.replace("version: 1", "version: '1'") + "---\n", "'version' must be an integer"),
    ("documents/a.md", HEAD.replace("version: 1\n", "") + "---\n", "'version'"),
    ("documents/a.md", HEAD.replace("00Z", "00", 1) + "---\n", "naive wire timestamp refused"),
    ("documents/a.md", HEAD.replace("01T", "41T", 1) + "---\n", "month"),
    ("documents/a.md", HEAD + "actor: 1\n---\n", "'actor' must be a string"),
    ("documents/a.md", HEAD + "redacted: 1\n---\n", "'redacted' must be a boolean"),
    ("documents/a.md", b"\xff" + HEAD.encode() + b"---\n", "not UTF-8"),
    ("documents/a.md", HEAD + "---\na\0", "'content' holds a NUL"),
    ("versions/a.jsonl", "+" + VERSION.replace('format":1', 'format":2'), "line 3: format 2, this version reads 1"),
    ("versions/a.jsonl", "+" + VERSION.replace('"neosian_format":1,', ""), "line 3: format None"),
    ("versions/a.jsonl", "+junk\n", "line 3: not a line of JSON"),
    ("versions/a.jsonl", "+\n", "line 3: not a line of JSON"),
    ("versions/a.jsonl", "+" + VERSION[:40], "line 3: not a line of JSON"),
    ("versions/a.jsonl", "+[1]\n", "line 3: not a JSON object"),
    ("versions/a.jsonl", "+" + VERSION.replace('"a"', '"b"'), "line 3: a row of 'b'"),
    ("versions/a.jsonl", "+" + VERSION.replace("modified", "renamed"), "line 3: action must be one of"),
    ("versions/a.jsonl", "+" + VERSION.replace(":3,", ":0,"), "line 3: version must be >= 1, got 0"),
    ("versions/a.jsonl", "+" + VERSION.replace(":3,", ":true,"), "line 3: parameter 'version' must be an integer"),
    ("versions/a.jsonl", "+" + VERSION.replace('"x"', '"\\ud800"'), "line 3: parameter 'content' holds a NUL"),
    ("versions/a.jsonl", "+" + VERSION.replace('"x"', "NaN"), "line 3: not a line of JSON"),
    ("redactions.jsonl", "+{}\n", "line 2: malformed request: 'path'"),
    ("redactions.jsonl", '+{"ts":1,"actor":null,"path":null,"count":1}\n', "line 2: malformed wire timestamp"),
]
TURNS = [
    (
        "turns.jsonl",
        "+" + TURN.replace('format":1', 'format":2'),
        "turns.jsonl, line 3: format 2, this version reads 1",
    ),
    ("turns.jsonl", "+" + TURN[:-9], "turns.jsonl, line 3: not a line of JSON"),
    ("turns.jsonl", "+" + TURN.replace("user", "nobody"), "turns.jsonl, line 3: 'nobody' is not a valid Role"),
    ("turns.jsonl", "+" + TURN.replace(":9,", ":0,"), "turns.jsonl, line 3: turn must be >= 1, got 0"),
    ("projections.jsonl", '+{"neosian_format":2}\n', "projections.jsonl, line 2: format 2"),
    (
        "projections.jsonl",
        '+{"neosian_format":1,"turn":1,"span":2,"kind":"log","text":""}\n',
        "projections.jsonl, line 2: span must satisfy",
    ),
    ("redactions.jsonl", '+{"neosian_format":2}\n', "redactions.jsonl, line 2: format 2"),
    (
        "redactions.jsonl",
        '+{"neosian_format":1,"created_at":"2026-01-01T00:00:00Z","actor":null,"turns":[]}\n',
        "redactions.jsonl, line 2: a redaction must name at least one turn",
    ),
]


def _spoil(file, content):
    data = content if isinstance(content, bytes) else content.encode()
    file.write_bytes(file.read_bytes() + data[1:] if data[:1] == b"+" else data)


@pytest.mark.parametrize(("name", "content", "said"), MEMORY)
def test_po_09_a_file_of_a_scope_that_cannot_be_read_imports_nothing(filled, empty, manage, name, content, said):
    _spoil(filled / SCOPE / name, content)
    before = store_rows()
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.out) == (1, "")
    path = "redactions.jsonl" if name == "redactions.jsonl" else "a"
    start = f"error: [memory_format_unsupported] Unsupported memory format for '{path}' in scope 'user:a': "
    assert ran.err.startswith(start)
    assert said in ran.err.removeprefix(start)
    assert store_rows() == before


@pytest.mark.parametrize(("name", "content", "said"), TURNS)
def test_po_09_a_file_of_a_conversation_that_cannot_be_read_imports_nothing(filled, empty, manage, name, content, said):
    _spoil(filled / "conversations/s1" / name, content)
    before = store_rows()
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.out) == (1, "")
    start = "error: [agent_conversation_format_unsupported] Unsupported turn format in conversation 's1': "
    assert ran.err.startswith(start + said)
    # The scopes before it neither.
    assert store_rows() == before


@pytest.mark.parametrize(
    "head",
    [
        HEAD.replace("\n", "\r\n") + "---\r\n",
        HEAD + "---",
        HEAD.replace("'", "") + "---\n",
        HEAD.replace("'", '"') + "date: 2026-01-01\n---\n",
        HEAD.replace("2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00") + "---\n",
    ],
)
def test_a_head_a_person_wrote_is_read(filled, empty, manage, head):
    content = "" if head.endswith("---") else "x\r\n"
    (filled / SCOPE / "documents/hand.md").write_bytes((head + content).encode())
    assert manage("restore", filled, "--project", "empty").status == 0
    found = json.loads(documents.read(empty.by("x"), scope="user:a", path="hand"))
    assert (found["content"], found["created_at"], found["version"]) == (content, "2026-01-01T00:00:00Z", 1)
    assert found["extra"] == ({"date": "2026-01-01"} if "date:" in head else {})


def test_what_the_restore_itself_refuses_leaves_the_units_before_it(filled, empty, manage):
    turns = filled / "conversations/s2/turns.jsonl"
    turns.write_bytes(turns.read_bytes() * 2)
    ran = manage("restore", filled, "--project", "empty")
    assert ran.status == 1
    assert [line.split()[1] for line in ran.out.splitlines()] == ["user:a", "user:a/proj:x", "s1"]
    assert ran.err == "error: two turns numbered 1\nhint: run it again with --resume\n"
    assert [unit.name for unit in LocalStore(empty.by("x")).units()] == ["user:a", "user:a/proj:x", "s1"]


@pytest.mark.parametrize(
    "place",
    [
        "README",
        "User%3Aa/documents/a.md",
        "user:b/documents/a.md",
        "user%3aB/documents/a.md",
        "user%3A../documents/a.md",
        "notes/documents/a.md",
        "user%3Aa/documents/a b.md",
        "user%3Aa/documents/a.txt",
        "user%3Aa/documents/.md",
        "user%3Aa/versions/é.jsonl",
        "user%3Aa/other/a.md",
        "conversations/a b/turns.jsonl",
        "conversations/file",
        "conversations/s1/notes.txt",
    ],
)
def test_names_outside_the_grammars_are_passed_over(filled, empty, manage, tmp_path, place):
    whole = files(filled)
    (filled / place).parent.mkdir(parents=True, exist_ok=True)
    (filled / place).write_text("not ours")
    assert manage("restore", filled, "--project", "empty").status == 0
    manage("export", tmp_path / "again", "--project", "empty")
    assert files(tmp_path / "again") == whole


def _link_in(place, target):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


@pytest.mark.parametrize(
    "place",
    ["user%3Ab", "user%3Aa/documents/l.md", "user%3Aa/versions/d", "conversations/l", "conversations/l/turns.jsonl"],
)
def test_a_link_may_lead_anywhere_and_is_refused(filled, empty, manage, tmp_path, place):
    (tmp_path / "outside").write_text(HEAD + "---\nsecret")
    _link_in(filled / place, tmp_path / "outside")
    before = store_rows()
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err == f"error: {filled / place} is a symbolic link; an archive holds files and directories only\n"
    assert store_rows() == before


def test_a_link_on_the_way_to_a_named_unit_is_refused(filled, empty, manage, tmp_path):
    (filled / SCOPE).rename(tmp_path / "outside")
    (filled / SCOPE).symlink_to(tmp_path / "outside")
    ran = manage("restore", filled, "--project", "empty", "--scope", "user:a/proj:x")
    assert ran.status == 1
    assert ran.err.startswith(f"error: {filled / SCOPE} is a symbolic link")


def test_the_archives_own_place_may_be_a_link(filled, empty, manage, tmp_path):
    (tmp_path / "here").symlink_to(filled)
    assert manage("restore", tmp_path / "here", "--project", "empty").status == 0


@pytest.mark.parametrize("name", ["user%3Aa/documents/pipe.md", "conversations/s1/turns.jsonl"])
def test_a_pipe_is_refused_not_waited_for(filled, empty, manage, name):
    (filled / name).unlink(missing_ok=True)
    os.mkfifo(filled / name)
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.err) == (1, f"error: {filled / name} is no file\n")


def test_a_directory_where_a_file_belongs_is_refused(filled, empty, manage):
    (filled / "conversations/s1/turns.jsonl").unlink()
    (filled / "conversations/s1/turns.jsonl").mkdir()
    ran = manage("restore", filled, "--project", "empty")
    assert (ran.status, ran.err) == (1, f"error: {filled}/conversations/s1/turns.jsonl is no file\n")


@pytest.mark.parametrize("name", ["user%3Aa/documents/a.md", "user%3Aa/versions/a.jsonl"])
def test_a_piece_longer_than_any_store_takes_is_refused_before_it_is_read_whole(
    filled, empty, manage, monkeypatch, name
):
    monkeypatch.setattr(layout, "MAX_FILE_BYTES", 60)
    ran = manage("restore", filled, "--project", "empty", "--scope", "user:a")
    assert ran.status == 1
    if name.endswith(".md"):
        assert ran.err.startswith(f"error: {filled}/user%3Aa/documents/a.md is longer than 60 bytes")
    else:
        shutil.rmtree(filled / "user%3Aa/documents")
        ran = manage("restore", filled, "--project", "empty", "--scope", "user:a")
        assert ran.err == f"error: {filled}/user%3Aa/versions/a.jsonl has a line of more than 60 bytes\n"


def test_what_cannot_be_read_from_the_disk_is_named(filled, empty, manage, monkeypatch):
    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("neosian_site.workflows.archive.reading.open_existing", refused)
    ran = manage("restore", filled, "--project", "empty", "--json")
    assert ran.status == 1
    assert ran.json == {"error": f"{filled}/user%3Aa/documents/a.md: Permission denied", "hint": None}


def test_a_database_that_is_away_is_one_line_and_status_1(filled, empty, manage, monkeypatch):
    def gone(*args, **more):
        raise OperationalError("connection refused\n\tIs the server running?")

    monkeypatch.setattr("conversations.operations.store.conversations", gone)
    ran = manage("restore", filled, "--project", "empty", "--json")
    assert (ran.status, ran.err) == (1, "error: the database is not available: connection refused\n")
    assert ran.json == {"error": "the database is not available: connection refused", "hint": None}
