from __future__ import annotations

from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from conversations.models import Turn
from tests.contract.wire.conversation_rows import blanked, canonical, message, restore, turn

ROUTE = "conversation/search_turns"

# The whole store and named conversations are two statements with one meaning.
both = pytest.mark.parametrize("within", [None, ["c"]], ids=["whole store", "named"])


def append(wire: Any, *messages: Any, conversation_id: str = "c") -> None:
    wire.ok("conversation/append_turn", conversation_id=conversation_id, messages=list(messages))


def found(wire: Any, query: str, within: list[str] | None = None, **more: Any) -> list[tuple[str, int]]:
    answer = wire.ok(ROUTE, query=query, conversations=within, **more)
    assert list(answer) == ["turns"]
    return [(hit["conversation_id"], hit["turn"]) for hit in answer["turns"]]


HIT, MISS = [("c", 1)], []


@both
def test_a_hit_is_the_turn_as_it_is_read(wire, within):
    append(wire, message("The Deployment Window"), message("closes", role="assistant"))
    turns = wire.ok("conversation/read_turns", conversation_id="c")["turns"]
    assert wire.ok(ROUTE, query="window", conversations=within) == {"turns": turns}


@both
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("needle", HIT),
        ("NEEDLE", HIT),
        ("eedl", HIT),
        ("  hay\t\nneedle  ", HIT),
        ("needle hay", HIT),
        ("needle needle needle", HIT),
        ("elsewhere needle", HIT),
        ("needle missing", MISS),
        ("hay needle", HIT),
        ("hayneedle", MISS),
        ("stack\nanother", HIT),
        ("d", HIT),
        ("dl", HIT),
        ("zq", MISS),
    ],
)
def test_every_term_must_occur_anywhere_in_the_turn(wire, within, query, expected):
    append(wire, message("Hay Needle hay stack"), message("another ELSEWHERE", role="tool"))
    assert found(wire, query, within) == expected


@both
def test_terms_do_not_run_over_the_edge_of_a_message(wire, within):
    append(wire, message("one"), message("two"))
    assert found(wire, "onetwo", within) == MISS
    assert found(wire, "one two", within) == HIT


CALL = {
    "role": "assistant",
    "reasoning": "thoughtword",
    "extra": {"k": "extraword"},
    "content": [
        {"type": "text", "text": "firstblock"},
        {"type": "image", "media_type": "imageword/png", "data": "dataword"},
        {"type": "document", "url": "http://urlword"},
        {"type": "compaction", "content": "compactword", "encrypted_content": "cipherword"},
        {"type": "text", "text": "lastblock"},
    ],
    "tool_calls": [
        {
            "id": "callid",
            "name": "Lookup",
            "arguments": {"city": "Zürich", "deep": [{"say": 'a "quoted" word'}], "n": 2.50, "ok": True},
            "extra": {"k": "callextra"},
        }
    ],
}
RESULT = {"role": "tool", "content": "resultword", "tool_call_id": "resultid"}


@both
@pytest.mark.parametrize(
    "query",
    [
        "firstblock",
        "lastblock",
        "lookup",
        "zürich",
        "ZÜRICH",
        '{"city":"zürich","deep":[{"say":"a',
        '\\"quoted\\"',
        '"n":2.5,"ok":true}',
        "resultword",
        "firstblock lookup resultword",
    ],
)
def test_text_blocks_calls_and_results_are_searched(wire, within, query):
    append(wire, CALL, RESULT)
    assert found(wire, query, within) == HIT


@both
@pytest.mark.parametrize(
    "query",
    [
        "assistant",
        "tool",
        "role",
        "thoughtword",
        "extraword",
        "callextra",
        "callid",
        "resultid",
        "imageword",
        "dataword",
        "urlword",
        "compactword",
        "cipherword",
        "text",
        "null",
        "z\\u00fcrich",
        "firstblocklastblock",
        "2.50",
        'say":"a "quoted"',
    ],
)
def test_roles_reasoning_ids_extra_and_media_are_not_searched(wire, within, query):
    append(wire, CALL, RESULT)
    assert found(wire, query, within) == MISS


LITERAL = ["100% sure", "100 sure", "a_b", "axb", "c\\d", "it's", 'say "hi"', "[x]*", "a.b", "-- ; drop", "$1 %s {}"]


