from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.wire.memory_ground import archive, document_row, filled, unchanged

# In the order of their code points, whatever a locale thinks.
PATHS = ["-x", ".x", "A", "B", "Z/z", "_x", "a", "a-b", "a.b", "a/B", "a/b", "a/b/c", "a0", "a_b", "aa", "axb", "b"]


@pytest.fixture
def paths(wire):
    shuffled = [document_row(path, scope="user:a") for path in PATHS]
    random.shuffle(shuffled)
    wire.ok("store/restore_scope", archive(shuffled, scope="user:a"))


def listed(wire, **body):
    return [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a", **body)["entries"]]


def test_an_entry_is_a_skeleton_with_its_keys_in_order(wire):
    document = wire.ok("memory/write", scope="user:a", path="x", content="c")["document"]
    answer = wire.ok("memory/list_documents", scope="user:a")
    assert answer == {
        "entries": [{key: document[key] for key in ("path", "version", "created_at", "updated_at", "redacted")}],
        "next_cursor": None,
    }
    assert list(answer["entries"][0]) == ["path", "version", "created_at", "updated_at", "redacted"]


def test_deleted_documents_are_absent_and_redacted_ones_are_flagged(wire):
    filled(wire)
    entries = wire.ok("memory/list_documents", scope="user:a")["entries"]
    assert [(entry["path"], entry["version"], entry["redacted"]) for entry in entries] == [
        ("blank", 1, True),
        ("x", 2, False),
    ]


def test_an_unknown_scope_is_empty_and_stays_unknown(wire):
    with unchanged():
        assert wire.ok("memory/list_documents", scope="user:unknown") == {"entries": [], "next_cursor": None}


def test_a_scope_lists_nothing_of_its_children(wire):
    wire.ok("memory/write", scope="user:a/p:b", path="x", content="c")
    assert listed(wire) == []


def test_paths_are_ordered_by_code_point(wire, paths):
    assert listed(wire) == PATHS == sorted(PATHS)


@pytest.mark.parametrize(
    "prefix",
    [
        None, "", "a", "a/", "a/b", "a/b/", "a_", "A", "b", "-", ".", "a.", "a*", "%", "a%", "_", "_x", "__", "*", "\\",
        "a\\_", "a'", 'a"', " ", " a", "a ", "\t", "/", "Z/z", "zz", "~", "é", "aé", "é" * 300, "a\u0301", "\U0001f600",
        "\x00", "a\x00", "\x7f", "a\x7f", "\ud800", "a\udfff", "\uffff", "x" * 2000, "a/b/c/d", "../", "user:a",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_prefix_is_literal_text(wire, paths, prefix):
    with unchanged():
        assert listed(wire, prefix=prefix) == [path for path in PATHS if path.startswith(prefix or "")]


@settings(max_examples=80, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    prefix=st.one_of(
        st.text(st.sampled_from("ab_-./ABxZ0%~\x7f\x00é\ud800"), max_size=4),
        st.sampled_from(PATHS).flatmap(lambda path: st.integers(0, len(path)).map(lambda end: path[:end])),
        st.text(st.characters(), max_size=6),
    ),
    limit=st.integers(1, 4),
)
def test_any_prefix_selects_what_python_says_starts_with_it(wire, prefix, limit):
    if "user:p" not in wire.ok("store/scopes")["scopes"]:
        wire.ok("store/restore_scope", archive([document_row(p, scope="user:p") for p in PATHS], scope="user:p"))
    found, cursor = [], None
    while True:
        page = wire.ok("memory/list_documents", scope="user:p", prefix=prefix, limit=limit, cursor=cursor)
        found += [entry["path"] for entry in page["entries"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert found == [path for path in PATHS if path.startswith(prefix)]


def test_pages_under_a_prefix_add_up(wire, paths):
    first = wire.ok("memory/list_documents", scope="user:a", prefix="a/", limit=2)
    assert [entry["path"] for entry in first["entries"]] == ["a/B", "a/b"]
    second = wire.ok("memory/list_documents", scope="user:a", prefix="a/", limit=2, cursor=first["next_cursor"])
    assert [entry["path"] for entry in second["entries"]] == ["a/b/c"]
    assert second["next_cursor"] is None


def test_a_cursor_before_the_prefix_starts_at_the_prefix(wire, paths):
    cursor = wire.ok("memory/list_documents", scope="user:a", limit=1)["next_cursor"]
    assert listed(wire, prefix="a_", cursor=cursor) == ["a_b"]


def test_a_cursor_behind_the_prefix_finds_nothing(wire, paths):
    cursor = wire.ok("memory/list_documents", scope="user:a", limit=len(PATHS) - 1)["next_cursor"]
    assert listed(wire, prefix="a_", cursor=cursor) == []


def test_a_path_written_between_pages_appears_only_behind_the_cursor(wire):
    for path in ("b", "d", "f"):
        wire.ok("memory/write", scope="user:a", path=path, content="c")
    cursor = wire.ok("memory/list_documents", scope="user:a", limit=2)["next_cursor"]
    wire.ok("memory/write", scope="user:a", path="a", content="c")
    wire.ok("memory/write", scope="user:a", path="e", content="c")
    wire.ok("memory/delete", scope="user:a", path="d")  # The row the cursor names.
    assert listed(wire, cursor=cursor) == ["e", "f"]
