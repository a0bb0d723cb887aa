"""``memory/search``: hits, pages, prefixes, what takes part (SG-01 to SG-07, SG-17 to SG-19, SG-30)."""

from __future__ import annotations

import base64
import json

import pytest

from tests.contract.wire.memory_ground import forge
from tests.contract.wire.search_ground import ROUTE, SCOPE, excerpt, found, paths, restore, shown, walk

TERMS = {"scope": SCOPE, "query": "deployment window"}
NEXT = (
    "WyJtZW1vcnlfc2VhcmNoIiwxLCJmZGFmZTkwMjYwZmRhN2RkZmVlMDFkZDJjZGI5OTVmNDhjOTM2NzdiYTVlMGQ2M2UxYmM3OTI1ZWIyY2ZmZWZlIi"
    "wibm90ZXMvYWxwaGEiXQ=="
)
META = {"fields": ["path", "content", "metadata"], "metadata_keys": ["tags", "n"]}


@pytest.fixture
def team(wire):
    restore(
        wire,
        {"path": "notes/alpha", "content": "The deployment window opens Tuesday."},
        {
            "path": "notes/beta",
            "content": "Nothing here",
            "extra": {"tags": ["Blue", "deployment"], "n": {"b": "window", "a": "x"}},
        },
        {"path": "notes/window", "content": "deployment plan"},
        {"path": "sessions/s1", "content": "deployment window"},
    )
    return wire


ALPHA = ("notes/alpha", ["content"], excerpt("The deployment window opens Tuesday."))
WINDOW = ("notes/window", ["path", "content"], excerpt("deployment plan"))


def test_sg_01_terms_may_match_different_fields_and_content_is_shown_first(team):
    page = team.ok("memory/search", TERMS)
    assert (shown(page), page["next_cursor"]) == ([ALPHA, WINDOW], None)


def test_a_hit_has_the_documents_own_particulars_and_nothing_else(team):
    team.ok("memory/write", scope=SCOPE, path="notes/alpha", content="deployment window", actor="me")
    for hit in team.ok(ROUTE, TERMS)["hits"]:
        document = team.ok("memory/read", scope=SCOPE, path=hit["path"])["document"]
        particulars = ("scope", "path", "version", "created_at", "updated_at", "actor")
        assert list(hit) == [*particulars, "matched_fields", "excerpt"]
        assert {key: hit[key] for key in particulars} == {key: document[key] for key in particulars}
    assert team.ok(ROUTE, TERMS)["hits"][0]["actor"] == "client:default/me"


def test_a_hit_nobody_wrote_has_no_actor(wire):
    restore(wire, {"path": "a", "content": "word", "actor": None, "version": 7})
    (hit,) = wire.ok(ROUTE, scope=SCOPE, query="word")["hits"]
    assert (hit["actor"], hit["version"], hit["created_at"]) == (None, 7, "2026-03-01T10:00:00Z")


def test_sg_02_to_05_pages(team):
    first = team.ok(ROUTE, TERMS, limit=1)
    assert (shown(first), first["next_cursor"]) == ([ALPHA], NEXT)
    rest = team.ok(ROUTE, TERMS, cursor=NEXT, limit=100)
    assert (shown(rest), rest["next_cursor"]) == ([WINDOW], None)
    swapped = team.post(ROUTE, scope=SCOPE, query="window deployment", cursor=NEXT)
    assert (swapped.status, swapped.code, swapped.message) == (
        400,
        "value_error",
        "cursor does not belong to this search",
    )
    full = team.ok(ROUTE, TERMS, limit=2)
    assert (shown(full), full["next_cursor"]) == ([ALPHA, WINDOW], None)


def test_sg_06_and_07_metadata_is_looked_at_under_the_named_keys_only(team):
    page = team.ok(ROUTE, TERMS, **META)
    beta = ("notes/beta", ["metadata"], excerpt("window", field="metadata", key="n"))
    assert (shown(page), page["next_cursor"]) == ([ALPHA, beta, WINDOW], None)
    assert shown(team.ok(ROUTE, TERMS, **{**META, "metadata_keys": ["n"]})) == [ALPHA, WINDOW]
    assert "Blue" not in str(page)


