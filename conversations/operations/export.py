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
    SELECT turn, span, position, octet_length(text) FROM conversations_projection
    WHERE project_id = %(project)s AND conversation = %(conversation)s
      AND (turn, span, position) > (%(turn)s, %(span)s, %(position)s)
    ORDER BY turn, span, position LIMIT %(keys)s
"""
_PROJECTIONS = """
    SELECT turn, span, kind, text, format FROM conversations_projection
    WHERE project_id = %(project)s AND conversation = %(conversation)s
      AND (turn, span, position) >= (%(first_turn)s, %(first_span)s, %(first_position)s)
      AND (turn, span, position) <= (%(last_turn)s, %(last_span)s, %(last_position)s)
    ORDER BY turn, span, position
"""
_ACTS = """
    SELECT position, created_at, actor, turns FROM conversations_turnredaction
    WHERE project_id = %(project)s AND conversation = %(conversation)s
      AND (created_at, position) > (%(at)s, %(position)s)
    ORDER BY created_at, position LIMIT %(keys)s
"""


def turns(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every turn, ascending; blanked ones with no message and marked."""
    params = _params(caller, conversation_id)
    while keys := sql.rows(_TURN_KEYS, params):
        for batch in sql.batches(keys, BATCH_BYTES):
            bounds = {"first": batch[0][0], "last": batch[-1][0]}
            for turn, created_at, messages, actor, redacted, row_format in sql.rows(_TURNS, {**params, **bounds}):
                check_format(row_format, conversation_id)
                row = {
                    "turn": turn,
                    "created_at": clock.render(created_at),
                    "messages": json.loads(messages),
                    "actor": actor,
                }
                yield {**row, "redacted": True} if redacted else row
        params["after"] = keys[-1][0]


def projections(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every projection, in the order in which they are read: by turn, span and arrival."""
    params = {**_params(caller, conversation_id), "turn": 0, "span": 0, "position": 0}
    while keys := sql.rows(_PROJECTION_KEYS, params):
        for batch in sql.batches(keys, BATCH_BYTES):
            bounds = {
                f"{end}_{name}": value
                for end, key in (("first", batch[0]), ("last", batch[-1]))
                for name, value in zip(("turn", "span", "position"), key[:3], strict=True)
            }
            for turn, span, kind, text, row_format in sql.rows(_PROJECTIONS, {**params, **bounds}):
                check_format(row_format, conversation_id)
                yield {"turn": turn, "span": span, "kind": kind, "text": text}
        params |= dict(zip(("turn", "span", "position"), keys[-1][:3], strict=True))


def redactions(caller: Caller, *, conversation_id: str) -> Iterator[dict[str, Any]]:
    """Every act of blanking, oldest first."""
    params = {**_params(caller, conversation_id), "at": "-infinity", "position": 0}
    while rows := sql.rows(_ACTS, params):
        for _, created_at, actor, numbers in rows:
            yield {"created_at": clock.render(created_at), "actor": actor, "turns": numbers}
        params["position"], params["at"] = rows[-1][:2]


def _params(caller: Caller, conversation_id: str) -> dict[str, Any]:
    access.read_conversation(caller, conversation_id)
    check_id(conversation_id)
    return {"project": caller.project_id, "conversation": conversation_id, "after": 0, "keys": KEYS}
