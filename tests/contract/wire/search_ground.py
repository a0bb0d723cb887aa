"""What the tests of document search share: governed text, archives with metadata, the ways a page is found, and the
seed's rules in plain Python, slow and obvious."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from search.operations import document_metadata, document_statements
from tests.contract.wire.memory_ground import archive, document_row

ROUTE = "memory/search"
SCOPE = "workspace:team"

PAST, LONG_PAST, COMING = "2002-01-01T00:00:00Z", "2001-01-01T00:00:00Z", "2999-01-01T00:00:00Z"

# What a page is found by, made small enough for a handful of documents to take each of the ways.
WAYS: dict[str, dict[str, int]] = {
    "probe": {},
    "narrowed": {"PROBE_DOCUMENTS": 3},
    "narrowed, after few bytes": {"PROBE_BYTES": 16},
    "narrowed, long documents": {"PROBE_DOCUMENTS": 1, "INDEXED_BYTES": 24},
    "read on": {"PROBE_DOCUMENTS": 2, "TRIGRAM": 2000},
    "metadata one by one": {"SMALL_BYTES": 0},
    "metadata in batches": {"BATCH": 2},
}


@contextmanager
def way(name: str) -> Iterator[None]:
    """Pages are found in this way inside."""
    limits = WAYS[name]
    of_metadata = {key: value for key, value in limits.items() if key in ("SMALL_BYTES", "BATCH")}
    others = {key: value for key, value in limits.items() if key not in of_metadata}
    with mock.patch.multiple(document_metadata, **of_metadata) if of_metadata else mock.MagicMock():  # noqa: SIM117
        with mock.patch.multiple(document_statements, **others) if others else mock.MagicMock():
            yield


def restore(wire: Any, *documents: dict[str, Any], scope: str = SCOPE) -> None:
    """A scope of these documents, each given by the keys in which it differs from a plain one."""
    wire.ok("store/restore_scope", archive([document_row(**{"scope": scope, **row}) for row in documents], scope=scope))


def excerpt(text: str, offset: int = 0, field: str = "content", key: str | None = None) -> dict[str, Any]:
    return {"field": field, "metadata_key": key, "offset": offset, "text": text}


def shown(page: dict[str, Any]) -> list[tuple[Any, ...]]:
    return [(hit["path"], hit["matched_fields"], hit["excerpt"]) for hit in page["hits"]]


def found(wire: Any, query: str, **more: Any) -> list[str]:
    return paths(wire.ok(ROUTE, scope=SCOPE, query=query, **more))


def paths(page: dict[str, Any]) -> list[str]:
    return [hit["path"] for hit in page["hits"]]


def walk(wire: Any, body: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Every page of a search."""
    pages = []
    cursor = None
    while True:
        page = wire.ok(ROUTE, body, cursor=cursor)
        assert list(page) == ["hits", "next_cursor"]
        pages.append(page["hits"])
        assert len(pages) < 1000, "the walk does not end"
        cursor = page["next_cursor"]
        if cursor is None:
            return pages


def governed(state: str, body: str) -> str:
    """A document in one of the states governance knows, its window judged by any clock of our time."""
    if state == "unmanaged":
        return body
    window = {
        "scheduled": {"effective_at": COMING},
        "expired": {"effective_at": LONG_PAST, "expires_at": PAST},
    }.get(state, {})
    written = state if state in ("draft", "superseded") else "approved"
    block: dict[str, Any] = {"format": 2 if state == "invalid" else 1, "state": written, **window}
    if written == "approved":
        bound = {
            "governance_format": 1,
            "header": {"knowledge": 1},
            "body": f"{body}!" if state == "stale" else body,
            "effective_at": window.get("effective_at"),
            "expires_at": window.get("expires_at"),
        }
        spelled = json.dumps(bound, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(spelled.encode()).hexdigest()
        block["approval"] = {"by": "r", "at": LONG_PAST, "digest": digest}
    return f'---\nknowledge: 1\nattributes: {{"governance": {json.dumps(block)}}}\n---\n{body}'


STATES = ("unmanaged", "approved", "draft", "superseded", "stale", "invalid", "scheduled", "expired")
ADMITTED = {"all": STATES, "effective": ("unmanaged", "approved"), "approved": ("approved",)}


# The rules of seeds/wire "Memory search version 1" -------------------------------------------------------------------

WHITE_SPACE = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip
# Lower case letters an interpreter with older tables does not know; of the letters the tests use.
LOWER = {"\U00016ea0": "\U00016ebb"}


def terms_of(query: str) -> list[str]:
    spaced = "".join(" " if ord(char) in WHITE_SPACE else char for char in query)
    return ["".join(folded(char) for char in term) for term in spaced.split(" ") if term]


def folded(char: str) -> str:
    """One scalar alone, so that no neighbour matters."""
    return LOWER.get(char) or char.lower()


def first_match(text: str, terms: list[str]) -> int | None:
    """Where the scalar stands that the earliest match of any term begins with."""
    origins = [place for place, char in enumerate(text) for _ in folded(char)]
    whole = "".join(folded(char) for char in text)
    found = [whole.index(term) for term in terms if term in whole]
    return origins[min(found)] if found else None


def strings_below(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings_below(item)
    elif isinstance(value, dict):
        for key in sorted(value, key=str.encode):
            yield from strings_below(value[key])


def takes_part(document: dict[str, Any]) -> bool:
    path = document["path"]
    kept_apart = path == "handoff" or path.startswith(("sessions/", "messages/", "message-links/"))
    return not document["redacted"] and not kept_apart


def expected(documents: list[dict[str, Any]], body: dict[str, Any], states: dict[str, str]) -> list[dict[str, Any]]:
    """The hits of a search over documents as they are read.

    :param states: what governance makes of a content; unmanaged where it is not there
    """
    fields = body.get("fields", ["path", "content"])
    terms = terms_of(body["query"])
    found = []
    for document in sorted(documents, key=lambda document: document["path"].encode()):
        policy = body.get("knowledge_policy", "all")
        if not takes_part(document) or states.get(document["content"], "unmanaged") not in ADMITTED[policy]:
            continue
        if not document["path"].startswith(body.get("prefix", "")):
            continue
        selected = {"content": [(None, document["content"])], "metadata": [], "path": [(None, document["path"])]}
        for key in sorted(body.get("metadata_keys", [])):
            selected["metadata"] += [(key, text) for text in strings_below(document["extra"].get(key))]
        strings = [
            (field, key, text)
            for field in ("content", "metadata", "path")
            if field in fields
            for key, text in selected[field]
        ]
        if not all(any(first_match(text, [term]) is not None for _, _, text in strings) for term in terms):
            continue
        matches = [(field, key, text, first_match(text, terms)) for field, key, text in strings]
        matches = [match for match in matches if match[3] is not None]
        matched = {field for field, *_ in matches}
        field, key, text, place = matches[0]
        start = max(0, place - 40)
        found.append(
            {
                **{key: document[key] for key in ("scope", "path", "version", "created_at", "updated_at", "actor")},
                "matched_fields": [name for name in ("path", "content", "metadata") if name in matched],
                "excerpt": {"field": field, "metadata_key": key, "offset": start, "text": text[start : start + 240]},
            }
        )
    return found
