from __future__ import annotations

import json
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.contract.wire.conversation_rows import canonical, message

ROUTE = "conversation/append_turn"

# What stands around a message's content in its canonical spelling, and around its calls.
CONTENT = '{"role":"user","content":%s,"reasoning":null,"tool_calls":[],"tool_call_id":null}'
CALLS = '{"role":"assistant","content":null,"reasoning":null,"tool_calls":[%s],"tool_call_id":null}'
EXTRA = '{"role":"user","content":null,"reasoning":null,"tool_calls":[],"tool_call_id":null,"extra":%s}'

ORDERED = '{"z":1,"a":{"y":-0.0,"b":[1.5,12345678901234567890123456789]},"":null}'


def post_raw(wire: Any, message_text: str, conversation_id: str = "c") -> Any:
    body = '{"conversation_id":"%s","messages":[%s]}' % (conversation_id, message_text)  # noqa: UP031 - braces
    return wire.raw("POST", f"/v1/{ROUTE}", body.encode("utf-8", "surrogatepass"))


def messages_of(body: bytes) -> str:
    return body.decode().partition('"messages":[')[2].partition('],"created_at"')[0]


def assert_nothing_stored(wire: Any) -> None:
    assert wire.ok("store/conversations") == {"conversations": []}
    assert wire.ok("conversation/last_turn_number", conversation_id="c") == {"turn": 0}


