"""However a page is found - in the first documents, through trigrams, or read on - it is the page of the rules."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.models.document import INDEXED_BYTES
from search.operations import document_statements
from tests.contract.wire.search_ground import (
    ROUTE,
    SCOPE,
    STATES,
    WAYS,
    expected,
    governed,
    paths,
    restore,
    strings_below,
    walk,
    way,
)

NAMES = (
    "a", "B", "ab", "a_b", "a-b", "aB/i", "i/a", "Notes/a", "notes/a", "notes/B", "handoff", "handoff/a",
    "notes/handoff", "sessions/a", "messages/a", "message-links/a",
)  # fmt: skip
KEYS = ("k", "j", "é")
PIECES = (
    "a", "b", "A", "i", "İ", "I",
    "\u0307", "Σ", "\u03c3", "ς", "ß", "ẞ", "\U00016ea0", "\U00016ebb", " ", "\n", "\u3000",
    "\u001c", "%", "_", "\\", "'", '"', "😀", "ab", "aİb", "% _", "\\%",
)  # fmt: skip
GAPS = (" ", "\n", "\u3000", "\u0085\t")

pieces = st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
# Long enough for an excerpt to begin and to end inside.
texts = st.builds(lambda lead, times, rest: lead * times + rest, pieces, st.sampled_from([0, 1, 1, 15, 45]), pieces)
values = st.recursive(
    texts | st.sampled_from([None, True, 7, 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["x", "A", "é", "😀"]), inner, max_size=3)
    ),
    max_leaves=4,
)
extras = st.just({}) | st.dictionaries(st.sampled_from(KEYS), values, min_size=1, max_size=3)
documents = st.dictionaries(
    st.sampled_from(NAMES),
    st.tuples(texts, st.sampled_from(("unmanaged",) * 5 + STATES), extras, st.sampled_from([False] * 9 + [True])),
    min_size=1,
    max_size=9,
)
changes = st.lists(
    st.tuples(st.sampled_from(["write", "delete", "rename", "redact"]), st.sampled_from(NAMES), texts), max_size=2
)


@st.composite
def terms(draw: st.DrawFn, held: list[str]) -> str:
    """Something that may occur: a piece of what is held, in another case, or anything."""
    text = draw(st.sampled_from(held)) if held and draw(st.integers(0, 9)) else draw(pieces)
    length = draw(st.sampled_from([1, 2, 3, 3, 4, 6]))
    # Its end is what an excerpt can lead up to.
    last = max(0, len(text) - length)
    start = last if draw(st.booleans()) else draw(st.integers(0, last))
    piece = text[start : start + length]
    if draw(st.booleans()):
        piece = "".join(char.swapcase() if len(char.swapcase()) == 1 else char for char in piece)
    # A term holds no white space.
    return "".join(piece.split(" ")).replace("\n", "").replace("\u3000", "") or "a"


@st.composite
def searches(draw: st.DrawFn, held: list[list[str]]) -> dict[str, Any]:
    """A search, mostly for pieces of one document, whose strings ``held`` lists."""
    one = [text for text in draw(st.sampled_from(held)) if text]
    query = draw(st.sampled_from(GAPS)).join(draw(st.lists(terms(one), min_size=1, max_size=3)))
    body: dict[str, Any] = {"query": query, "limit": draw(st.integers(1, 4))}
    if draw(st.booleans()):
        fields = ["metadata", *draw(st.lists(st.sampled_from(["path", "content"]), unique=True))]
        keys = draw(st.just([*KEYS]) | st.lists(st.sampled_from([*KEYS, "none"]), min_size=1, unique=True))
        body |= {"fields": draw(st.permutations(fields)), "metadata_keys": draw(st.permutations(keys))}
    elif draw(st.booleans()):
        body["fields"] = draw(st.sampled_from([["path"], ["content"], ["content", "path"]]))
    if draw(st.integers(0, 2)) == 0:
        body["prefix"] = draw(st.sampled_from(["", "a", "n", "notes/", "Notes", "a\x7f", "a_", "%", "é", "\0", "i/a"]))
    if draw(st.integers(0, 2)) == 0:
        body["knowledge_policy"] = draw(st.sampled_from(["all", "effective", "approved"]))
    return body


def change(wire: Any, scope: str, act: str, path: str, content: str) -> None:
    """A change through its own route; one that finds nothing to change is fine."""
    if act == "rename":
        wire.post("memory/rename", scope=scope, src=path, dst="moved/i")
    else:
        wire.ok(f"memory/{act}", {"scope": scope, "path": path} | ({"content": content} if act == "write" else {}))


def ways_of(body: dict[str, Any]) -> list[str]:
    """The ways that can make a difference to this search."""
    metadata = "metadata" in body.get("fields", [])
    return [name for name in WAYS if name == "probe" or name.startswith("metadata") == metadata]


EXAMPLES = count()


@settings(
    max_examples=45,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data(), given_documents=documents, given_changes=changes)
def test_every_way_finds_the_pages_of_the_rules(wire, data, given_documents, given_changes):
    scope = f"user:search.{next(EXAMPLES)}"
    states: dict[str, str] = {}
    rows = []
    for path, (text, state, extra, redacted) in given_documents.items():
        content = "" if redacted else governed(state, text)
        if not redacted and state != "unmanaged":
            states[content] = state
        rows.append({"path": path, "content": content, "extra": extra, "redacted": redacted})
    restore(wire, *rows, scope=scope)
    for act, path, content in given_changes:
        change(wire, scope, act, path, content)
    listed = wire.ok("memory/list_documents", scope=scope)["entries"]
    held = [wire.ok("memory/read", scope=scope, path=entry["path"])["document"] for entry in listed]
    shown = [[document["path"], document["content"], *strings_below(document["extra"])] for document in held]
    for _ in range(4):
        body = {"scope": scope, **data.draw(searches(shown or [[]]))}
        wanted = expected(held, body, states)
        size = body["limit"]
        pages = [wanted[start : start + size] for start in range(0, len(wanted), size)] or [[]]
        for name in ways_of(body):
            with way(name):
                assert walk(wire, body) == pages, name


# What a page costs, and that each way is the one meant


def statements(captured: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in captured.captured_queries]


@pytest.fixture(params=[4, 400])
def sized(request, wire):
    """A scope of four documents or four hundred; the last two hold the rare words, all the common one."""
    size = request.param
    restore(
        wire,
        *[
            {
                "path": f"p{number:03}",
                "content": f"common {'rareword xyz' if number >= size - 2 else ''}",
                "extra": {"k": "rareword" if number >= size - 2 else "common"},
            }
            for number in range(size)
        ],
    )
    wire.ok("memory/read", scope=SCOPE, path="p000")
    return wire


@pytest.mark.parametrize(
    ("name", "query", "costs"),
    [
        ("probe", "rareword", 1),
        ("probe", "xy", 1),
        ("probe", "absent", 1),
        ("narrowed", "rareword", 2),
        ("narrowed", "xy rareword", 2),
        ("narrowed", "absent", 2),
        # Nothing to look up in the index: too short.
        ("narrowed", "xy", 2),
        ("read on", "rareword", 2),
        # A page the first documents fill needs no more.
        ("narrowed", "common", 1),
        ("read on", "com", 1),
    ],
)
def test_a_page_costs_one_statement_or_two_whatever_the_scope_holds(
    sized, django_assert_num_queries, name, query, costs
):
    with way(name), django_assert_num_queries(costs) as captured:
        sized.ok(ROUTE, scope=SCOPE, query=query, limit=1)
    narrowed = [sql for sql in statements(captured) if "LIKE" in sql]
    assert len(narrowed) == (name == "narrowed" and costs == 2 and query != "xy")
    with way(name), django_assert_num_queries(costs):
        # A policy is judged by the same statements.
        sized.ok(ROUTE, scope=SCOPE, query=query, limit=1, knowledge_policy="effective")


def test_paths_alone_have_no_trigrams_to_look_up(sized, django_assert_num_queries):
    with way("narrowed"), django_assert_num_queries(2) as captured:
        assert paths(sized.ok(ROUTE, scope=SCOPE, query="p00 p003", fields=["path"])) == ["p003"]
    assert not any("LIKE" in sql for sql in statements(captured))


def test_a_search_of_metadata_fetches_in_batches(sized, request):
    with CaptureQueriesContext(connection) as captured:
        page = sized.ok(ROUTE, scope=SCOPE, query="rareword", fields=["metadata"], metadata_keys=["k"])
    size = request.node.callspec.params["sized"]
    assert paths(page) == [f"p{number:03}" for number in range(size - 2, size)]
    fetches = [sql for sql in statements(captured) if sql.startswith("FETCH")]
    # One document, then fifty at a time, and what says that there are no more.
    assert len(fetches) == {4: 3, 400: 10}[size]
    assert len(captured) - len(fetches) == 4, "a savepoint and its release, the cursor and its end"
    with CaptureQueriesContext(connection) as captured:
        page = sized.ok(
            ROUTE, scope=SCOPE, query="common", fields=["content", "metadata"], metadata_keys=["k"], limit=2
        )
    assert paths(page) == ["p000", "p001"]
    assert len([sql for sql in statements(captured) if sql.startswith("FETCH")]) == 2


def test_big_metadata_is_fetched_document_by_document(wire):
    from random import Random

    noise = Random(1)
    big = "".join(chr(noise.randrange(0x4E00, 0x9FFF)) for _ in range(20_000))
    restore(wire, *[{"path": f"p{n}", "content": "x", "extra": {"k": [big, "word"]}} for n in range(4)])
    with CaptureQueriesContext(connection) as captured:
        page = wire.ok(ROUTE, scope=SCOPE, query="word", fields=["metadata"], metadata_keys=["k"], limit=1)
    assert paths(page) == ["p0"]
    assert [sql[:8] for sql in statements(captured) if sql.startswith("FETCH")] == ["FETCH 1 "] * 2


@pytest.mark.parametrize("name", ["probe", "narrowed", "read on"])
def test_a_document_too_long_for_the_index_is_found_like_any_other(wire, name):
    end = "the needle's eye"
    content = "é" * (INDEXED_BYTES // 2) + "-" * 100 + end
    assert len(content.encode()) > INDEXED_BYTES
    for path in ("a", "b", "c", "d", "f"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="small needle" if path in "df" else "small")
    wire.ok("memory/write", scope=SCOPE, path="e", content=content)
    with way(name):
        page = wire.ok(ROUTE, scope=SCOPE, query="NEEDLE")
        assert paths(page) == ["d", "e", "f"]
        assert page["hits"][1]["excerpt"] == {
            "field": "content", "metadata_key": None, "offset": len(content) - len("needle's eye") - 40,
            "text": "-" * 36 + end,
        }  # fmt: skip
        assert [paths({"hits": hits}) for hits in walk(wire, {"scope": SCOPE, "query": "needle", "limit": 1})] == [
            ["d"],
            ["e"],
            ["f"],
        ]
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="needle eye")) == ["e"]
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="needles")) == []
        wire.ok("memory/redact", scope=SCOPE, path="e")
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="needle")) == ["d", "f"]


def test_the_first_look_ends_after_so_many_bytes(wire, monkeypatch):
    """A document beyond them is left to the second statement, and one that begins before them is looked at whole."""
    monkeypatch.setattr(document_statements, "PROBE_BYTES", 100)
    for path in ("a", "b", "c", "d"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="x" * 60 + ("rare" if path in "bd" else ""))
    with CaptureQueriesContext(connection) as captured:
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="rare", limit=1)) == ["b"]
    assert len(captured) == 2, "whether there is another hit is not known yet"
    with CaptureQueriesContext(connection) as captured:
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="xxx", limit=1)) == ["a"]
    assert len(captured) == 1


def test_the_index_is_what_narrows(wire):
    filler = "of the matter " * 120
    restore(wire, *[{"path": f"p{n:04}", "content": f"{filler} word{n:04}x"} for n in range(900)])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE memory_document")
    with way("narrowed"), CaptureQueriesContext(connection) as captured:
        assert paths(wire.ok(ROUTE, scope=SCOPE, query="tter ORD0713")) == ["p0713"]
    (narrowing,) = [sql for sql in statements(captured) if "LIKE" in sql]
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {narrowing}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "document_search_trgm" in plan, plan
