"""The two spellings of an archive: JSON lines, and documents behind a YAML head."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import yaml

from neosian_site.core import jsonio
from neosian_site.core.errors import InvalidValue

FORMAT = 1
FORMAT_KEY = "neosian_format"
_FENCE = "---"
# In this order, before whatever else the head holds.
_HEAD = (FORMAT_KEY, "version", "created_at", "updated_at", "actor", "redacted")

# A long text stays on its line, as the published tool writes it.
_ONE_LINE = 2**31

# The head of a file that somebody opened on Windows may have its line ends.
_OPENING = re.compile(rf"{_FENCE}\r?\n")
_CLOSING = re.compile(rf"\n{_FENCE}(?:\r?\n|\Z)")

# What YAML takes for the end of a line beside the line feed.
_LINE_ENDS = re.compile("[\r\x85\u2028\u2029]")

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
        value = jsonio.read(text)
    except InvalidValue as error:
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

    def represent_str(self, data: str) -> yaml.ScalarNode:
        # Between single quotes the library writes these as they are and reads them back as other white space.
        return self.represent_scalar("tag:yaml.org,2002:str", data, style='"' if _LINE_ENDS.search(data) else None)


_Dumper.add_representer(str, _Dumper.represent_str)


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


@contextlib.contextmanager
def _deep() -> Iterator[None]:
    """Room for as many containers inside each other as a store takes: the YAML library calls itself for each."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, jsonio.MAX_DEPTH * 16))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def document(head: dict[str, Any], extra: dict[str, Any], content: str) -> bytes:
    """A document's file.

    :param head: version, times, actor and redacted
    :raises Unreadable: ``extra`` has a key of the head's own, which the format cannot tell apart
    """
    taken = sorted(key for key in extra if key in _HEAD)
    if taken:
        raise Unreadable(f"its extra holds the key {taken[0]!r}, which the archive's own head needs")
    mapping: dict[str, Any] = {FORMAT_KEY: FORMAT, **head, **extra}
    with _deep():
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
    opening = _OPENING.match(text)
    # From the opening's own line feed on, so that an empty head has its end.
    closing = _CLOSING.search(text, opening.end() - 1) if opening else None
    if opening is None or closing is None:
        raise Unreadable("no head between two lines of ---")
    mapping = _mapping(text[opening.end() : closing.start() + 1])
    _check_format(mapping.get(FORMAT_KEY))
    return {
        "content": text[closing.end() :],
        "version": mapping.get("version"),
        "created_at": mapping.get("created_at"),
        "updated_at": mapping.get("updated_at"),
        "actor": mapping.get("actor"),
        "redacted": mapping.get("redacted", False),
        "extra": {key: value for key, value in mapping.items() if key not in _HEAD},
    }


def _mapping(head: str) -> dict[str, Any]:
    try:
        with _deep():
            found = yaml.load(head, Loader=_Loader)  # noqa: S506 - a safe loader, narrowed
            # What the store takes, judged here, where it can be said which file holds it.
            if jsonio.too_deep(jsonio.storable(found).encode()):
                raise ValueError("nested too deep")
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise Unreadable("a head that cannot be read") from error
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise Unreadable("a head that is no mapping")
    return found