ACCEPTED = {
    "only a role": ('{"role":"user"}', CONTENT % "null"),
    "the system's role": ('{"role":"system","content":"s"}', (CONTENT % '"s"').replace('"user"', '"system"')),
    "the assistant's role": ('{"role":"assistant"}', CALLS % ""),
    "the tool's role": ('{"role":"tool"}', (CONTENT % "null").replace('"user"', '"tool"')),
    "text": ('{"role":"user","content":"hi"}', CONTENT % '"hi"'),
    "empty text": ('{"role":"user","content":""}', CONTENT % '""'),
    "null content": ('{"role":"user","content":null}', CONTENT % "null"),
    "no blocks is not null": ('{"role":"user","content":[]}', CONTENT % "[]"),
    "keys in any order": ('{"tool_call_id":null,"content":"hi","role":"user"}', CONTENT % '"hi"'),
    "unknown keys are dropped": ('{"role":"user","id":7,"name":{"a":[]},"actor":"x"}', CONTENT % "null"),
    "escapes become characters": (r'{"role":"user","content":"\u00e9\ud83d\ude00\/"}', CONTENT % '"é😀/"'),
    "control characters stay escaped": (
        r'{"role":"user","content":"\u0001\t\r\n\b\f\"\\"}',
        CONTENT % r'"\u0001\t\r\n\b\f\"\\"',
    ),
    "text that spells the escape of a NUL": (r'{"role":"user","content":"\\u0000"}', CONTENT % r'"\\u0000"'),
    "markup and tokenizer marks": (
        '{"role":"user","content":"<|endoftext|></s>[INST]{{ x }}%s %d<script>alert(1)</script>"}',
        CONTENT % '"<|endoftext|></s>[INST]{{ x }}%s %d<script>alert(1)</script>"',
    ),
    "text blocks keep their order": (
        '{"role":"user","content":[{"type":"text","text":"b","cache":1},{"text":"","type":"text"}]}',
        CONTENT % '[{"type":"text","text":"b"},{"type":"text","text":""}]',
    ),
    "an image's data loses white space": (
        '{"role":"user","content":[{"type":"image","media_type":"image/png","data":" aG\\n\\tk=\\u00a0","detail":1}]}',
        CONTENT % '[{"type":"image","media_type":"image/png","data":"aGk=","url":null}]',
    ),
    "data is not decoded": (
        '{"role":"user","content":[{"type":"document","media_type":"x","data":"!!"}]}',
        CONTENT % '[{"type":"document","media_type":"x","data":"!!","url":null}]',
    ),
    "empty data is data": (
        '{"role":"user","content":[{"type":"image","media_type":"","data":"","url":null}]}',
        CONTENT % '[{"type":"image","media_type":"","data":"","url":null}]',
    ),
    "a file's url is kept and not fetched": (
        '{"role":"user","content":[{"type":"image","url":"file:///etc/hostname"}]}',
        CONTENT % '[{"type":"image","media_type":null,"data":null,"url":"file:///etc/hostname"}]',
    ),
    "a media type beside a url is kept": (
        '{"role":"user","content":[{"type":"document","url":"http://127.0.0.1:1/","media_type":"m","title":"t"}]}',
        CONTENT % '[{"type":"document","media_type":"m","data":null,"url":"http://127.0.0.1:1/"}]',
    ),
    "an empty compaction": (
        '{"role":"user","content":[{"type":"compaction","more":1}]}',
        CONTENT % '[{"type":"compaction","content":null,"encrypted_content":null}]',
    ),
    "a compaction": (
        '{"role":"user","content":[{"encrypted_content":"e","content":"","type":"compaction"}]}',
        CONTENT % '[{"type":"compaction","content":"","encrypted_content":"e"}]',
    ),
    "empty reasoning is kept": (
        '{"role":"user","reasoning":""}',
        (CONTENT % "null").replace('"reasoning":null', '"reasoning":""'),
    ),
    "a tool's answer": (
        '{"role":"tool","content":"ok","tool_call_id":"c1"}',
        '{"role":"tool","content":"ok","reasoning":null,"tool_calls":[],"tool_call_id":"c1"}',
    ),
    "null calls are none": ('{"role":"assistant","tool_calls":null}', CALLS % ""),
    "absent arguments are none": (
        '{"role":"assistant","tool_calls":[{"name":"n","id":"i"}]}',
        CALLS % '{"id":"i","name":"n","arguments":{}}',
    ),
    "null arguments are none": (
        '{"role":"assistant","tool_calls":[{"id":"","name":"","arguments":null,"type":"function"}]}',
        CALLS % '{"id":"","name":"","arguments":{}}',
    ),
    "calls of one id are not merged": (
        '{"role":"assistant","tool_calls":[{"id":"i","name":"a"},{"id":"i","name":"b"}]}',
        CALLS % '{"id":"i","name":"a","arguments":{}},{"id":"i","name":"b","arguments":{}}',
    ),
    "arguments keep their order and their numbers": (
        '{"role":"user","tool_calls":[{"id":"i","name":"n","arguments":%s}]}' % ORDERED,  # noqa: UP031 - braces
        (CALLS % f'{{"id":"i","name":"n","arguments":{ORDERED}}}').replace("assistant", "user"),
    ),
    "a call's extra follows its arguments": (
        '{"role":"assistant","tool_calls":[{"extra":{"b":1,"a":0},"id":"i","name":"n"}]}',
        CALLS % '{"id":"i","name":"n","arguments":{},"extra":{"b":1,"a":0}}',
    ),
    "a call's empty extra is left out": (
        '{"role":"assistant","tool_calls":[{"extra":{},"id":"i","name":"n"}]}',
        CALLS % '{"id":"i","name":"n","arguments":{}}',
    ),
    "empty extra is left out": ('{"role":"user","extra":{}}', CONTENT % "null"),
    "null extra is left out": ('{"role":"user","extra":null}', CONTENT % "null"),
    "extra keeps its order": (
        '{"extra":{"b":{"d":1,"c":2},"a":[]},"role":"user"}',
        EXTRA % '{"b":{"d":1,"c":2},"a":[]}',
    ),
    "extra keeps big integers": (
        '{"role":"user","extra":{"n":-340282366920938463463374607431768211456}}',
        EXTRA % '{"n":-340282366920938463463374607431768211456}',
    ),
    "fractions are doubles": (
        '{"role":"user","extra":{"n":[2.50,1e22,-0.0,1E2]}}',
        EXTRA % '{"n":[2.5,1e+22,-0.0,100.0]}',
    ),
    "a repeated key keeps its last value": ('{"role":"user","extra":{"a":1,"b":2,"a":3}}', EXTRA % '{"a":3,"b":2}'),
    "falsy values in extra are values": (
        '{"role":"user","extra":{"a":null,"b":false,"c":0,"d":"","e":[],"f":{}}}',
        EXTRA % '{"a":null,"b":false,"c":0,"d":"","e":[],"f":{}}',
    ),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_message_is_stored_and_answered_in_its_canonical_spelling(wire, name):
    sent, expected = ACCEPTED[name]
    answer = post_raw(wire, sent)
    assert answer.status == 200, answer.body
    assert messages_of(answer.body) == expected
    read = wire.post("conversation/read_turns", conversation_id="c")
    assert messages_of(read.body) == expected


NAMED = "message parameter '%s' must be a string or null"
REFUSED = {
    "no role": ('{"content":"x"}', "malformed request: 'role'"),
    "an empty message": ("{}", "malformed request: 'role'"),
    "an unknown role": ('{"role":"robot"}', "'robot' is not a valid Role"),
    "a role in other case": ('{"role":"User"}', "'User' is not a valid Role"),
    "an empty role": ('{"role":""}', "'' is not a valid Role"),
    "a null role": ('{"role":null}', "None is not a valid Role"),
    "a number for a role": ('{"role":1}', "1 is not a valid Role"),
    "a list for a role": ('{"role":["user"]}', "['user'] is not a valid Role"),
    "an object for a role": ('{"role":{}}', "{} is not a valid Role"),
    **{
        f"content {value}": (f'{{"role":"user","content":{value}}}', "'content'")
        for value in ("1", "0", "1.5", "true", "false", "{}", '{"type":"text","text":"x"}')
    },
    **{
        f"a block {value}": (f'{{"role":"user","content":[{value}]}}', "'content'")
        for value in ("1", "null", '"x"', "true", "[]")
    },
    "an unknown block": (
        '{"role":"user","content":[{"type":"audio"}]}',
        "Unknown content block type: 'audio'",
    ),
    "a block without type": ('{"role":"user","content":[{"text":"x"}]}', "Unknown content block type: None"),
    "a block of null type": ('{"role":"user","content":[{"type":null}]}', "Unknown content block type: None"),
    "a block's type in other case": (
        '{"role":"user","content":[{"type":"Text","text":"x"}]}',
        "Unknown content block type: 'Text'",
    ),
    "a list for a block's type": ('{"role":"user","content":[{"type":[]}]}', "Unknown content block type: []"),
    "a text block without text": ('{"role":"user","content":[{"type":"text"}]}', "malformed request: 'text'"),
    **{
        f"a text block of {value}": (f'{{"role":"user","content":[{{"type":"text","text":{value}}}]}}', "'text'")
        for value in ("null", "1", "[]", "{}", "true")
    },
    "an image of nothing": (
        '{"role":"user","content":[{"type":"image","media_type":"m"}]}',
        "ImageBlock requires exactly one of 'data' or 'url'",
    ),
    "an image of both": (
        '{"role":"user","content":[{"type":"image","media_type":"m","data":"","url":""}]}',
        "ImageBlock requires exactly one of 'data' or 'url'",
    ),
    "a document of nothing": (
        '{"role":"user","content":[{"type":"document","data":null,"url":null}]}',
        "DocumentBlock requires exactly one of 'data' or 'url'",
    ),
    "an image's data without its type": (
        '{"role":"user","content":[{"type":"image","data":"x"}]}',
        "ImageBlock requires media_type with base64 data",
    ),
    "a document's data without its type": (
        '{"role":"user","content":[{"type":"document","data":"x","media_type":null}]}',
        "DocumentBlock requires media_type with base64 data",
    ),
    **{
        f"a {kind} with {key} {value}": (
            f'{{"role":"user","content":[{{"type":"{kind}","{key}":{value}}}]}}',
            NAMED % key,
        )
        for kind, keys in {
            "image": ("url", "data", "media_type"),
            "document": ("url", "data", "media_type"),
            "compaction": ("content", "encrypted_content"),
        }.items()
        for key in keys
        for value in ("1", "false", "[]", "{}")
    },
    **{
        f"{key} {value}": (f'{{"role":"user","{key}":{value}}}', NAMED % key)
        for key in ("reasoning", "tool_call_id")
        for value in ("0", "1", "true", "false", "[]", "{}", '["x"]')
    },
    **{
        f"calls {value}": (f'{{"role":"assistant","tool_calls":{value}}}', "'tool_calls'")
        for value in ("0", "1", "true", "false", '""', '"x"', "{}", '{"id":"a","name":"b"}', "[1]", "[null]", '["x"]')
    },
    "a call without id": ('{"role":"user","tool_calls":[{"name":"n"}]}', "malformed request: 'id'"),
    "a call without name": ('{"role":"user","tool_calls":[{"id":"i"}]}', "malformed request: 'name'"),
    "a call without either": ('{"role":"user","tool_calls":[{}]}', "malformed request: 'id'"),
    "a missing name before mistyped arguments": (
        '{"role":"user","tool_calls":[{"id":"a","arguments":"x"}]}',
        "malformed request: 'name'",
    ),
    "a missing name before a mistyped id": ('{"role":"user","tool_calls":[{"id":1}]}', "malformed request: 'name'"),
    **{
        f"a call's {key} {value}": (
            '{"role":"user","tool_calls":[%s]}' % json.dumps({"id": "i", "name": "n", key: json.loads(value)}),  # noqa: UP031
            f"tool call parameter '{key}' must be a string",
        )
        for key in ("id", "name")
        for value in ("null", "1", "true", "[]", "{}")
    },
    **{
        f"arguments {value}": (
            f'{{"role":"user","tool_calls":[{{"id":"i","name":"n","arguments":{value}}}]}}',
            "tool call parameter 'arguments' must be an object",
        )
        for value in ('"{}"', '""', "[]", "[1]", "0", "1", "true", "false")
    },
    **{
        f"extra {value}": (f'{{"role":"user","extra":{value}}}', "'extra' must be an object")
        for value in ("0", "1", '""', '"x"', "[]", "[1]", "true", "false")
    },
    **{
        f"a call's extra {value}": (
            f'{{"role":"user","tool_calls":[{{"id":"i","name":"n","extra":{value}}}]}}',
            "'extra' must be an object",
        )
        for value in ("0", '"x"', "[]", "false")
    },
}

UNSTORABLE = {
    "content": '{"role":"user","content":"a%sb"}',
    "reasoning": '{"role":"user","reasoning":"%s"}',
    "tool_call_id": '{"role":"tool","tool_call_id":"%s"}',
    "a text block": '{"role":"user","content":[{"type":"text","text":"%s"}]}',
    "a url": '{"role":"user","content":[{"type":"image","url":"x%s"}]}',
    "a call's id": '{"role":"user","tool_calls":[{"id":"%s","name":"n"}]}',
    "a call's name": '{"role":"user","tool_calls":[{"id":"i","name":"%s"}]}',
    "an argument": '{"role":"user","tool_calls":[{"id":"i","name":"n","arguments":{"a":[{"b":"%s"}]}}]}',
    "an argument's key": '{"role":"user","tool_calls":[{"id":"i","name":"n","arguments":{"%s":1}}]}',
    "extra": '{"role":"user","extra":{"a":["%s"]}}',
    "a key of extra": '{"role":"user","extra":{"a":{"%s":null}}}',
}
HALVES = {"a NUL": "\\u0000", "half a pair": "\\ud83d", "a pair reversed": "\\ude00\\ud83d"}


@pytest.mark.parametrize("name", REFUSED)
def test_a_malformed_message_is_refused_by_name_and_nothing_is_stored(wire, name):
    sent, reason = REFUSED[name]
    answer = post_raw(wire, sent)
    assert (answer.status, answer.code, answer.details) == (400, "value_error", {})
    assert reason in answer.message
    assert_nothing_stored(wire)


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("place", UNSTORABLE)
def test_text_that_cannot_come_back_is_refused_wherever_it_stands(wire, place, half):
    answer = post_raw(wire, UNSTORABLE[place] % HALVES[half])
    assert (answer.status, answer.code) == (400, "value_error")
    assert_nothing_stored(wire)


@pytest.mark.parametrize("key", ["arguments", "extra"])
@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity"])
def test_a_number_no_json_can_spell_is_refused(wire, key, number):
    answer = post_raw(wire, f'{{"role":"user","tool_calls":[{{"id":"i","name":"n","{key}":{{"a":[{number}]}}}}]}}')
    assert (answer.status, answer.code) == (400, "value_error")
    assert_nothing_stored(wire)


def test_a_number_no_json_can_spell_is_ignored_with_the_key_it_stands_under(wire):
    assert messages_of(post_raw(wire, '{"role":"user","unknown":1e999}').body) == CONTENT % "null"


def test_deep_extra_comes_back_and_deeper_is_refused(wire):
    deep = "[" * 880 + "]" * 880
    answer = post_raw(wire, f'{{"role":"user","extra":{{"a":{deep}}}}}')
    assert messages_of(answer.body) == EXTRA % f'{{"a":{deep}}}'
    too_deep = "[" * 100_000 + "]" * 100_000
    answer = post_raw(wire, f'{{"role":"user","extra":{{"a":{too_deep}}}}}')
    assert (answer.status, answer.message) == (400, "request body must be JSON")
    assert wire.ok("conversation/last_turn_number", conversation_id="c") == {"turn": 1}


def test_the_answer_is_the_whole_turn_in_the_contracts_order(wire):
    with time_machine.travel("2026-03-29T01:30:00.000007+02:00", tick=False):
        answer = wire.post(ROUTE, conversation_id="c", messages=[message("a"), message("b", role="assistant")])
    turn = answer.json["turn"]
    assert list(answer.json) == ["turn"]
    assert list(turn) == ["conversation_id", "turn", "messages", "created_at", "actor", "redacted"]
    assert turn == {
        "conversation_id": "c",
        "turn": 1,
        "messages": [canonical("a"), canonical("b", "assistant")],
        "created_at": "2026-03-28T23:30:00.000007Z",
        "actor": "client:default",
        "redacted": False,
    }
    assert wire.ok("conversation/read_turns", conversation_id="c")["turns"] == [turn]


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.100000Z"),
        ("2026-10-25T02:59:59.999999+02:00", "2026-10-25T00:59:59.999999Z"),
    ],
)
def test_the_time_is_the_process_clock_in_utc(wire, moment, shown):
    with time_machine.travel(moment, tick=False):
        turn = wire.ok(ROUTE, conversation_id="c", messages=[message()])["turn"]
    assert turn["created_at"] == shown


