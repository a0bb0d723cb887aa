"""The JSON shapes of seeds/wire: rows, the answer of every route, the envelope of refusals."""

from __future__ import annotations

from typing import Any

from neosian_site.conformance.checks import Failed, literal
from neosian_site.conformance.shapes import (
    Shape,
    at_least,
    boolean,
    exactly,
    many,
    mapping,
    one_of,
    or_null,
    record,
    text,
    time,
)

_NAME = or_null(text)
_COUNT = at_least(0)
_NUMBER = at_least(1)


def erased(row: Shape, key: str, empty: Any) -> Shape:
    """A row that holds nothing under ``key`` once it is redacted."""

    def whole(value: Any, at: str) -> None:
        row(value, at)
        if value["redacted"] and value[key] != empty:
            raise Failed(f"{at}: redacted, and its {key} is {literal(value[key])}")

    return whole


def _turn(value: Any, at: str) -> None:
    _TURN(value, at)
    if not value["redacted"] and not value["messages"]:
        raise Failed(f"{at}: no messages, and it is not redacted")


def _ascending(value: Any, at: str) -> None:
    many(_NUMBER)(value, at)
    if not value or value != sorted(set(value)):
        raise Failed(f"{at}: expected ascending turn numbers, got {literal(value)}")


_DOCUMENT = record(
    {
        "scope": text,
        "path": text,
        "content": text,
        "version": _NUMBER,
        "created_at": time,
        "updated_at": time,
        "actor": _NAME,
        "redacted": boolean,
        "extra": mapping,
    }
)
DOCUMENT = erased(_DOCUMENT, "content", "")
ENTRY = record({"path": text, "version": _NUMBER, "created_at": time, "updated_at": time, "redacted": boolean})
VERSION = erased(
    record(
        {
            "path": text,
            "version": _NUMBER,
            "action": one_of("created", "modified", "deleted"),
            "content": text,
            "actor": _NAME,
            "created_at": time,
            "redacted": boolean,
        }
    ),
    "content",
    "",
)
REDACTION = record({"path": _NAME, "actor": _NAME, "created_at": time, "count": _COUNT})


def _block(value: Any, at: str) -> None:
    mapping(value, at)
    one_of("text", "image", "document", "compaction")(value.get("type"), f"{at}.type")


def _content(value: Any, at: str) -> None:
    if value is not None and not isinstance(value, str):
        many(_block)(value, at)


MESSAGE = record(
    {
        "role": one_of("system", "user", "assistant", "tool"),
        "content": _content,
        "reasoning": _NAME,
        "tool_calls": many(record({"id": text, "name": text, "arguments": mapping}, {"extra": mapping})),
        "tool_call_id": _NAME,
    },
    {"extra": mapping},
)
_TURN = erased(
    record(
        {
            "conversation_id": text,
            "turn": _NUMBER,
            "messages": many(MESSAGE),
            "created_at": time,
            "actor": _NAME,
            "redacted": boolean,
        }
    ),
    "messages",
    [],
)
TURN: Shape = _turn
TURN_REDACTION = record({"conversation_id": text, "turns": _ascending, "actor": _NAME, "created_at": time})
PROJECTION = record({"turn": _NUMBER, "kind": one_of("log", "digest", "epoch"), "text": text, "span": _NUMBER})

HIT = record(
    {
        "scope": text,
        "path": text,
        "version": _NUMBER,
        "created_at": time,
        "updated_at": time,
        "actor": _NAME,
        "matched_fields": many(one_of("path", "content", "metadata")),
        "excerpt": record(
            {
                "field": one_of("path", "content", "metadata"),
                "metadata_key": _NAME,
                "offset": _COUNT,
                "text": text,
            }
        ),
    }
)
EVENT = record(
    {
        "sequence": _NUMBER,
        "kind": one_of("created", "modified", "renamed", "deleted", "erased"),
        "path": _NAME,
        "version": or_null(_NUMBER),
        "previous_path": _NAME,
        "previous_version": or_null(_NUMBER),
        "actor": _NAME,
        "count": or_null(_NUMBER),
        "recorded_at": time,
    }
)
GAP = record(
    {
        "kind": one_of("untracked", "retention", "stream_reset"),
        "lost_from": or_null(_NUMBER),
        "lost_through": or_null(_NUMBER),
    }
)


def _page(key: str, shape: Shape, continuation: str, place: Shape) -> Shape:
    return record({key: many(shape), continuation: or_null(place)})


# What a 200 of each route holds.
ANSWERS: dict[str, Shape] = {
    "memory/read": record({"document": or_null(DOCUMENT)}),
    "memory/write": record({"document": DOCUMENT}),
    "memory/delete": record({"deleted": boolean}),
    "memory/rename": record({"document": DOCUMENT}),
    "memory/list_documents": _page("entries", ENTRY, "next_cursor", text),
    "memory/versions": _page("versions", VERSION, "next_cursor", text),
    "memory/redact": record({"count": _COUNT}),
    "memory/history": _page("versions", VERSION, "next_cursor", text),
    "memory/redactions": _page("redactions", REDACTION, "next_cursor", text),
    "memory/search": _page("hits", HIT, "next_cursor", text),
    "memory/changes": record(
        {
            "format": exactly(1),
            "scope": text,
            "stream": _NAME,
            "events": many(EVENT),
            "checkpoint_cursor": text,
            "head_cursor": text,
            "floor_cursor": text,
            "gap": or_null(GAP),
        }
    ),
    "memory/prune_changes": record(
        {"format": exactly(1), "scope": text, "removed": _COUNT, "write": boolean, "earliest_cursor": text}
    ),
    "conversation/append_turn": record({"turn": TURN}),
    "conversation/read_turns": _page("turns", TURN, "next_after", _NUMBER),
    "conversation/last_turn_number": record({"turn": _COUNT}),
    "conversation/search_turns": record({"turns": many(TURN)}),
    "conversation/append_projections": record({}),
    "conversation/read_projections": _page("entries", PROJECTION, "next_after", _NUMBER),
    "conversation/redact_turns": record({"count": _COUNT}),
    "conversation/turn_redactions": record({"redactions": many(TURN_REDACTION)}),
    "store/scopes": record({"scopes": many(text)}),
    "store/conversations": record({"conversations": many(text)}),
    "store/restore_scope": record({}),
    "store/restore_conversation": record({}),
}

# The typed fields of each refusal's details; a code that is not here may hold any object.
_FIELDS: dict[str, dict[str, Shape]] = {
    "memory_scope_invalid": {"scope": text, "reason": text},
    "memory_path_invalid": {"path": text, "reason": text},
    "memory_document_not_found": {"scope": text, "path": text},
    "memory_conflict": {
        "scope": text,
        "path": _NAME,
        "reason": text,
        "expected_version": or_null(at_least(-(2**63))),
        "actual_version": or_null(_NUMBER),
    },
    "memory_format_unsupported": {"scope": text, "path": text, "reason": text},
    "agent_conversation_id_invalid": {"conversation_id": text, "reason": text},
    "agent_conversation_conflict": {"conversation_id": text, "reason": text},
    "agent_conversation_format_unsupported": {"conversation_id": text, "reason": text},
}


def envelope(value: Any, at: str) -> None:
    record({"error": record({"code": text, "message": text, "details": mapping})})(value, at)
    error = value["error"]
    if error["code"] in _FIELDS:
        record(_FIELDS[error["code"]])(error["details"], f"{at}.error.details")
