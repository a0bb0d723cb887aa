"""A conversation's rows as they leave the store (seeds/wire "Store"): everything, in order, little at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from authz import access
from authz.caller import Caller
from conversations.names import check_id
from conversations.operations.reading import check_format
from neosian_site.core import clock, sql

KEYS = 1000
BATCH_BYTES = 4 * 1024 * 1024

_TURN_KEYS = """
    SELECT turn, octet_length(messages::text) FROM conversations_turn
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND turn > %(after)s
    ORDER BY turn LIMIT %(keys)s
"""
_TURNS = """
    SELECT turn, created_at, messages::text, actor, redacted, format FROM conversations_turn
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND turn BETWEEN %(first)s AND %(last)s
    ORDER BY turn
"""
_PROJECTION_KEYS = """
    SELECT position, octet_length(text) FROM conversations_projection
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND position > %(after)s
    ORDER BY position LIMIT %(keys)s
"""
_PROJECTIONS = """
    SELECT turn, span, kind, text, format FROM conversations_projection
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND position BETWEEN %(first)s AND %(last)s
    ORDER BY position
"""
_ACTS = """
    SELECT position, created_at, actor, turns FROM conversations_turnredaction
    WHERE project_id = %(project)s AND conversation = %(conversation)s AND position > %(after)s
    ORDER BY position LIMIT %(keys)s
"""


def turns(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every turn, ascending; blanked ones with no message and marked."""
    for turn, created_at, messages, actor, redacted, row_format in _rows(caller, conversation_id, _TURN_KEYS, _TURNS):
        check_format(row_format, conversation_id)
        row = {
            "turn": turn,
            "created_at": clock.render(created_at),
            "messages": json.loads(messages),
            "actor": actor,
        }
        yield {**row, "redacted": True} if redacted else row


def projections(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every projection, in the order of arrival."""
    for turn, span, kind, text, row_format in _rows(caller, conversation_id, _PROJECTION_KEYS, _PROJECTIONS):
        check_format(row_format, conversation_id)
        yield {"turn": turn, "span": span, "kind": kind, "text": text}


def redactions(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every act of blanking, in the order in which they were recorded."""
    params = _params(caller, conversation_id)
    while rows := sql.rows(_ACTS, params):
        for _, created_at, actor, numbers in rows:
            yield {"created_at": clock.render(created_at), "actor": actor, "turns": numbers}
        params["after"] = rows[-1][0]


def _rows(caller: Caller, conversation_id: str, keys_of: str, rows_of: str) -> Iterator[sql.Row]:
    params = _params(caller, conversation_id)
    while keys := sql.rows(keys_of, params):
        for batch in sql.batches(keys, BATCH_BYTES):
            yield from sql.rows(rows_of, {**params, "first": batch[0][0], "last": batch[-1][0]})
        params["after"] = keys[-1][0]


def _params(caller: Caller, conversation_id: str) -> dict[str, Any]:
    access.read_conversation(caller, conversation_id)
    check_id(conversation_id)
    return {"project": caller.project_id, "conversation": conversation_id, "after": 0, "keys": KEYS}