@both
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("100%", ["100% sure"]),
        ("%", ["100% sure", "$1 %s {}"]),
        ("a_b", ["a_b"]),
        ("_", ["a_b"]),
        ("\\", ["c\\d"]),
        ("c\\\\d", []),
        ("c\\d", ["c\\d"]),
        ("a.b", ["a.b"]),
        ("*", ["[x]*"]),
        ("[x]", ["[x]*"]),
        ("'", ["it's"]),
        ('"', ['say "hi"']),
        ("--", ["-- ; drop"]),
        ("; drop", ["-- ; drop"]),
        ("$1", ["$1 %s {}"]),
        ("%s", ["$1 %s {}"]),
        ("%(project)s", []),
        ("{}", ["$1 %s {}"]),
        ("***", []),
        ("?", []),
    ],
)
def test_nothing_in_a_query_is_a_wildcard(wire, within, query, expected):
    restore(wire, turns=[turn(place, text) for place, text in enumerate(LITERAL, start=1)])
    hits = wire.ok(ROUTE, query=query, conversations=within)["turns"]
    assert [hit["messages"][0]["content"] for hit in reversed(hits)] == expected


@both
@pytest.mark.parametrize(
    "query",
    [
        "foo & | ! (",
        "a:* <-> b",
        '"unclosed',
        "`code`",
        "it's -- ; drop",
        "\\",
        "-",
        "***",
        "'",
        '"',
        "\\%",
        "%\\",
        "\\_",
    ],
)
def test_operators_of_a_search_engine_are_text(wire, within, query):
    assert found(wire, query, within) == MISS
    append(wire, message(f"before {query} after"))
    append(wire, message("nothing of the kind"))
    assert found(wire, query, within) == HIT


SCRIPTS = {
    "Chinese": ("我喜欢在星期天去公园散步。", "星期天"),
    "Japanese": ("毎朝コーヒーを飲みます。", "コーヒー"),
    "Thai": ("ฉันชอบกินข้าวผัดทุกวัน", "ข้าวผัด"),
    "Arabic": ("أحب القراءة في المساء", "القراءة"),
    "Hindi": ("मुझे चाय पीना पसंद है", "चाय"),
    "Korean": ("나는 매일 아침 운동을 합니다", "운동"),
    "emoji": ("we are a 👩‍👩‍👧‍👦 of four", "👩‍👩‍👧‍👦"),
    "one joined emoji": ("we are a 👩‍👩‍👧‍👦 of four", "👧"),
}


@both
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_piece_of_any_script_is_found(wire, within, script):
    sentence, piece = SCRIPTS[script]
    append(wire, message(sentence))
    append(wire, message("an unrelated sentence"))
    assert found(wire, piece, within) == HIT


@both
@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("É", "é", HIT),
        ("é", "É", HIT),
        ("ΟΔΟΣ", "οδοσ", HIT),
        ("ΟΔΟΣ", "οδος", MISS),
        ("οδος", "ΟΔΟΣ", MISS),
        ("İ", "i", HIT),
        ("İ", "i\u0307", HIT),
        ("\u0131", "i", MISS),
        ("I", "\u0131", MISS),
        ("straße", "STRASSE", MISS),
        ("STRAẞE", "straße", HIT),
        ("\u00e9", "e\u0301", MISS),
        ("ﬁ", "fi", MISS),
        ("\u1c89", "\u1c8a", HIT),
        ("\U00016ea0", "\U00016ebb", HIT),
        ("\u212a", "k", HIT),
        ("\uff24", "\uff44", HIT),
        ("ДОМ", "дом", HIT),
    ],
)
def test_folding_is_unicode_17s_lower_case_of_each_scalar_alone(wire, within, text, query, expected):
    append(wire, message(f"x{text}y"))
    assert found(wire, query, within) == expected


@both
@pytest.mark.parametrize("gap", ["\u00a0", "\u3000", "\u0085", "\u2028", "\u001c", "\u001f", "\v", "\u1680"])
def test_a_query_splits_at_every_white_space_and_separator(wire, within, gap):
    append(wire, message("left and right"))
    assert found(wire, f"{gap}right{gap}left{gap}", within) == HIT


@both
def test_a_zero_width_space_does_not_split(wire, within):
    append(wire, message("left and right"))
    append(wire, message("left\u200bright"))
    assert found(wire, "left\u200bright", within) == [("c", 2)]


