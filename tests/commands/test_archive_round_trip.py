"""Any store that can be, exported, restored elsewhere and exported again, is the same to the byte."""

from __future__ import annotations

import json
import shutil
import tempfile
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from authz.caller import Caller
from authz.operations import projects
from conversations import archive as conversation_archive
from conversations.archive import ConversationArchive
from memory import archive as scope_archive
from memory.archive import ScopeArchive
from neosian_site.core import clock
from neosian_site.workflows.archive import export, reading, restore, text
from neosian_site.workflows.archive.stores import LocalStore
from tests.commands.conftest import files

pytestmark = pytest.mark.django_db

_numbers = count()

# Text any store takes: neither NUL nor half characters, and what a careless reader trips over, more often than chance.
_AWKWARD = [
    *("", "---", "---\n", "---\nx\n---\n", "\n\n---\n\n", "a\r\nb\r", "\n", " ", "trailing ", "\t", "\x01\x7f"),
    *("\ufeff", "\x85\u2028", "é😀", "'", '"', "\\", "a: b", "# no", "- x", "%x", "=", "...", "!!str", "<<"),
    *("12", "1e3", "null", "~", "yes", "0x1F", "1:30", "2026-01-01"),
]
_awkward = st.sampled_from(_AWKWARD)
_free = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=40)
_text = st.one_of(_awkward, _free, st.builds("".join, st.lists(_awkward, max_size=4)))
_EARLIEST = clock.parse("0002-01-01T00:00:00Z").replace(tzinfo=None)
_time = st.datetimes(min_value=_EARLIEST).map(lambda at: f"{at.isoformat()}Z")
_actor = st.none() | _text
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_text, inner, max_size=3),
    max_leaves=8,
)
_head_keys = {"neosian_format", "version", "created_at", "updated_at", "actor", "redacted"}
_extra = st.dictionaries(_text.filter(lambda key: key not in _head_keys), _json, max_size=4)
_number = st.integers(1, 40)
_path = st.lists(st.sampled_from(["a", "B", "a-b", "x.y", "...", "_", "documents", "0"]), min_size=1, max_size=3).map(
    "/".join
)


@st.composite
def _scopes(draw, name):
    redacted = draw(st.booleans())
    documents = [
        {
            "scope": name,
            "path": path,
            "content": "" if redacted else draw(_text),
            "version": draw(_number),
            "created_at": draw(_time),
            "updated_at": draw(_time),
            "actor": draw(_actor),
            "redacted": redacted,
            "extra": draw(_extra),
        }
        for path in sorted(draw(st.sets(_path, max_size=3)))
    ]
    versions = [
        {
            "path": path,
            "version": number,
            "action": draw(st.sampled_from(["created", "modified", "deleted"])),
            "content": "" if redacted else draw(_text),
            "actor": draw(_actor),
            "created_at": draw(_time),
            "redacted": redacted,
        }
        for path, number in sorted(draw(st.sets(st.tuples(_path, _number), max_size=4)))
    ]
    redactions = [
        {"path": path, "actor": draw(_actor), "created_at": draw(_time), "count": draw(st.integers(0, 9))}
        for path in draw(st.lists(st.none() | _path, max_size=2))
    ]
    return ScopeArchive(
        scope_archive.documents(documents), scope_archive.versions(versions), scope_archive.redactions(redactions)
    )


_block = st.one_of(
    st.builds(lambda said: {"type": "text", "text": said}, _text),
    st.builds(lambda url: {"type": "image", "media_type": None, "data": None, "url": url}, _text),
)
_call = st.builds(
    lambda name, arguments, extra: {"id": name, "name": name, "arguments": arguments, "extra": extra},
    _text,
    st.dictionaries(_text, _json, max_size=3),
    st.dictionaries(_text, _json, max_size=2),
)
_message = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
    optional={
        "content": st.none() | _text | st.lists(_block, max_size=2),
        "reasoning": st.none() | _text,
        "tool_calls": st.lists(_call, max_size=2),
        "tool_call_id": st.none() | _text,
        "extra": st.dictionaries(_text, _json, max_size=2),
    },
)


@st.composite
def _conversations(draw, name):
    turns = [
        {
            "conversation_id": name,
            "turn": number,
            "created_at": draw(_time),
            "actor": draw(_actor),
            **({"messages": messages} if messages else {"messages": [], "redacted": True}),
        }
        for number in sorted(draw(st.sets(_number, max_size=3)))
        for messages in [draw(st.lists(_message, max_size=2))]
    ]
    projections = [
        {"turn": turn, "span": draw(st.integers(1, turn)), "kind": kind, "text": draw(_text)}
        for turn, kind in draw(st.lists(st.tuples(_number, st.sampled_from(["log", "digest", "epoch"])), max_size=4))
    ]
    acts = [
        {"conversation_id": name, "turns": sorted(numbers), "created_at": draw(_time), "actor": draw(_actor)}
        for numbers in draw(st.lists(st.sets(_number, min_size=1, max_size=3), max_size=2))
    ]
    return ConversationArchive(
        conversation_archive.turns(turns),
        conversation_archive.projections(projections),
        conversation_archive.redactions(acts),
    )


def _project():
    return LocalStore(Caller(projects.create(slug=f"trip-{next(_numbers)}").pk, "c:1"))


