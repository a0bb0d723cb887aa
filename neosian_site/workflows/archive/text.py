"""The two spellings of an archive: JSON lines, and documents behind a YAML head."""

from __future__ import annotations

import json
from typing import Any

import yaml

FORMAT = 1
FORMAT_KEY = "neosian_format"
_FENCE = "---"
# In this order, before whatever else the head holds.
_HEAD = (FORMAT_KEY, "version", "created_at", "updated_at", "actor", "redacted")

# A long text stays on its line, as the published tool writes it.
_ONE_LINE = 2**31

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False).encode


class Unreadable(ValueError):
    """A file of another format, or damaged; the message says how."""


def line(row: dict[str, Any]) -> bytes:
    """One row as compact ASCII JSON with its line feed."""
    return _encode(row).encode() + b"\n"


def row(text: bytes) -> dict[str, Any]:
    """The row of one line.

    :raises Unreadable: not a JSON object
    """
    try:
        value = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Unreadable("not a line of JSON") from error
    if not isinstance(value, dict):
        raise Unreadable("not a JSON object")
    return value


def checked_row(text: bytes) -> dict[str, Any]:
    """The row of one line without its format key.

    :raises Unreadable: not a JSON object, or of another format
    """
    value = row(text)
    _check_format(value.pop(FORMAT_KEY, None))
    return value


def _check_format(found: Any) -> None:
    if type(found) is not int or found != FORMAT:
        raise Unreadable(f"format {found!r}, this version reads {FORMAT}")


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


class _Loader(yaml.SafeLoader):
    """What :class:`_Dumper` writes, and nothing that stands for something else: no aliases, no dates."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def document(head: dict[str, Any], extra: dict[str, Any], content: str) -> bytes:
    """A document's file.

    :param head: version, times, actor and redacted
    :raises Unreadable: ``extra`` has a key of the head's own, which the format cannot tell apart
    """
    taken = sorted(key for key in extra if key in _HEAD)
    if taken:
        raise Unreadable(f"its extra holds the key {taken[0]!r}, which the archive's own head needs")
    mapping: dict[str, Any] = {FORMAT_KEY: FORMAT, **head, **extra}
    spelled = yaml.dump(mapping, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_ONE_LINE)
    return f"{_FENCE}\n{spelled}{_FENCE}\n{content}".encode()


def read_document(data: bytes) -> dict[str, Any]:
    """A document's file as the row a restore takes, without scope and path.

    :raises Unreadable: no head, one that is no mapping, or of another format
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Unreadable("not UTF-8") from error
    opening, end = f"{_FENCE}\n", f"\n{_FENCE}\n"
    close = text.find(end, len(_FENCE))
    if not text.startswith(opening) or close < 0:
        raise Unreadable("no head between two lines of ---")
    try:
        mapping = yaml.load(text[len(opening) : close + 1], Loader=_Loader)  # noqa: S506 - a safe loader, narrowed
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Unreadable("a head that is no YAML") from error
    if not isinstance(mapping, dict) or not all(isinstance(key, str) for key in mapping):
        raise Unreadable("a head that is no mapping")
    _check_format(mapping.get(FORMAT_KEY))
    return {
        "content": text[close + len(end) :],
        "version": mapping.get("version"),
        "created_at": mapping.get("created_at"),
        "updated_at": mapping.get("updated_at"),
        "actor": mapping.get("actor"),
        "redacted": mapping.get("redacted", False),
        "extra": {key: value for key, value in mapping.items() if key not in _HEAD},
    }