@both
@pytest.mark.parametrize("count", [8, 9, 101, 1000])
def test_there_is_no_bound_on_terms_and_each_of_them_counts(wire, within, count):
    words = [f"w{place:05}x" for place in range(count)]
    append(wire, message(" ".join(words)))
    assert found(wire, " ".join(words), within) == HIT
    assert found(wire, " ".join(reversed(words)), within) == HIT
    for place in (0, count // 2, count - 1):
        changed = [*words[:place], "absent", *words[place + 1 :]]
        assert found(wire, " ".join(changed), within) == MISS
    # The shortest terms come last, whatever they hold.
    assert found(wire, " ".join([*words, "%"]), within) == MISS
    assert found(wire, " ".join([*words, "x"]), within) == HIT


@both
def test_a_query_may_be_as_long_as_what_it_looks_for(wire, within):
    word = "überlang" * 5000
    append(wire, message(word))
    assert found(wire, word.upper(), within) == HIT
    assert found(wire, f"{word}!", within) == MISS


@both
@pytest.mark.parametrize("query", ["a\0b", "\0", "\ud83d", "fine \udc00"], ids=ascii)
def test_text_no_store_can_hold_is_in_no_turn(wire, within, query):
    append(wire, message("fine ab"))
    assert wire.ok(ROUTE, query=query, conversations=within) == {"turns": []}


@pytest.mark.parametrize("query", ["", " ", "\t\n", "\u00a0\u3000", "\u001c\u0085"], ids=ascii)
@pytest.mark.parametrize("within", [None, [], ["c"], ["a b"]])
def test_a_blank_query_is_refused_before_the_ids_are_looked_at(wire, within, query):
    answer = wire.post(ROUTE, query=query, conversations=within)
    assert (answer.status, answer.code, answer.message) == (
        400,
        "value_error",
        "query must contain at least one term",
    )


def test_a_zero_width_space_is_a_term(wire):
    append(wire, message("left\u200bright"))
    append(wire, message("leftright"))
    assert found(wire, "\u200b") == HIT


def three_conversations(wire: Any) -> None:
    for conversation_id, text in (("a", "word"), ("b", "word"), ("B", "word other")):
        append(wire, message(text), conversation_id=conversation_id)


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (None, {"a", "b", "B"}),
        ([], set()),
        (["a"], {"a"}),
        (["a", "B"], {"a", "B"}),
        (["unknown"], set()),
        (["unknown", "b"], {"b"}),
    ],
)
def test_a_list_narrows_and_an_empty_one_finds_nothing(wire, within, expected):
    three_conversations(wire)
    assert {conversation_id for conversation_id, _ in found(wire, "word", within)} == expected
    assert wire.ok("store/conversations") == {"conversations": ["B", "a", "b"]}


def test_an_id_named_twice_is_searched_once(wire):
    three_conversations(wire)
    assert found(wire, "word", ["a", "a", "a"]) == [("a", 1)]


@pytest.mark.parametrize("bad", ["", "a/b", "..", "x" * 129, "\0", "\ud800"], ids=ascii)
def test_one_malformed_id_refuses_the_search(wire, bad):
    three_conversations(wire)
    answer = wire.post(ROUTE, query="word", conversations=["a", bad])
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")


@both
def test_newest_first_then_ids_and_numbers_downwards(wire, within):
    named = None if within is None else ["A", "a", "b", "B", "a-b", "late"]
    with time_machine.travel("2026-01-01T00:00:00Z", tick=False):
        for conversation_id in ("a", "B", "b", "a-b", "A"):
            append(wire, message("word"), conversation_id=conversation_id)
        append(wire, message("word"), conversation_id="a")
    with time_machine.travel("2026-01-01T00:00:00.000001Z", tick=False):
        append(wire, message("word"), conversation_id="A")
    with time_machine.travel("2025-12-31T23:59:59Z", tick=False):
        append(wire, message("word"), conversation_id="late")
    assert found(wire, "word", named) == [
        ("A", 2),
        ("b", 1),
        ("a-b", 1),
        ("a", 2),
        ("a", 1),
        ("B", 1),
        ("A", 1),
        ("late", 1),
    ]
    assert found(wire, "word", named, limit=3) == [("A", 2), ("b", 1), ("a-b", 1)]