def test_numbers_run_from_one_in_each_conversation_and_a_refusal_takes_none(wire):
    numbers = []
    for conversation_id in ("c", "d", "c", "C", "c", "d"):
        numbers.append(wire.ok(ROUTE, conversation_id=conversation_id, messages=[message()])["turn"]["turn"])
        assert wire.post(ROUTE, conversation_id=conversation_id, messages=[message(), {}]).status == 400
    assert numbers == [1, 1, 2, 1, 3, 2]


def test_the_store_assigns_what_the_body_may_not(wire):
    turn = wire.ok(
        ROUTE,
        conversation_id="c",
        messages=[message()],
        turn=9,
        created_at="2020-01-01T00:00:00Z",
        redacted=True,
        client="client:ops",
        search_text="needle",
    )["turn"]
    assert (turn["turn"], turn["redacted"], turn["actor"]) == (1, False, "client:default")
    assert turn["created_at"] > "2020-01-02"
    assert wire.ok("conversation/search_turns", query="needle") == {"turns": []}


@pytest.mark.parametrize(
    "actor",
    ["me", "", "a/b", " a b ", "client:ops", "x#3", "zeile\n2", "ünï", "😀", "a" * 5000, "%s", "\\u0000"],
    ids=lambda actor: ascii(actor[:12]),
)
def test_an_actor_is_kept_as_it_is_behind_the_tokens_own(wire, actor):
    stamped = wire.as_("tok-ops").ok(ROUTE, conversation_id="c", messages=[message()], actor=actor)["turn"]["actor"]
    assert stamped == f"client:ops/{actor}"
    assert wire.ok("conversation/read_turns", conversation_id="c")["turns"][0]["actor"] == stamped


