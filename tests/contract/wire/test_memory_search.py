"""``memory/search``: its design's cases with exact values, and every way of finding against the rules themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neosian_site.core.text import fold
from search.operations import document_statements
from tests.contract.wire.conversation_rows import store_rows

SCOPE = "workspace:team"
WHEN = "2026-01-01T00:00:00Z"
ALPHA = "The deployment window opens Tuesday."
CURSOR = (
    "WyJtZW1vcnlfc2VhcmNoIiwxLCJmZGFmZTkwMjYwZmRhN2RkZmVlMDFkZDJjZGI5OTVmNDhjOTM2NzdiYTVlMGQ2M2UxYmM3OTI1ZWIyY2ZmZWZl"
    "Iiwibm90ZXMvYWxwaGEiXQ=="
)


def restored(path: str, content: str, extra: dict[str, Any] | None = None, scope: str = SCOPE) -> dict[str, Any]:
    return {
        "scope": scope,
        "path": path,
        "content": content,
        "version": 1,
        "created_at": WHEN,
        "updated_at": WHEN,
        "actor": "client:z",
        "redacted": False,
        "extra": extra or {},
    }


def fill(wire: Any, *documents: dict[str, Any], scope: str = SCOPE) -> None:
    wire.ok("store/restore_scope", scope=scope, documents=list(documents), versions=[], redactions=[])


@pytest.fixture
def team(wire):
    fill(
        wire,
        restored("notes/alpha", ALPHA),
        restored("notes/beta", "Nothing here", {"tags": ["Blue", "deployment"], "n": {"b": "window", "a": "x"}}),
        restored("notes/window", "deployment plan"),
        restored("sessions/s1", "deployment window"),
        restored("handoff", "deployment window"),
        restored("messages/11111111-2222-4333-8444-555555555555", "deployment window"),
        restored("message-links/a/b", "deployment window"),
    )
    return wire


def search(wire: Any, query: str, **more: Any) -> Any:
    return wire.ok("memory/search", scope=SCOPE, query=query, **more)


def found(page: Any) -> list[tuple[str, list[str], str | None, int, str]]:
    return [
        (h["path"], h["matched_fields"], h["excerpt"]["metadata_key"], h["excerpt"]["offset"], h["excerpt"]["text"])
        for h in page["hits"]
    ]


ALPHA_HIT = ("notes/alpha", ["content"], None, 0, ALPHA)
WINDOW_HIT = ("notes/window", ["path", "content"], None, 0, "deployment plan")


def test_every_term_must_match_in_some_selected_string(team):
    page = search(team, "deployment window")
    assert found(page) == [ALPHA_HIT, WINDOW_HIT]
    assert page["next_cursor"] is None
    assert page["hits"][0] == {
        "scope": SCOPE,
        "path": "notes/alpha",
        "version": 1,
        "created_at": WHEN,
        "updated_at": WHEN,
        "actor": "client:z",
        "matched_fields": ["content"],
        "excerpt": {"field": "content", "metadata_key": None, "offset": 0, "text": ALPHA},
    }


def test_pages_and_their_cursors(team):
    first = search(team, "deployment window", limit=1)
    assert (found(first), first["next_cursor"]) == ([ALPHA_HIT], CURSOR)
    assert found(search(team, "deployment window", limit=100, cursor=CURSOR)) == [WINDOW_HIT]
    exact = search(team, "deployment window", limit=2)
    assert (len(exact["hits"]), exact["next_cursor"]) == (2, None)


@pytest.mark.parametrize(
    "other",
    [
        {"query": "window deployment"},
        {"prefix": "notes/"},
        {"fields": ["content"]},
        {"knowledge_policy": "approved"},
        {"scope": "workspace:other"},
    ],
)
def test_a_cursor_is_bound_to_its_search(team, other):
    body = {"scope": SCOPE, "query": "deployment window", "cursor": CURSOR, **other}
    answer = team.post("memory/search", body)
    assert (answer.status, answer.message) == (400, "cursor does not belong to this search")


@pytest.mark.parametrize(
    "cursor", ["", "x", "é", "bnVsbA==", "A" * 4096, "A" * 4097, CURSOR.rstrip("="), "WyJjaGFuZ2VzIiwxLCJhIiwiYiJd"]
)
def test_what_is_no_cursor_of_a_search_is_refused(team, cursor):
    answer = team.post("memory/search", scope=SCOPE, query="deployment window", cursor=cursor)
    assert (answer.status, answer.message) == (400, "malformed search cursor")


def test_metadata_is_searched_by_its_string_values_under_the_named_keys(team):
    fields = ["path", "content", "metadata"]
    page = search(team, "deployment window", fields=fields, metadata_keys=["tags", "n"])
    assert found(page) == [ALPHA_HIT, ("notes/beta", ["metadata"], "n", 0, "window"), WINDOW_HIT]
    assert found(search(team, "deployment window", fields=fields, metadata_keys=["n"])) == [ALPHA_HIT, WINDOW_HIT]
    for key in ("b", "a", "missing"):
        assert found(search(team, "window", fields=["metadata"], metadata_keys=[key])) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"scopes": ["user:x"]}, "unknown parameter: 'scopes'"),
        ({"zz": 1, "actor": None}, "unknown parameter: 'actor'"),
        ({"query": None}, "missing parameter: 'query'"),
        ({"query": 1}, "parameter 'query' must be a string"),
        ({"query": ""}, "query must be 1 to 1024 characters"),
        ({"query": "x" * 1025}, "query must be 1 to 1024 characters"),
        ({"query": "\u3000\u0085"}, "query must hold 1 to 16 terms"),
        ({"query": "a " * 17}, "query must hold 1 to 16 terms"),
        ({"prefix": None}, "parameter 'prefix' must be a string"),
        ({"prefix": "é" * 513}, "prefix must be at most 1024 bytes"),
        ({"fields": None}, "parameter 'fields' must be a list of strings"),
        ({"fields": ["path", 1]}, "parameter 'fields' must be a list of strings"),
        ({"fields": []}, "fields must be a nonempty list of path, content, metadata"),
        ({"fields": ["path", "path"]}, "fields must be a nonempty list of path, content, metadata"),
        ({"fields": ["body"]}, "fields must be a nonempty list of path, content, metadata"),
        ({"fields": ["metadata"]}, "metadata needs 1 to 8 distinct metadata_keys"),
        ({"fields": ["metadata"], "metadata_keys": ["k", "k"]}, "metadata needs 1 to 8 distinct metadata_keys"),
        (
            {"fields": ["metadata"], "metadata_keys": [str(n) for n in range(9)]},
            "metadata needs 1 to 8 distinct metadata_keys",
        ),
        ({"fields": ["metadata"], "metadata_keys": [""]}, "a metadata key must be 1 to 128 characters"),
        ({"fields": ["metadata"], "metadata_keys": ["k" * 129]}, "a metadata key must be 1 to 128 characters"),
        ({"metadata_keys": ["k"]}, "metadata_keys needs the metadata field"),
        ({"metadata_keys": None}, "parameter 'metadata_keys' must be a list of strings"),
        ({"limit": None}, "parameter 'limit' must be an integer"),
        ({"limit": True}, "parameter 'limit' must be an integer"),
        ({"limit": 20.0}, "parameter 'limit' must be an integer"),
        ({"limit": 0}, "limit must be 1 to 100"),
        ({"limit": 101}, "limit must be 1 to 100"),
        ({"cursor": 1}, "parameter 'cursor' must be a string"),
        ({"knowledge_policy": "none"}, "knowledge_policy must be all, effective or approved"),
        ({"knowledge_policy": None}, "parameter 'knowledge_policy' must be a string"),
        # The first in the table's order is the one that is told.
        ({"limit": 0, "query": "", "fields": []}, "query must be 1 to 1024 characters"),
    ],
)
def test_a_request_that_cannot_be_read_is_refused(team, body, message):
    answer = team.post("memory/search", {"scope": SCOPE, "query": "x", **body})
    assert (answer.status, answer.code, answer.message) == (400, "value_error", message)


def test_bounds_that_still_hold(team):
    assert search(team, "x" * 1024)["hits"] == []
    assert [hit["path"] for hit in search(team, "a b c d e f g h i j k l m n o p".replace(" b", " a"))["hits"]] == []
    assert search(team, "e o i n t d p l m y w a s u h .")["next_cursor"] is None
    assert search(team, "\0")["hits"] == search(team, "x", prefix="\0")["hits"] == []
    assert search(team, "window", cursor=None)["next_cursor"] is None


def test_a_prefix_is_literal(team):
    assert [h["path"] for h in search(team, "deployment", prefix="notes/w")["hits"]] == ["notes/window"]
    for prefix in ("Notes/", "%", "notes/_", "sessions/", "handoff", "é"):
        assert search(team, "deployment", prefix=prefix)["hits"] == []


@pytest.mark.parametrize(
    ("text", "hits", "misses"),
    [
        ("Straße", ["straße", "STRAßE"], ["STRASSE"]),
        ("café", ["CAFÉ"], ["cafe"]),
        ("ΟΔΟΣ", ["οδοσ"], ["οδος"]),
        ("İ", ["i"], ["\u0131"]),
        ("\U00016ea0", ["\U00016ebb"], []),
        ("a\x1cb", ["a\x1cb"], []),
        ("100%_\\'\"", ["%", "_", "\\", "%_\\", "'\""], ["0_", "%\\"]),
    ],
)
def test_folding_is_scalar_by_scalar(wire, text, hits, misses):
    wire.ok("memory/write", scope=SCOPE, path="p", content=text)
    for query in hits:
        assert len(search(wire, query, fields=["content"])["hits"]) == 1, query
    for query in misses:
        assert search(wire, query, fields=["content"])["hits"] == [], query


@pytest.mark.parametrize(
    ("text", "query", "offset", "length"),
    [
        ("x" * 100 + "Deployment window is Tuesday.", "deployment window", 60, 69),
        ("İ" * 50 + "deploy now", "deploy", 10, 50),
        ("a" * 300 + " blue " + "b" * 300, "blue", 261, 240),
        ("xİ" * 30 + "İy", "\u0307y", 20, 42),
    ],
)
def test_an_excerpt_starts_forty_characters_before_the_first_match(wire, text, query, offset, length):
    wire.ok("memory/write", scope=SCOPE, path="p", content=text)
    (hit,) = search(wire, query)["hits"]
    assert (hit["excerpt"]["offset"], hit["excerpt"]["text"]) == (offset, text[offset : offset + 240])
    assert len(hit["excerpt"]["text"]) == length


def test_an_erased_deleted_or_moved_document_is_gone_from_the_next_search(team):
    team.ok("memory/redact", scope=SCOPE, path="notes/alpha")
    assert found(search(team, "deployment window")) == [WINDOW_HIT]
    team.ok("memory/rename", scope=SCOPE, src="notes/window", dst="sessions/window")
    assert found(search(team, "deployment")) == []
    team.ok("memory/rename", scope=SCOPE, src="sessions/window", dst="back/window")
    assert [row[0] for row in found(search(team, "deployment window"))] == ["back/window"]
    team.ok("memory/delete", scope=SCOPE, path="back/window")
    assert search(team, "deployment")["hits"] == []
    team.ok("memory/write", scope=SCOPE, path="notes/alpha", content="deployment again")
    assert [row[0] for row in found(search(team, "deployment"))] == ["notes/alpha"]


def test_handoff_alone_is_no_knowledge(wire):
    for path in ("handoff", "handoff/x", "notes/handoff", "Sessions/x", "sessions"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="needle")
    assert [h["path"] for h in search(wire, "needle")["hits"]] == [
        "Sessions/x",
        "handoff/x",
        "notes/handoff",
        "sessions",
    ]


def test_the_scope_is_judged_before_anything_else(wire):
    reader = wire.as_("tok-alice")
    for body in ({"zz": 1}, {"query": 5}, {"cursor": "x"}, {"limit": 0}):
        answer = reader.post("memory/search", {"scope": "user:bob", "query": "x", **body})
        assert (answer.status, answer.code) == (403, "forbidden")
    assert reader.post("memory/search", query="x").status == 403


def test_searching_changes_nothing(team):
    before = store_rows()
    search(team, "deployment", fields=["path", "content", "metadata"], metadata_keys=["tags"])
    assert store_rows() == before


def test_statements_do_not_grow_with_the_store(wire, monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(document_statements, "PROBE_DOCUMENTS", 3)
    for count in (10, 60):
        scope = f"user:n{count}"
        fill(wire, *(restored(f"n{n:03}", f"common rare{n}x", scope=scope) for n in range(count)), scope=scope)
        for query, statements in (("common", 1), (f"rare{count - 1}x", 2), ("z", 2)):
            with django_assert_num_queries(statements if query != "common" else 1):
                wire.ok("memory/search", scope=scope, query=query, limit=2)


def test_a_document_too_long_for_the_index_is_found(wire, monkeypatch):
    monkeypatch.setattr(document_statements, "PROBE_DOCUMENTS", 1)
    wire.ok("memory/write", scope=SCOPE, path="a", content="short needle")
    wire.ok("memory/write", scope=SCOPE, path="b", content="x" * 1_100_000 + "needle")
    wire.ok("memory/write", scope=SCOPE, path="c", content="none")
    assert [h["path"] for h in search(wire, "needle")["hits"]] == ["a", "b"]


# --- Against the rules themselves -------------------------------------------------------------------------------------

TEXT = st.text(alphabet="abAB İΣ\u03c3ßé\U00016ea0\x1c%_\\'\"\n\u3000😀", max_size=30)
WORD = st.text(alphabet="abABİΣ\u03c3é%_\\'", min_size=1, max_size=4)
PATH = st.sampled_from(["a", "ab", "b/a", "B", "notes/ab", "notes/b", "sessions/a", "handoff", "handoff/a", "z"])
VALUE = st.recursive(
    TEXT | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abz"), inner, max_size=3),
    max_leaves=5,
)
EXTRA = st.dictionaries(st.sampled_from(["k", "l", "m"]), VALUE, max_size=3)
FIELDS = st.lists(st.sampled_from(["path", "content", "metadata"]), min_size=1, max_size=3, unique=True)


def strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, dict):
        return [text for key in sorted(value) for text in strings(value[key])]
    return []


def expected(documents: dict[str, tuple[str, Any]], terms: list[str], fields: list[str], keys: list[str], prefix: str):
    """The seed's rules, spelled out: path, matched fields, field, key, offset and text of every hit."""
    hits = []
    for path, (content, extra) in sorted(documents.items()):
        if path.startswith(("sessions/", "messages/", "message-links/")) or path == "handoff":
            continue
        if not path.startswith(prefix):
            continue
        chosen = []
        if "content" in fields:
            chosen.append(("content", None, content))
        if "metadata" in fields:
            chosen += [("metadata", key, text) for key in sorted(keys) if key in extra for text in strings(extra[key])]
        if "path" in fields:
            chosen.append(("path", None, path))
        if not all(any(term in fold(text) for _, _, text in chosen) for term in terms):
            continue
        matching = [row for row in chosen if any(term in fold(row[2]) for term in terms)]
        matched = [name for name in ("path", "content", "metadata") if any(row[0] == name for row in matching)]
        field, key, text = matching[0]
        owner = [place for place, char in enumerate(text) for _ in fold(char)]
        first = owner[min(at for at in (fold(text).find(term) for term in terms) if at >= 0)]
        start = max(0, first - 40)
        hits.append((path, matched, field, key, start, text[start : start + 240]))
    return hits