# Not shrunk: an example costs four moves of a store.
@settings(
    max_examples=40,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    _scopes("user:a"),
    _scopes("user:a/proj:x.y-z_"),
    _scopes("user:a/proj:x.y-z_/doc:documents"),
    _conversations("s1"),
    _conversations("documents"),
)
def test_export_restore_export_is_byte_identical(db, parent, child, grandchild, one, two):
    source, target = _project(), _project()
    scopes = {"user:a": parent, "user:a/proj:x.y-z_": child, "user:a/proj:x.y-z_/doc:documents": grandchild}
    conversations = {"s1": one, "documents": two}
    for name, archive in scopes.items():
        source.restore_scope(name, archive)
    for name, archive in conversations.items():
        source.restore_conversation(name, archive)
    folder = Path(tempfile.mkdtemp(prefix="trip-"))
    try:
        export.export(source, folder / "first", source.units())
        (folder / "first").mkdir(exist_ok=True)
        restore.restore(target, folder / "first")
        export.export(target, folder / "second", target.units())
        (folder / "second").mkdir(exist_ok=True)
        assert files(folder / "second") == files(folder / "first")
        # And it says what was put in, not merely the same twice.
        for unit in target.units():
            expected = (scopes if unit.kind == "scope" else conversations)[unit.name]
            assert restore._in_order(reading.unit(folder / "second", unit)) == restore._in_order(expected)
        resumed = restore.restore(target, folder / "first", resume=True)
        assert all(moved.present for moved in resumed)
    finally:
        shutil.rmtree(folder)


HEAD = {"version": 1, "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}


@settings(max_examples=300, deadline=None)
@given(_extra, _text, _actor)
@example({"a": {"b": [[], {}, [[1]], {"c": {}}]}}, "", None)
@example({"big": 10**400, "tiny": 5e-324, "minus": -0.0, "e": 1e22, "one": 1.0}, "x", "12")
@example({"\x85\u2028\ufeff": "\x85\u2028\ufeff\U0010ffff", "": ""}, "---\n---\n", "---")
def test_a_head_gives_back_its_extra_and_actor_with_every_type(extra, content, actor):
    head = {**HEAD, "actor": actor} if actor is not None else HEAD
    found = text.read_document(text.document(head, extra, content))
    assert json.dumps(found["extra"]) == json.dumps(extra)
    assert (found["actor"], found["content"]) == (actor, content)


def test_an_extra_as_deep_as_a_store_takes_is_written_and_read():
    deep = {}
    for _ in range(440):
        deep = {"k": [deep]}
    data = text.document(HEAD, {"k": deep}, "")
    assert json.dumps(text.read_document(data)["extra"]) == json.dumps({"k": deep})


# The spelling of the published tool, seen on 1.12.2; values of a store it wrote.
PUBLISHED = """---
neosian_format: 1
version: 1
created_at: '2026-01-01T00:00:00Z'
updated_at: '2026-01-01T00:00:00Z'
actor: c:1
tags:
- x
- y: 1
  z: []
- - 1
  - - 2
    - three
- {}
a b: 'c: d'
num: '12'
float: 1.0
big: 1.0e+22
small: 1.0e-07
neg: -0.0
int: 123456789012345678901234567890
t: true
n: null
'yes': 'yes'
date: '2026-01-01'
uni: hé ✓ 😀
ctl: "a\\tb\\x01c\\x7F\\N\\L\\uFEFF"
multi: 'l1

  l2

  ---

  l3

  '
crlf: "a\\r\\nb\\r"
longnospace: LONG
empty: ''
space: ' lead trail '
q: it's "q"
'1': numkey
'true': boolkey
é: k
o: 0o17
oct: '017'
sex: '1:30:00'
und: '1_000'
merge: '<<'
e: 1e3
nested:
  a:
    b:
      c: 'd

        e'
---
c""".replace("LONG", "x" * 300)
EXTRA = {
    "tags": ["x", {"y": 1, "z": []}, [1, [2, "three"]], {}],
    "a b": "c: d",
    "num": "12",
    "float": 1.0,
    "big": 1e22,
    "small": 1e-7,
    "neg": -0.0,
    "int": 123456789012345678901234567890,
    "t": True,
    "n": None,
    "yes": "yes",
    "date": "2026-01-01",
    "uni": "hé ✓ 😀",
    "ctl": "a\tb\x01c\x7f\x85\u2028\ufeff",
    "multi": "l1\nl2\n---\nl3\n",
    "crlf": "a\r\nb\r",
    "longnospace": "x" * 300,
    "empty": "",
    "space": " lead trail ",
    "q": 'it\'s "q"',
    "1": "numkey",
    "true": "boolkey",
    "é": "k",
    "o": "0o17",
    "oct": "017",
    "sex": "1:30:00",
    "und": "1_000",
    "merge": "<<",
    "e": "1e3",
    "nested": {"a": {"b": {"c": "d\ne"}}},
}


def test_heads_are_spelled_as_the_published_tool_spells_them():
    assert text.document({**HEAD, "actor": "c:1"}, EXTRA, "c").decode() == PUBLISHED
    assert json.dumps(text.read_document(PUBLISHED.encode())["extra"]) == json.dumps(EXTRA)
