"""The grammars of scope and path against a description that shares nothing with the product's."""

from __future__ import annotations

import string

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.contract.wire.memory_ground import unchanged

LOWER, DIGITS = set(string.ascii_lowercase), set(string.digits)
WORD = set(string.ascii_letters) | DIGITS | set("_.-")


def is_word(text: str) -> bool:
    return 1 <= len(text) <= 128 and set(text) <= WORD


def scope_fault(scope: str) -> str | None:
    """The first thing wrong with a scope, in the contract's order, or ``None``."""
    if len(scope) > 512:
        return "longer than 512 characters"
    segments = scope.split("/")
    for segment in segments:
        kind, colon, name = segment.partition(":")
        if not colon or not 1 <= len(kind) <= 32 or kind[0] not in LOWER or not set(kind) <= LOWER | DIGITS | {"_"}:
            return "shape"
        if not is_word(name):
            return "shape"
    if len(segments) > 8:
        return "more than 8 segments"
    for segment in segments:
        if segment.endswith((":.", ":..")):
            return f"id '{segment.partition(':')[2]}' is reserved"
    return None


def path_fault(path: str) -> str | None:
    """The first thing wrong with a document path, in the contract's order, or ``None``."""
    if len(path) > 512:
        return "longer than 512 characters"
    segments = path.split("/")
    if not all(is_word(segment) for segment in segments):
        return "shape"
    if len(segments) > 16:
        return "more than 16 segments"
    for segment in segments:
        if segment in (".", ".."):
            return f"segment '{segment}' is reserved"
    return None


def judged(answer, code: str) -> str | None:
    if answer.status == 200:
        return None
    assert (answer.status, answer.code) == (400, code)
    reason = answer.details["reason"]
    return "shape" if "must" in reason else reason


once = settings(
    max_examples=250, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

word = st.one_of(
    st.text(st.sampled_from(sorted(WORD)), min_size=1, max_size=5),
    st.sampled_from([".", "..", "...", "", "a" * 128, "a" * 129, "-", "_", "é", "a b", "a\n", "A", ":", "a:b", "%"]),
    st.text(st.characters(), max_size=3),
)
kind = st.one_of(
    st.text(st.sampled_from("abz_09"), min_size=1, max_size=4),
    st.sampled_from(["user", "a" * 32, "a" * 33, "9", "_", "", "User", "a-b", "é", "u ", "u\n"]),
)
good_kind = st.sampled_from(["user", "p", "a_1"])
good_word = st.text(st.sampled_from(sorted(WORD)), min_size=1, max_size=70)


def joined(piece: st.SearchStrategy[str], most: int) -> st.SearchStrategy[str]:
    return st.lists(piece, min_size=1, max_size=most).map("/".join)


scopes = st.one_of(
    joined(st.builds("{}:{}".format, kind, word), 3),
    joined(st.builds("{}:{}".format, good_kind, good_word), 10),
    joined(st.builds("{}:{}".format, good_kind, st.sampled_from(["a", "b.", ".", ".."])), 10),
    st.text(st.sampled_from("au:/._-9A \n"), max_size=12),
)
paths = st.one_of(
    joined(word, 3),
    joined(good_word, 20),
    joined(st.sampled_from(["a", ".", "..", ".a"]), 18),
    st.text(st.sampled_from("aA9/._- :\n%"), max_size=10),
)


@once
@given(scope=scopes)
@example(scope="/".join(["u:a"] * 8))
@example(scope="/".join(["u:a"] * 9))
@example(scope="/".join(["u:a"] * 8 + ["u:.."]))
@example(scope="/".join([f"u:{'a' * 125}"] * 3 + [f"u:{'a' * 126}"]))
@example(scope="/".join([f"u:{'a' * 125}"] * 3 + [f"u:{'a' * 127}"]))
@example(scope="é" * 513)
def test_a_scope_is_taken_exactly_when_its_description_takes_it(wire, scope):
    answer = wire.post("memory/read", scope=scope, path="x")
    assert judged(answer, "memory_scope_invalid") == scope_fault(scope)


@once
@given(path=paths)
@example(path="/".join(["a"] * 16))
@example(path="/".join(["a"] * 17))
@example(path="/".join(["a"] * 16 + [".."]))
@example(path="/".join(["a" * 127] * 4) + "x")
@example(path="/".join(["a" * 127] * 4) + "xy")
@example(path="x" * 513)
def test_a_path_is_taken_exactly_when_its_description_takes_it(wire, path):
    answer = wire.post("memory/read", scope="user:a", path=path)
    assert judged(answer, "memory_path_invalid") == path_fault(path)


LONGEST_SCOPE = "/".join([f"u:{'a' * 125}"] * 3 + [f"u:{'a' * 126}"])
LONGEST_PATH = "/".join(["a" * 127] * 3 + ["b" * 128])


@pytest.mark.parametrize(
    "scope",
    [
        "u:a", "user:A-b_c.d", "a_9:9", "user:...", "user:..a", "user:.hidden", "user:-", "user:_", f"{'a' * 32}:x",
        f"u:{'A' * 128}", "u:a/p:b", "/".join(["u:a"] * 8), LONGEST_SCOPE,
    ],
    ids=lambda scope: f"{scope[:24]} ({len(scope)})",
)  # fmt: skip
def test_a_good_scope_is_kept_as_it_is(wire, scope):
    assert wire.ok("memory/write", scope=scope, path="x", content="c")["document"]["scope"] == scope
    assert wire.ok("store/scopes") == {"scopes": [scope]}


@pytest.mark.parametrize(
    "path",
    [
        "a", "A", "9", "-x", "_x", ".hidden", "...", "..a", "a..", "a/b", "a.md", "sessions/s1", "handoff",
        "messages/m", "message-links/a/b", "skills/x/SKILL.md", "x" * 128, "/".join(["a"] * 16), LONGEST_PATH,
    ],
    ids=lambda path: f"{path[:24]} ({len(path)})",
)  # fmt: skip
def test_a_good_path_is_kept_as_it_is(wire, path):
    assert wire.ok("memory/write", scope="user:a", path=path, content="c")["document"]["path"] == path
    assert [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a")["entries"]] == [path]


def test_the_longest_names_are_512_characters():
    assert (len(LONGEST_SCOPE), len(LONGEST_PATH)) == (512, 512)


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        ("user:..", "id '..' is reserved"),
        ("user:.", "id '.' is reserved"),
        ("user:a/p:../q:.", "id '..' is reserved"),
        ("/".join(["u:.."] * 9), "more than 8 segments"),
        ("u:a" * 200, "longer than 512 characters"),
    ],
)
def test_a_bad_scope_says_the_first_reason(wire, scope, reason):
    with unchanged():
        refused = wire.post("memory/write", scope=scope, path="x", content="c")
    assert (refused.code, refused.details) == ("memory_scope_invalid", {"scope": scope, "reason": reason})


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("..", "segment '..' is reserved"),
        ("a/./..", "segment '.' is reserved"),
        ("/".join([".."] * 17), "more than 16 segments"),
        ("/" * 513, "longer than 512 characters"),
    ],
)
def test_a_bad_path_says_the_first_reason(wire, path, reason):
    with unchanged():
        refused = wire.post("memory/write", scope="user:a", path=path, content="c")
    assert (refused.code, refused.details) == ("memory_path_invalid", {"path": path, "reason": reason})