def test_a_null_actor_is_no_actor(wire):
    assert wire.ok(ROUTE, conversation_id="c", messages=[message()], actor=None)["turn"]["actor"] == "client:default"


@pytest.mark.parametrize("actor", ["a\0b", "\ud800"], ids=["NUL", "half a pair"])
def test_an_actor_that_cannot_come_back_is_refused(wire, actor):
    answer = wire.post(ROUTE, conversation_id="c", messages=[message()], actor=actor)
    assert (answer.status, answer.code) == (400, "value_error")
    assert "'actor'" in answer.message
    assert_nothing_stored(wire)


def test_a_turn_carries_at_least_one_message(wire):
    answer = wire.post(ROUTE, conversation_id="c", messages=[])
    assert (answer.status, answer.code, answer.message) == (
        400,
        "value_error",
        "a turn must carry at least one message",
    )
    assert_nothing_stored(wire)


def test_roles_may_follow_each_other_in_any_order(wire):
    sent = [message(str(place), role=role) for place, role in enumerate(["tool", "assistant", "assistant", "system"])]
    turn = wire.ok(ROUTE, conversation_id="c", messages=sent)["turn"]
    assert [(item["role"], item["content"]) for item in turn["messages"]] == [
        ("tool", "0"),
        ("assistant", "1"),
        ("assistant", "2"),
        ("system", "3"),
    ]