def test_sg_17_an_erasure_shows_on_the_very_next_call(team):
    team.ok("memory/redact", scope=SCOPE, path="notes/alpha")
    assert shown(team.ok(ROUTE, TERMS)) == [WINDOW]
    team.ok("memory/redact", scope=SCOPE)
    assert team.ok(ROUTE, TERMS, **META) == {"hits": [], "next_cursor": None}
    assert found(team, "notes") == []
    team.ok("memory/write", scope=SCOPE, path="notes/alpha", content="deployment window again")
    assert found(team, "deployment window") == ["notes/alpha"]


@pytest.mark.parametrize("fields", [["path", "content"], ["content"], ["path"], ["path", "content", "metadata"]])
def test_what_is_deleted_renamed_or_overwritten_is_gone_at_once(wire, fields):
    more = {"fields": fields, "metadata_keys": ["k"] if "metadata" in fields else []}
    wire.ok("memory/write", scope=SCOPE, path="oldword", content="oldword")
    assert found(wire, "oldword", **more) == ["oldword"]
    wire.ok("memory/write", scope=SCOPE, path="oldword", content="newtext")
    assert found(wire, "oldword", **more) == (["oldword"] if "path" in fields else [])
    assert found(wire, "newtext", **more) == (["oldword"] if "content" in fields else [])
    wire.ok("memory/rename", scope=SCOPE, src="oldword", dst="newtext")
    assert found(wire, "oldword", **more) == []
    assert found(wire, "newtext", **more) == ["newtext"]
    wire.ok("memory/delete", scope=SCOPE, path="newtext")
    assert found(wire, "newtext", **more) == []


def test_old_versions_are_never_found(wire):
    for content in ("first", "second", "third"):
        wire.ok("memory/write", scope=SCOPE, path="p", content=content)
    assert (found(wire, "first"), found(wire, "second"), found(wire, "third")) == ([], [], ["p"])


def test_sg_18_a_prefix_is_literal_and_case_counts(team):
    def prefixed(prefix: str) -> list[str]:
        return found(team, "notes", prefix=prefix)

    assert prefixed("notes/w") == ["notes/window"]
    assert prefixed("notes/window") == ["notes/window"]
    assert prefixed("notes") == prefixed("") == ["notes/alpha", "notes/beta", "notes/window"]
    for prefix in (
        "Notes/", "otes", "notes/window/", "notes/%", "notes_", "%", "_", "\\", " ", "/", "sessions/", "é",
        "notes/\x7f", "note\x7f", "\x7f", "\x01", "a\0", "notes/é", "\uffff", "n" * 1024,
    ):  # fmt: skip
        assert prefixed(prefix) == [], ascii(prefix)


def test_sg_19_the_handshake_declares_search_and_policy(wire):
    capabilities = wire.raw("GET", "/v1/capabilities").json
    assert capabilities["memory_search"] == {"version": 1}
    assert capabilities["knowledge_policy"] == {"version": 1}
    assert capabilities["wire_version"] == 6


APART = {
    "handoff": False, "handoff/x": True, "notes/handoff": True, "Handoff": True, "handoffs": True,
    "messages/0b54c17c-9c9d-4f3e-8f52-7d0f3a1f4c11": False, "messages": True, "message": True, "Messages/x": True,
    "message-links/x": False, "message-links": True, "messages-2/x": True, "sessions/2026": False, "sessions": True,
    "sessions.old/x": True, "notes/sessions/x": True,
}  # fmt: skip


@pytest.mark.parametrize("written", [True, False], ids=["written", "restored"])
def test_sg_30_sessions_mail_and_the_hand_over_are_never_found(wire, written):
    if written:
        for path in APART:
            wire.ok("memory/write", scope=SCOPE, path=path, content="term")
    else:
        restore(wire, *[{"path": path, "content": "term", "extra": {"k": "term"}} for path in APART])
    expected = sorted(path for path, seen in APART.items() if seen)
    for more in ({}, {"fields": ["content"]}, {"fields": ["content", "metadata"], "metadata_keys": ["k"]}):
        assert found(wire, "term", **more) == expected
    assert found(wire, "sessions", fields=["path"]) == ["notes/sessions/x", "sessions", "sessions.old/x"]
    for prefix in ("sessions/", "messages/", "message-links/"):
        assert found(wire, "term", prefix=prefix) == []


