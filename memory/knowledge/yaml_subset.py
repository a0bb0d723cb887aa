"""A reader of the YAML that knowledge headers may be written in.

Accepted: block mappings and sequences, flow style (JSON in full), plain and quoted scalars, comments. Refused, besides
what no YAML reader takes: anchors, aliases, tags, merge keys, directives, several documents, block scalars, ``?`` keys,
a pair in a flow sequence without its own braces, keys that are no strings, repeated keys, tabs as indentation, and
plain scalars that look like a number but are no plain integer within ±(2^53-1). Dates, ``yes`` and ``1.2.3`` are
strings.

It is a reader of its own because the common one takes all of the above, reads no surrogate pair of JSON's escapes, and
has no bound. Every step consumes text through a pattern without backtracking; recursion ends at :data:`MAX_DEPTH`.
"""

from __future__ import annotations

import re
from typing import Any

from memory.knowledge.scalars import NotAccepted, folded, resolve, unquote

# Containers inside each other, the outermost included.
MAX_DEPTH = 8

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_TAB_INDENT = re.compile(r"^ *+\t[ \t]*+[^ \t\n]", re.MULTILINE)
_DOCUMENT_MARK = re.compile(r"^(?:---|\.\.\.)(?=[ \t\n]|\Z)", re.MULTILINE)