def test_the_last_bad_message_refuses_the_whole_turn(wire):
    answer = wire.post(ROUTE, conversation_id="c", messages=[message() for _ in range(50)] + [{"role": "x"}])
    assert (answer.status, answer.message) == (400, "'x' is not a valid Role")
    assert_nothing_stored(wire)


LONGER = "longer than 128 characters"
BAD_IDS = {
    "": "must match",
    " a": "must match",
    "a ": "must match",
    "a\n": "must match",
    "a/b": "must match",
    "a:b": "must match",
    "{a}": "must match",
    "a\0": "must match",
    "ünï": "must match",
    "\uff11": "must match",
    "\ud800": "must match",
    ".": "id '.' is reserved",
    "..": "id '..' is reserved",
    "a" * 129: LONGER,
    "/" * 129: LONGER,
    "é" * 10_000: LONGER,
}


@pytest.mark.parametrize("conversation_id", BAD_IDS, ids=lambda found: ascii(found[:10]))
def test_an_id_outside_the_grammar_is_refused_with_the_first_reason(wire, conversation_id):
    answer = wire.post(ROUTE, conversation_id=conversation_id, messages=[message()])
    assert (answer.status, answer.code) == (400, "agent_conversation_id_invalid")
    assert set(answer.details) == {"conversation_id", "reason"}
    # Half a character is spelled out on the way back, so that the answer is UTF-8.
    assert answer.details["conversation_id"] == conversation_id.encode("utf-8", "backslashreplace").decode()
    assert BAD_IDS[conversation_id] in answer.details["reason"]
    assert_nothing_stored(wire)