@both
@pytest.mark.parametrize(("limit", "count"), [(None, 50), (1, 1), (499, 499), (500, 500)])
def test_the_answer_is_bounded_to_fifty_unless_asked_otherwise(wire, within, limit, count):
    restore(wire, turns=[turn(number, "word") for number in range(1, 502)])
    assert found(wire, "word", within, limit=limit) == [("c", number) for number in range(501, 501 - count, -1)]


@both
@pytest.mark.parametrize(
    ("limit", "refusal"),
    [
        (501, "a search answers at most 500 turns; narrow the query"),
        (10**30, "a search answers at most 500 turns; narrow the query"),
        (0, "limit must be >= 1, got 0"),
        (-1, "limit must be >= 1, got -1"),
        (-(10**30), f"limit must be >= 1, got -{10**30}"),
    ],
)
def test_a_limit_out_of_range_is_refused(wire, within, limit, refusal):
    answer = wire.post(ROUTE, query="word", conversations=within, limit=limit)
    assert (answer.status, answer.code, answer.message) == (400, "value_error", refusal)


@pytest.mark.parametrize(
    ("asked", "refusal"),
    [
        ({"limit": 501, "query": 1}, "a search answers at most 500 turns; narrow the query"),
        ({"limit": 0, "query": 1}, "parameter 'query' must be a string"),
        ({"limit": 0, "query": " ", "conversations": ["a b"]}, "query must contain at least one term"),
        ({"limit": 0, "query": "x", "conversations": ["a b"]}, "Invalid conversation id 'a b'"),
        ({"limit": 0, "query": "x", "conversations": []}, "limit must be >= 1, got 0"),
        ({"limit": "1", "query": 1, "conversations": 1}, "parameter 'limit' must be an integer"),
        ({"query": 1, "conversations": 1}, "parameter 'query' must be a string"),
        ({"conversations": 1}, "missing parameter: 'query'"),
    ],
)
def test_the_first_refusal_in_the_contracts_order_answers(wire, asked, refusal):
    answer = wire.post(ROUTE, asked)
    assert answer.status == 400
    assert answer.message.startswith(refusal)


@both
def test_an_erased_turn_is_no_hit_in_the_same_moment(wire, within):
    append(wire, message("word one"))
    append(wire, message("word two"))
    wire.ok("conversation/redact_turns", conversation_id="c", turns=[1])
    assert found(wire, "word", within) == [("c", 2)]
    assert not Turn.objects.filter(search_text__contains="one").exists()


@both
def test_restored_turns_are_found_and_restored_skeletons_are_not(wire, within):
    restore(wire, turns=[turn(1, "Word"), blanked(2), turn(3, [{"type": "text", "text": "WORD"}])])
    assert found(wire, "word", within) == [("c", 3), ("c", 1)]


@both
def test_keys_of_other_routes_and_unknown_ones_change_nothing(wire, within):
    three_conversations(wire)
    asked = {"scope": "user:a", "conversation_id": "a", "after": -1, "cursor": "x", "actor": 1}
    expected = found(wire, "word", within)
    assert found(wire, "word", within, **asked) == expected


def test_a_hit_of_a_newer_format_is_refused(wire):
    restore(wire, turns=[turn(1, "word")])
    Turn.objects.update(format=2)
    assert wire.post(ROUTE, query="word").code == "agent_conversation_format_unsupported"
    assert wire.ok(ROUTE, query="absent") == {"turns": []}


def test_an_edge_message_without_text_is_searchable_by_nothing(wire):
    append(wire, {"role": "user"}, {"role": "user", "content": []}, {"role": "user", "content": ""})
    assert wire.ok("conversation/read_turns", conversation_id="c")["turns"][0]["messages"][2] == canonical("")
    assert found(wire, "null") == MISS


@both
def test_a_search_costs_one_statement_whatever_it_finds(wire, within):
    counts = []
    for size in (1, 400):
        restore(wire, f"c{size}", turns=[turn(n, f"word{size}", f"c{size}") for n in range(1, size + 1)])
        named = None if within is None else [f"c{size}"]
        with CaptureQueriesContext(connection) as queries:
            assert len(found(wire, f"word{size}", named, limit=500)) == size
        counts.append(len(queries))
    assert counts == [1, 1]