_INDENT = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?+\n)*+( *+)(?:[ \t]*+(?:#[^\n]*+)?+\Z)?+")
_LINE_END = re.compile(r"(?:[ \t]++(?:#[^\n]*+)?+)?+(?:\n|\Z)")
_BLANK = re.compile(r"[ \t]*+")
_ENTRY = re.compile(r"-(?=[ \t\n]|\Z)")
_KEY_END = re.compile(r"[ \t]*+:(?=[ \t\n]|\Z)")
_FLOW_GAP = re.compile(r"(?:[ \t\n]++|(?<=[ \t\n])#[^\n]*+)*+")

_QUOTED = re.compile(r""" "(?:[^"\\]++|\\.)*+" | '(?:[^']++|'')*+' """, re.VERBOSE | re.DOTALL)
_FIRST = r"""(?:[^ \t\n,\[\]{}#&*!|>'"%@`?:-]|[-?:](?=[^ \t\n]))"""
_REST = r"(?:[^\n:#]|:(?![ \t\n]|\Z)|(?<=[^ \t\n])#)*+"
_PLAIN = re.compile(_FIRST + _REST)
_PLAIN_MORE = re.compile(_REST)
_FLOW_FIRST = r"""(?:[^ \t\n,\[\]{}#&*!|>'"%@`?:-]|[-?:](?=[^ \t\n,\[\]{}]))"""
_FLOW_REST = r"(?:[^\n:#,\[\]{}]|:(?![ \t\n,\[\]{}]|\Z)|(?<=[^ \t\n])#)*+"
_FLOW_PLAIN = re.compile(_FLOW_FIRST + _FLOW_REST)
_FLOW_PLAIN_MORE = re.compile(_FLOW_REST)
_FOLD = re.compile(r"\n(?:[ \t]*+\n)*+( *+)[ \t]*+")

_NO_START = {
    "&": "an anchor", "*": "an alias", "!": "a tag", "|": "a block scalar", ">": "a block scalar", "%": "a directive",
}  # fmt: skip


def read(text: str, *, first_line: int = 1) -> Any:
    """The one value ``text`` spells: dicts, lists, strings, integers, booleans, ``None`` (also for an empty text).

    :param first_line: what number the text's first line has in a refusal
    :raises NotAccepted: outside the accepted syntax, or nested deeper than :data:`MAX_DEPTH`; with the line
    """
    reader = _Reader(text)
    try:
        return reader.document()
    except NotAccepted as error:
        raise NotAccepted(f"line {reader.line() + first_line}: {error}") from error


class _Reader:
    """A position in the text. Between block nodes it stands on the first character of a line's content."""

    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.at = 0
        self.column = 0
        self.depth = 0

    def document(self) -> Any:
        for pattern, reason in (
            (_CONTROL, "a control character"),
            (_TAB_INDENT, "a tab as indentation"),
            (_DOCUMENT_MARK, "a second document"),
        ):
            if (found := pattern.search(self.text)) is not None:
                self.at = found.start()
                raise NotAccepted(reason)
        self.next_line()
        if self.at_end():
            return None
        value = self.block(self.column, parent=-1)
        if not self.at_end():
            raise NotAccepted("unexpected text or indentation")
        return value

    # Block style

    def next_line(self) -> None:
        """From the start of a line to the next content; ``column`` is where it stands in its line."""
        found = _INDENT.match(self.text, self.at)
        assert found is not None  # The pattern takes nothing, too.
        self.at = found.end()
        self.column = -1 if self.at_end() else len(found[1])

    def end_line(self) -> None:
        """Nothing but a comment may stand between a value and the end of its line."""
        found = _LINE_END.match(self.text, self.at)
        if found is None:
            raise NotAccepted("unexpected text after a value")
        self.at = found.end()
        self.next_line()

    def block(self, column: int, *, parent: int) -> Any:
        """The node that starts here, at ``column``; lines that carry on a scalar are deeper than ``parent``."""
        if _ENTRY.match(self.text, self.at):
            return self.block_sequence(column)
        if (key := self.block_key()) is not None:
            return self.block_mapping(column, *key)
        return self.inline(parent)

    def block_key(self) -> tuple[str, int] | None:
        """The key that starts here and where its value may begin, if this line is one of a mapping."""
        pattern = _QUOTED if self.text[self.at] in "\"'" else _PLAIN
        found = pattern.match(self.text, self.at)
        # A key stands in one line.
        if found is None or "\n" in found[0]:
            return None
        end = _KEY_END.match(self.text, found.end())
        if end is None:
            return None
        return (unquote(found[0]) if found[0][0] in "\"'" else self.key(found[0].rstrip(" \t"))), end.end()

    def block_mapping(self, column: int, key: str, value_at: int) -> dict[str, Any]:
        self.enter()
        mapping: dict[str, Any] = {}
        while True:
            _check_new(mapping, key)
            self.at = value_at
            mapping[key] = self.block_value(column)
            if self.column != column:
                break
            following = None if _ENTRY.match(self.text, self.at) else self.block_key()
            if following is None:
                raise NotAccepted("expected a key")
            key, value_at = following
        self.leave(column)
        return mapping

    def block_value(self, column: int) -> Any:
        """What follows the colon of a key at ``column``: in its line, or in deeper lines below."""
        end = _LINE_END.match(self.text, self.at)
        if end is None:
            self.skip(_BLANK)
            return self.inline(column)
        self.at = end.end()
        self.next_line()
        if self.column > column:
            return self.block(self.column, parent=column)
        if self.column == column and _ENTRY.match(self.text, self.at):
            return self.block_sequence(column)
        return None

    def block_sequence(self, column: int) -> list[Any]:
        self.enter()
        items: list[Any] = []
        while self.column == column and (dash := _ENTRY.match(self.text, self.at)):
            self.at = dash.end()
            end = _LINE_END.match(self.text, self.at)
            if end is not None:
                self.at = end.end()
                self.next_line()
                items.append(self.block(self.column, parent=column) if self.column > column else None)
                continue
            start = dash.start()
            self.skip(_BLANK)
            if "\t" in self.text[start : self.at]:
                raise NotAccepted("a tab as indentation")
            # A collection may start in the entry's own line.
            self.column = column + self.at - start
            items.append(self.block(self.column, parent=column))
        self.leave(column)
        return items

    def inline(self, parent: int) -> Any:
        """A flow collection or a scalar, to the end of its last line."""
        char = self.text[self.at]
        if char in "[{":
            value = self.flow()
        elif char in "\"'":
            value = self.quoted()
        else:
            value = resolve(self.plain(parent=parent))
        self.end_line()
        return value

    # Flow style

    def flow(self) -> Any:
        """A flow node; the position is left right behind it."""
        char = self.text[self.at : self.at + 1]
        if char == "[":
            return self.flow_sequence()
        if char == "{":
            return self.flow_mapping()
        if char and char in "\"'":
            return self.quoted()
        return resolve(self.flow_plain())

    def flow_sequence(self) -> list[Any]:
        self.enter()
        items: list[Any] = []
        self.step()
        while not self.sign("]"):
            items.append(self.flow())
            self.skip(_FLOW_GAP)
            if not self.sign(","):
                if self.sign("]"):
                    break
                raise NotAccepted("expected ',' or ']'")
            self.step()
        self.at += 1
        self.depth -= 1
        return items

    def flow_mapping(self) -> dict[str, Any]:
        self.enter()
        mapping: dict[str, Any] = {}
        self.step()
        while not self.sign("}"):
            key = self.flow_key()
            _check_new(mapping, key)
            self.skip(_FLOW_GAP)
            mapping[key] = None
            if self.sign(":"):
                self.step()
                if not (self.sign(",") or self.sign("}")):
                    mapping[key] = self.flow()
                    self.skip(_FLOW_GAP)
            if not self.sign(","):
                if self.sign("}"):
                    break
                raise NotAccepted("expected ',' or '}'")
            self.step()
        self.at += 1
        self.depth -= 1
        return mapping

    def flow_key(self) -> str:
        if self.sign('"') or self.sign("'"):
            return self.quoted()
        return self.key(self.flow_plain())

    def sign(self, sign: str) -> bool:
        return self.text.startswith(sign, self.at)

    def step(self) -> None:
        self.at += 1
        self.skip(_FLOW_GAP)

    # Scalars

    def key(self, plain: str) -> str:
        """A plain key, which must be text."""
        if plain == "<<":
            raise NotAccepted("a merge key")
        if not isinstance(resolve(plain), str):
            raise NotAccepted("a key must be a string, or be quoted")
        return plain

    def quoted(self) -> str:
        found = _QUOTED.match(self.text, self.at)
        if found is None:
            raise NotAccepted("a quote is not closed")
        value = unquote(found[0])
        self.at = found.end()
        return value

    def plain(self, *, parent: int) -> str:
        """A plain scalar in block style, as it is spelled; its further lines are deeper than ``parent``."""
        value = self.lines(_PLAIN, _PLAIN_MORE, deeper_than=parent)
        found = _KEY_END.match(self.text, self.at)
        if found is not None:
            raise NotAccepted("a mapping cannot start inside a value")
        return value

    def flow_plain(self) -> str:
        return self.lines(_FLOW_PLAIN, _FLOW_PLAIN_MORE, deeper_than=-1)

    def lines(self, first: re.Pattern[str], more: re.Pattern[str], *, deeper_than: int) -> str:
        """The lines of a plain scalar, folded; the position is left behind the last character that is no blank."""
        found = first.match(self.text, self.at)
        if found is None:
            raise NotAccepted(_NO_START.get(self.text[self.at : self.at + 1], "a value cannot start here"))
        parts = [found[0].rstrip(" \t")]
        end = found.end()
        while (fold := _FOLD.match(self.text, end)) is not None and len(fold[1]) > deeper_than:
            # A comment ends a scalar, and so does what the pattern leaves to others.
            found = None if self.text.startswith("#", fold.end()) else more.match(self.text, fold.end())
            if not found or not found[0]:
                break
            parts += [folded(fold[0].count("\n")), found[0].rstrip(" \t")]
            end = found.end()
        self.at += len(self.text[self.at : end].rstrip(" \t"))
        return "".join(parts)

    # Bookkeeping

    def at_end(self) -> bool:
        return self.at >= len(self.text)

    def line(self) -> int:
        """Line breaks before the position."""
        return self.text.count("\n", 0, self.at)

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Pass over what the pattern takes, which may be nothing."""
        found = pattern.match(self.text, self.at)
        assert found is not None  # Such a pattern always matches.
        self.at = found.end()

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotAccepted(f"nested deeper than {MAX_DEPTH}")

    def leave(self, column: int) -> None:
        """The end of a block collection: what follows belongs to one further out."""
        if self.column > column:
            raise NotAccepted("unexpected text or indentation")
        self.depth -= 1


def _check_new(mapping: dict[str, Any], key: str) -> None:
    if key in mapping:
        raise NotAccepted("a key stands twice")