def test_a_document_renamed_into_a_kept_place_and_out_of_it(wire):
    wire.ok("memory/write", scope=SCOPE, path="a", content="term")
    wire.ok("memory/rename", scope=SCOPE, src="a", dst="sessions/a")
    assert found(wire, "term") == []
    wire.ok("memory/rename", scope=SCOPE, src="sessions/a", dst="b")
    assert found(wire, "term") == ["b"]


def test_paths_are_in_bytewise_order(wire):
    names = ["B", "a", "a-b", "a.b", "a/b", "a/b/c", "a0", "aB", "a_b", "ab", "b", "Z/a", "0", "-", "_"]
    for name in names:
        wire.ok("memory/write", scope=SCOPE, path=name, content="term")
    for size in (1, 2, 4, 15):
        pages = walk(wire, {"scope": SCOPE, "query": "term", "limit": size})
        assert [hit["path"] for page in pages for hit in page] == sorted(names)
        assert {len(page) for page in pages[:-1]} <= {size}


def test_what_comes_before_the_last_path_is_not_seen_by_the_rest(wire):
    for name in ("b", "d"):
        wire.ok("memory/write", scope=SCOPE, path=name, content="term")
    first = wire.ok(ROUTE, scope=SCOPE, query="term", limit=1)
    for name in ("a", "c", "e"):
        wire.ok("memory/write", scope=SCOPE, path=name, content="term")
    wire.ok("memory/redact", scope=SCOPE, path="d")
    assert found(wire, "term", cursor=first["next_cursor"]) == ["c", "e"]
    # The document the cursor stands on need not be there.
    wire.ok("memory/delete", scope=SCOPE, path="b")
    assert found(wire, "term", cursor=first["next_cursor"]) == ["c", "e"]


@pytest.mark.parametrize(("limit", "count"), [(None, 20), (1, 1), (99, 99), (100, 100)])
def test_a_page_holds_twenty_hits_unless_asked_otherwise(wire, limit, count):
    restore(wire, *[{"path": f"p{number:03}", "content": "term"} for number in range(102)])
    page = wire.ok(ROUTE, scope=SCOPE, query="term", **({} if limit is None else {"limit": limit}))
    assert paths(page) == [f"p{number:03}" for number in range(count)]
    assert page["next_cursor"] is not None


def test_a_cursor_carries_no_authority(wire):
    for path in ("a", "b"):
        wire.ok("memory/write", scope="user:bob", path=path, content="term")
    cursor = wire.ok(ROUTE, scope="user:bob", query="term", limit=1)["next_cursor"]
    alice = wire.as_("tok-alice")
    for given in (cursor, "x", "", 5):
        answer = alice.post(ROUTE, scope="user:bob", query="term", cursor=given)
        assert (answer.status, answer.code) == (403, "forbidden")
    assert alice.ok(ROUTE, scope="user:alice", query="term") == {"hits": [], "next_cursor": None}


def test_a_forged_last_path_only_skips_rows_the_caller_may_read(team):
    name, version, bind, last = json.loads(base64.urlsafe_b64decode(NEXT))
    assert (name, version, last) == ("memory_search", 1, "notes/alpha")
    assert shown(team.ok(ROUTE, TERMS, cursor=forge(["memory_search", 1, bind, "a"]))) == [ALPHA, WINDOW]
    assert shown(team.ok(ROUTE, TERMS, cursor=forge(["memory_search", 1, bind, "zz"]))) == []


def test_one_scope_is_searched_and_never_those_below_it(wire):
    for scope in (SCOPE, f"{SCOPE}/user:a", "workspace:team2"):
        wire.ok("memory/write", scope=scope, path="p", content="term")
    (hit,) = wire.ok(ROUTE, scope=SCOPE, query="term")["hits"]
    assert hit["scope"] == SCOPE


def test_a_row_of_a_newer_format_refuses_the_page_it_stands_on(wire):
    from memory.models import Document

    for path in ("a", "b"):
        wire.ok("memory/write", scope=SCOPE, path=path, content="term")
    Document.objects.filter(path="b").update(format=2)
    assert wire.post(ROUTE, scope=SCOPE, query="term").code == "memory_format_unsupported"
    assert found(wire, "term", limit=1) == ["a"]
    assert found(wire, "absent") == []