@pytest.mark.parametrize("probe", [500, 2])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    documents=st.dictionaries(PATH, st.tuples(TEXT, EXTRA), max_size=7),
    terms=st.lists(WORD, min_size=1, max_size=3),
    fields=FIELDS,
    keys=st.lists(st.sampled_from("klm"), min_size=1, max_size=3, unique=True),
    prefix=st.sampled_from(["", "n", "notes/", "a"]),
    limit=st.integers(1, 4),
)
def test_every_way_of_finding_follows_the_rules(
    wire, monkeypatch, probe, documents, terms, fields, keys, prefix, limit
):
    from django.db import transaction

    monkeypatch.setattr(document_statements, "PROBE_DOCUMENTS", probe)
    wanted = expected(documents, [fold(term) for term in terms], fields, keys, prefix)
    with transaction.atomic():
        if documents:
            fill(wire, *(restored(path, content, extra) for path, (content, extra) in documents.items()))
        seen, cursor = [], None
        for _ in range(9):
            page = search(
                wire,
                " ".join(terms),
                fields=fields,
                metadata_keys=keys if "metadata" in fields else [],
                prefix=prefix,
                limit=limit,
                cursor=cursor,
            )
            cursor = page["next_cursor"]
            assert len(page["hits"]) == limit or cursor is None
            seen += [(h["path"], h["matched_fields"], *h["excerpt"].values()) for h in page["hits"]]
            if cursor is None:
                break
        transaction.set_rollback(True)
    assert seen == wanted


def test_a_policy_is_judged_before_the_page_and_at_one_instant(wire):
    from memory.models import Document

    for path, state, start, end in (
        ("a", "draft", None, None),
        ("b", "unmanaged", None, None),
        ("c", "approved", None, None),
        ("d", "approved", datetime(9000, 1, 1, tzinfo=UTC), None),
        ("e", "approved", None, datetime(2000, 1, 1, tzinfo=UTC)),
        ("f", "stale", None, None),
        ("g", "approved", datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)),
    ):
        wire.ok("memory/write", scope=SCOPE, path=path, content="needle")
        Document.objects.filter(path=path).update(governance=state, effective_at=start, expires_at=end)
    paths = {
        policy: [h["path"] for h in search(wire, "needle", knowledge_policy=policy)["hits"]]
        for policy in ("all", "effective", "approved")
    }
    assert paths == {"all": list("abcdefg"), "effective": list("bcg"), "approved": list("cg")}
    page = search(wire, "needle", knowledge_policy="approved", limit=2)
    assert page["next_cursor"] is None
