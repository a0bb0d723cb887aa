"""``memory/search``: how texts, also those of metadata, are compared and shown (SG-06, SG-13 to SG-16)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.wire.search_ground import ROUTE, SCOPE, excerpt, found, paths, restore, shown


@pytest.mark.parametrize(
    ("text", "query", "hit"),
    [
        # SG-14
        ("Straße", "straße", True), ("Straße", "STRAßE", True), ("Straße", "STRASSE", False), ("café", "CAFÉ", True),
        ("café", "cafe", False), ("ΟΔΟΣ", "οδοσ", True), ("ΟΔΟΣ", "οδος", False), ("οδος", "ΟΔΟΣ", False),
        ("İ", "i", True), ("İ", "i\u0307", True), ("İ", "\u0307", True), ("i\u0307", "İ", True), ("I", "\u0131", False),
        # SG-15, and a letter of Unicode 18 that stays as it is
        ("\U00016ea0", "\U00016ebb", True), ("\u1c89", "\u1c8a", True), ("\ua7dd", "\u0277", False),
        ("cafe\u0301", "café", False), ("ﬁ", "fi", False), ("\u212a", "k", True),
        # SG-13: a separator of information is no White_Space, but everything else here is
        ("a\u001cb", "a\u001cb", True), ("a b", "a\u001cb", False), ("a\u001fb", "b\u001fa", False),
        *[("left right", f"{gap}right{gap}left{gap}", True) for gap in "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u200a\u2028"
          "\u2029\u202f\u205f\u3000"],
        ("left right", "left\u200bright", False), ("left\u200bright", "left\u200bright", True),
        # Nothing is a wildcard, an operator or a quote
        ("100% sure", "0%", True), ("100 sure", "0%", False), ("axb", "a_b", False), ("a_b", "A_B", True),
        ("c\\d", "c\\d", True), ("c\\d", "c\\\\d", False), ("c%", "\\%", False), ("it's", "t's", True),
        ('say "hi"', '"hi"', True), ("a.b", "a.b", True), ("axb", "a.b", False), ("x", "*", False), ("x", "?", False),
        ("-- ; drop", "--", True), ("%(term0)s {} $1", "%(term0)s", True), ("%(term0)s {} $1", "{}", True),
        ("%s %d", "%s", True), ("U&'\\0130'", "\\0130", True), ("İ", "\\0130", False), ("foo & | ! (", "& |", True),
        # Short terms beside long ones, twice the same, one inside the other
        ("deployment", "d deployment", True), ("deployment", "z deployment", False), ("ab", "ab ab AB", True),
        ("abc", "abc b ab", True), ("one\ntwo", "onetwo", False), ("one\ntwo", "one\ntwo", True),
        ("👩‍👩‍👧‍👦", "👧", True), ("我喜欢在星期天去公园散步。", "星期天", True),
        # No text of a document
        ("", "x", False), (" ", "\u200b", False),
    ],
)  # fmt: skip
def test_terms_are_folded_substrings(wire, text, query, hit):
    wire.ok("memory/write", scope=SCOPE, path="p", content=text)
    wire.ok("memory/write", scope=SCOPE, path="q", content="0")
    assert found(wire, query, fields=["content"]) == (["p"] if hit else [])
    restore(wire, {"path": "p", "content": text}, {"path": "q", "extra": {"k": [text]}}, scope="workspace:restored")
    body = {"scope": "workspace:restored", "query": query, "fields": ["content"]}
    assert paths(wire.ok(ROUTE, body)) == (["p"] if hit else [])
    body |= {"fields": ["metadata"], "metadata_keys": ["k"]}
    assert paths(wire.ok(ROUTE, body)) == (["q"] if hit else [])


@pytest.mark.parametrize(
    ("text", "query", "shows"),
    [
        # SG-16
        ("x" * 100 + "Deployment window is Tuesday.", "deployment window",
         excerpt("x" * 40 + "Deployment window is Tuesday.", 60)),
        ("İ" * 50 + "deploy now", "deploy", excerpt("İ" * 40 + "deploy now", 10)),
        ("a" * 300 + " blue " + "b" * 300, "blue", excerpt("a" * 39 + " blue " + "b" * 195, 261)),
        ("😀" * 50 + "deploy", "deploy", excerpt("😀" * 40 + "deploy", 10)),
        # The second half of what an expanded scalar folds to is that scalar
        ("y" * 45 + "İx", "\u0307x", excerpt("y" * 40 + "İx", 5)),
        # The earliest of any term, whichever is named first or is longer
        ("z" * 50 + "b" + "z" * 50 + "along", "along b", excerpt("z" * 40 + "b" + "z" * 50 + "along", 10)),
        # Never trimmed, folded or decorated
        ("\r\n  Deploy\t\u0001 ", "deploy", excerpt("\r\n  Deploy\t\u0001 ")),
        ("deploy" + "é" * 500, "deploy", excerpt("deploy" + "é" * 234)),
        ("e" * 39 + "deploy", "deploy", excerpt("e" * 39 + "deploy")),
        ("e" * 41 + "deploy", "deploy", excerpt("e" * 40 + "deploy", 1)),
    ],
)  # fmt: skip
def test_an_excerpt_leads_up_to_the_first_match(wire, text, query, shows):
    restore(wire, {"path": "p", "content": text}, {"path": "q", "content": "-", "extra": {"k": text}})
    assert shown(wire.ok(ROUTE, scope=SCOPE, query=query)) == [("p", ["content"], shows)]
    page = wire.ok(ROUTE, scope=SCOPE, query=query, fields=["metadata"], metadata_keys=["k"])
    assert shown(page) == [("q", ["metadata"], {**shows, "field": "metadata", "metadata_key": "k"})]


def test_the_path_is_shown_where_nothing_else_matches(wire):
    path = "/".join(["a" * 30, "Folder", "b" * 30, "Document"])
    wire.ok("memory/write", scope=SCOPE, path=path, content="nothing")
    shows = (path, ["path"], excerpt(path[29:], 29, "path"))
    assert shown(wire.ok(ROUTE, scope=SCOPE, query="document")) == [shows]
    assert shown(wire.ok(ROUTE, scope=SCOPE, query="DOCUMENT", fields=["path"])) == [shows]
    assert shown(wire.ok(ROUTE, scope=SCOPE, query="folder document"))[0][2] == excerpt(path, 0, "path")


def test_a_term_never_spans_the_path_and_the_content(wire):
    wire.ok("memory/write", scope=SCOPE, path="notes/dep", content="loy now")
    for query in ("deploy", "dep\\nloy", "deploy\u0001"):
        assert found(wire, query) == []
    assert found(wire, "dep loy") == ["notes/dep"]


# Metadata

EXTRA = {
    "list": ["first", ["deep", {"z": "last", "a": "inner"}], 7, True, None, "after"],
    "text": "plain",
    "number": 42,
    "Upper": {"hiddenname": "value"},
    "é": {"\uffee": "lowword", "\U0001f600": "highword", "Z": "capitalword", "a": "smallword"},
    "unselected": "secret",
}


def metadata(wire: Any, query: str, *keys: str) -> list[tuple[Any, ...]]:
    page = wire.ok(ROUTE, scope=SCOPE, query=query, fields=["metadata"], metadata_keys=list(keys))
    return [(hit["excerpt"]["metadata_key"], hit["excerpt"]["text"]) for hit in page["hits"]]


@pytest.mark.parametrize(
    ("query", "keys", "shows"),
    [
        ("first", ["list"], ("list", "first")),
        ("after deep", ["list"], ("list", "deep")),
        ("last inner", ["list"], ("list", "inner")),
        ("PLAIN", ["text"], ("text", "plain")),
        # Requested keys are visited ascending, in whatever order they are asked for.
        ("first plain value", ["text", "list", "Upper"], ("Upper", "value")),
        ("first plain", ["text", "list"], ("list", "first")),
        ("word", ["é"], ("é", "capitalword")),
        ("lowword highword", ["é"], ("é", "lowword")),
        ("smallword highword", ["é"], ("é", "smallword")),
        # Names, numbers, truths and null are no text; a term never spans two strings.
        ("hiddenname", ["Upper"], None),
        ("upper", ["Upper"], None),
        ("42", ["number"], None),
        ("7", ["list"], None),
        ("true", ["list"], None),
        ("null", ["list"], None),
        ("none", ["list"], None),
        ("deeplast", ["list"], None),
        ("firstdeep", ["list"], None),
        ("secret", ["list", "text", "Upper"], None),
        ("first", ["absent"], None),
        ("first secret", ["list", "absent"], None),
        ("a", ["a"], None),
    ],
)
def test_metadata_strings_are_reached_in_order_and_nothing_else_is(wire, query, keys, shows):
    restore(wire, {"path": "p", "content": "first secret", "extra": EXTRA}, {"path": "q", "content": "a"})
    assert metadata(wire, query, *keys) == ([] if shows is None else [shows])


def test_metadata_survives_edits_and_renames_and_goes_with_the_document(wire):
    restore(wire, {"path": "p", "content": "x", "extra": {"k": "word"}})
    wire.ok("memory/write", scope=SCOPE, path="p", content="y")
    wire.ok("memory/rename", scope=SCOPE, src="p", dst="q")
    assert metadata(wire, "word", "k") == [("k", "word")]
    # An erased document may keep its metadata, but it is found by nothing.
    wire.ok("memory/redact", scope=SCOPE, path="q")
    assert wire.ok("memory/read", scope=SCOPE, path="q")["document"]["extra"] == {"k": "word"}
    assert metadata(wire, "word", "k") == []
    wire.ok("memory/delete", scope=SCOPE, path="q")
    wire.ok("memory/write", scope=SCOPE, path="q", content="z")
    assert metadata(wire, "word", "k") == []
