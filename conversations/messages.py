"""The message codec: what a turn's messages may be, and the text a search reads in them.

Sources: seeds/wire "The JSON shapes". Keys the codec does not know are dropped; ``extra`` is carried verbatim and
left out when empty. Every refusal names the key or parameter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from neosian_site.core import jsonio
from neosian_site.core.errors import InvalidValue, quoted
from neosian_site.core.jsonio import JsonText
from neosian_site.core.text import fold

ROLES = ("system", "user", "assistant", "tool")

# White space of any kind is no part of base64 and is removed from it.
_WHITE_SPACE = re.compile(r"\s+")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Messages:
    """A turn's messages in their one canonical spelling, ready to be stored."""

    json: JsonText
    search_text: str

    @property
    def empty(self) -> bool:
        return self.json == "[]"


def decode(messages: list[Any]) -> Messages:
    """The canonical form of a turn's messages.

    :raises InvalidValue: the first message that cannot be stored, and why
    """
    decoded = [_message(item) for item in messages]
    return Messages(
        json=jsonio.storable(decoded),
        search_text=fold("\n".join(piece for message in decoded for piece in _searched(message))),
    )


def _message(value: Any) -> Json:
    source = _object(value, "messages")
    role = _required(source, "role")
    if not isinstance(role, str) or role not in ROLES:
        raise InvalidValue(f"{role!r} is not a valid Role")
    message: Json = {
        "role": role,
        "content": _content(source.get("content")),
        "reasoning": _text(source, "reasoning"),
        "tool_calls": [_tool_call(call) for call in _list(source, "tool_calls")],
        "tool_call_id": _text(source, "tool_call_id"),
    }
    return _with_extra(message, source)


def _content(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list):
        return [_block(block) for block in value]
    raise InvalidValue("message parameter 'content' must be a string, null or a list of blocks")


def _block(value: Any) -> Json:
    source = _object(value, "content")
    kind = source.get("type")
    if kind == "text":
        text = _required(source, "text")
        if not isinstance(text, str):
            raise InvalidValue("content block parameter 'text' must be a string")
        return {"type": "text", "text": text}
    if kind == "image" or kind == "document":
        return _media(kind, source)
    if kind == "compaction":
        return {
            "type": "compaction",
            "content": _text(source, "content"),
            "encrypted_content": _text(source, "encrypted_content"),
        }
    raise InvalidValue(f"Unknown content block type: {kind!r}")


def _media(kind: str, source: Json) -> Json:
    name = f"{kind.capitalize()}Block"
    media_type, data, url = (_text(source, key) for key in ("media_type", "data", "url"))
    if (data is None) == (url is None):
        raise InvalidValue(f"{name} requires exactly one of 'data' or 'url'")
    if data is not None:
        if media_type is None:
            raise InvalidValue(f"{name} requires media_type with base64 data")
        data = _WHITE_SPACE.sub("", data)
    return {"type": kind, "media_type": media_type, "data": data, "url": url}


def _tool_call(value: Any) -> Json:
    source = _object(value, "tool_calls")
    call: Json = {"id": _required(source, "id"), "name": _required(source, "name")}
    for key in call:
        if not isinstance(call[key], str):
            raise InvalidValue(f"tool call parameter '{key}' must be a string")
    arguments = source.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise InvalidValue("tool call parameter 'arguments' must be an object")
    call["arguments"] = arguments or {}
    return _with_extra(call, source)


def _with_extra(target: Json, source: Json) -> Json:
    extra = source.get("extra")
    if extra is not None and not isinstance(extra, dict):
        raise InvalidValue("parameter 'extra' must be an object")
    if extra:
        target["extra"] = extra
    return target


def _object(value: Any, place: str) -> Json:
    if not isinstance(value, dict):
        raise InvalidValue(f"parameter '{place}' must be a list of objects")
    return value


def _required(source: Json, key: str) -> Any:
    if key not in source:
        raise InvalidValue(f"malformed request: {quoted(key)}")
    return source[key]


def _text(source: Json, key: str) -> str | None:
    value = source.get(key)
    if value is not None and not isinstance(value, str):
        raise InvalidValue(f"message parameter '{key}' must be a string or null")
    return value


def _list(source: Json, key: str) -> list[Any]:
    value = source.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidValue(f"message parameter '{key}' must be a list of objects")
    return value


def _searched(message: Json) -> Iterator[str]:
    """Message text, then each tool call as its name and compact arguments; no role labels, ids or media."""
    content = message["content"]
    if isinstance(content, str):
        yield content
    elif content is not None:
        texts = [block["text"] for block in content if block["type"] == "text"]
        if texts:
            yield "\n".join(texts)
    for call in message["tool_calls"]:
        yield f"{call['name']} {jsonio.text(call['arguments'])}"