@pytest.mark.parametrize("conversation_id", ["...", "-", "_", ".a", "a" * 128, "550E8400-e29b-41d4-a716-446655440000"])
def test_an_id_of_the_grammar_is_its_characters(wire, conversation_id):
    assert wire.ok(ROUTE, conversation_id=conversation_id, messages=[message()])["turn"]["turn"] == 1
    assert wire.ok("store/conversations") == {"conversations": [conversation_id]}


def test_messages_are_judged_before_the_id_and_the_id_before_emptiness(wire):
    assert wire.post(ROUTE, conversation_id="..", messages=[{"role": "x"}]).code == "value_error"
    assert wire.post(ROUTE, conversation_id="..", messages=[]).code == "agent_conversation_id_invalid"


def test_other_conversations_stay_as_they_were(wire):
    wire.ok(ROUTE, conversation_id="other", messages=[message("mine")])
    before = wire.ok("conversation/read_turns", conversation_id="other")
    wire.ok(ROUTE, conversation_id="c", messages=[message()])
    assert wire.ok("conversation/read_turns", conversation_id="other") == before


def test_a_turn_costs_one_statement_however_many_messages_it_has(wire):
    wire.ok(ROUTE, conversation_id="c", messages=[message()])
    counts = []
    for messages in ([message()], [message(str(place)) for place in range(500)]):
        with CaptureQueriesContext(connection) as queries:
            wire.ok(ROUTE, conversation_id="c", messages=messages)
        counts.append(len(queries))
    assert counts == [1, 1]
