"""A server that breaks one promise is caught, by the case that asks for it and with a reason that tells."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.conformance.spoiling import JSON, Call, Reply, Spoil, answers, everywhere, instead, results, sent
from tests.live.server import Server

DOCUMENTS = ("memory/read", "memory/write", "memory/rename")


def _set(key: str, value: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def change(row: dict[str, Any]) -> None:
        if key in row:
            row[key] = value(row[key])

    return change


def _drop(key: str) -> Callable[[dict[str, Any]], None]:
    return lambda row: row.pop(key, None) and None


def _status(route: str, old: int, new: int) -> Spoil:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == route and reply.status == old:
            reply.status = new
        return reply

    return spoil


def _errors(change: Callable[[dict[str, Any]], Any]) -> Spoil:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if reply.status == 400 and isinstance(reply.body, dict):
            change(reply.body)
        return reply

    return spoil


def _accepts(route: str, answer: Any, when: Callable[[Call], bool] = lambda call: True) -> Spoil:
    """A refusal of the route becomes a success."""
    return instead(route, lambda call, reply: reply.status in (400, 403) and when(call), lambda _: Reply(200, answer))


def _refuses(when: Callable[[Call], bool]) -> Spoil:
    error = {"error": {"code": "value_error", "message": "no", "details": {}}}
    return lambda call: Reply(400, error) if when(call) else call.forward()


def _lost_write() -> Spoil:
    """The second write of a document is answered and never made."""
    made: dict[tuple[str, str], dict[str, Any]] = {}

    def spoil(call: Call) -> Reply:
        if call.route != "memory/write":
            return call.forward()
        key = (str(call.body.get("scope")), str(call.body.get("path")))
        if key in made:
            made[key] |= {"version": made[key]["version"] + 1, "content": call.body["content"]}
            return Reply(200, {"document": made[key]})
        reply = call.forward()
        if reply.good:
            made[key] = reply.body["document"]
        return reply

    return spoil


def _repeated_row() -> Spoil:
    """A page begins with the row the page before it ended with."""
    last: dict[str, Any] = {}

    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "memory/list_documents" and reply.good:
            entries, cursor = reply.body["entries"], call.body.get("cursor")
            if cursor in last:
                reply.body["entries"] = [last[cursor], *entries[:-1]]
            if reply.body["next_cursor"] and entries:
                last[reply.body["next_cursor"]] = entries[-1]
        return reply

    return spoil


def _text_comes_back(route: str, key: str) -> Spoil:
    """What was read once is answered for ever."""
    seen: dict[str, Any] = {}

    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == route and reply.good:
            asked = str(sorted(call.body.items()))
            reply.body[key] = seen.setdefault(asked, reply.body[key]) or reply.body[key]
        return reply

    return spoil


def _erased_versions(call: Call, body: Any) -> Any:
    for row in body["versions"]:
        if row["redacted"]:
            row |= {"content": "what was erased", "redacted": False}
    return body


def _a_turn_is_lost() -> Spoil:
    """One of the racing turns is answered and forgotten."""
    lock, count = threading.Lock(), [0]

    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "conversation/append_turn" and reply.good:
            with lock:
                count[0] += 1
                if count[0] > 4:
                    reply.body["turn"]["turn"] -= 1
        return reply

    return spoil


def _offset(value: Any) -> Any:
    return value[:-1] + "+00:00" if isinstance(value, str) else value


def _reversed(key: str) -> Callable[[Call, Any], Any]:
    return lambda call, body: {**body, key: body[key][::-1]}


def _one_more(call: Call, body: Any) -> Any:
    return {**body, "removed": body["removed"] + 1}


MUTATIONS: dict[str, tuple[str, str, Callable[[], Spoil]]] = {
    # The handshake and the gate.
    "a health that says more": (
        "handshake.health", "unexpected 'version'",
        lambda: answers("/health", change=lambda call, body: {**body, "version": "1"}),
    ),
    "a flag that is a word": (
        "handshake.fields", "handshake.erasable: expected true or false",
        lambda: answers("capabilities", change=lambda call, body: {**body, "erasable": "yes"}),
    ),
    "a wire version in quotes": (
        "handshake.fields", 'handshake.wire_version: expected 6, got "6"',
        lambda: answers("capabilities", change=lambda call, body: {**body, "wire_version": "6"}),
    ),
    "a policy without a search": (
        "handshake.optional_capabilities", "knowledge_policy is declared without memory_search",
        lambda: answers("capabilities", change=lambda call, body: {**body, "memory_search": {"version": 9}}),
    ),
    "a 401 without its header": (
        "handshake.bearer_gate", "WWW-Authenticate",
        lambda: instead(
            "capabilities", lambda call, reply: reply.status == 401, lambda _: Reply(401, b"unauthorized", {})
        ),
    ),
    "a 401 in JSON": (
        "handshake.bearer_gate_of_every_route", "the 401 has a JSON body",
        lambda: instead(
            "store/scopes", lambda call, reply: reply.status == 401,
            lambda _: Reply(401, {"error": "no"}, {**JSON, "www-authenticate": "Bearer"}),
        ),
    ),
    "a route without a gate": (
        "handshake.bearer_gate_of_every_route", "expected 401, got 200",
        lambda: instead(
            "store/scopes", lambda call, reply: reply.status == 401, lambda _: Reply(200, {"scopes": []})
        ),
    ),
    "a served description": (
        "handshake.no_other_route", "/openapi.json",
        lambda: instead("/openapi.json", lambda call, reply: True, lambda _: Reply(200, {})),
    ),
    # Envelopes and parameters.
    "a wrong status": (
        "memory.rename_refusals", "expected 400 memory_document_not_found, got 404",
        lambda: _status("memory/rename", 400, 404),
    ),
    "a server fault": ("memory.rename", "500", lambda: _status("memory/rename", 200, 500)),
    "another code": (
        "memory.names", "expected 400 memory_scope_invalid, got value_error",
        lambda: _errors(lambda body: body["error"].update(code="value_error")),
    ),
    "no details": (
        "memory.version_fence", "no 'details'", lambda: _errors(lambda body: body["error"].pop("details")),
    ),
    "a detail left out": (
        "memory.version_fence", "no 'actual_version'",
        lambda: _errors(lambda body: body["error"]["details"].pop("actual_version", None)),
    ),
    "a refusal that names nothing": (
        "parameters.memory.write", "does not name 'scope'",
        lambda: _errors(lambda body: body["error"].update(message="wrong type")),
    ),
    "a boolean for a number": (
        "parameters.memory.list_documents", "limit is true: expected 400",
        lambda: _accepts(
            "memory/list_documents", {"entries": [], "next_cursor": None}, lambda call: call.body.get("limit") is True
        ),
    ),
    "a null that is not absence": (
        "parameters.memory.versions", "expected 200, got 400",
        lambda: _refuses(lambda call: call.route == "memory/versions" and call.body.get("limit", 1) is None),
    ),
    "an unknown key refused": (
        "parameters.memory.read", "expected 200, got 400", lambda: _refuses(lambda call: "x_unknown" in call.body),
    ),
    "a body of the wrong kind taken": (
        "envelope.bodies_that_are_no_object", "expected 400",
        lambda: instead("memory/read", lambda call, reply: not call.body, lambda _: Reply(200, {"document": None})),
    ),
    "a search past its bound": (
        "envelope.five_hundred_is_the_bound", "expected 400 value_error, got 200",
        lambda: _accepts("conversation/search_turns", {"turns": []}, lambda call: call.body.get("limit") == 501),
    ),
    "HTML for JSON": (
        "memory.read_of_nothing", "content type text/html",
        lambda: instead(
            "memory/read", lambda call, reply: True, lambda _: Reply(200, b"<p>", {"content-type": "text/html"})
        ),
    ),
    # Shapes.
    "an offset for Z": (
        "memory.write_creates", "created_at: expected an ISO-8601 time with a Z suffix",
        lambda: everywhere(_set("created_at", _offset), *DOCUMENTS),
    ),
    "a day that is none": (
        "memory.write_creates", "expected a real time",
        lambda: everywhere(_set("updated_at", lambda _: "2026-02-30T00:00:00Z"), *DOCUMENTS),
    ),
    "versions as strings": (
        "memory.write_creates", "memory/write.document.version: expected an integer from 1, got \"1\"",
        lambda: everywhere(_set("version", str), "memory/write"),
    ),
    "versions as fractions": (
        "ledger.entries", "version: expected an integer from 1, got 1.0",
        lambda: everywhere(_set("version", float), "memory/list_documents"),
    ),
    "no extra": ("memory.write_creates", "no 'extra'", lambda: everywhere(_drop("extra"), "memory/write")),
    "a key too many": (
        "ledger.entries", "unexpected 'size'",
        lambda: answers(
            "memory/list_documents",
            change=lambda call, body: {**body, "entries": [{**row, "size": 1} for row in body["entries"]]},
        ),
    ),
    "no next_cursor": (
        "ledger.entries", "memory/list_documents: no 'next_cursor'",
        lambda: everywhere(_drop("next_cursor"), "memory/list_documents"),
    ),
    "no span": (
        "conversation.projections", "no 'span'", lambda: everywhere(_drop("span"), "conversation/read_projections"),
    ),
    # Documents.
    "a lost write": ("memory.write_modifies", "the document read", _lost_write),
    "content tidied up": (
        "memory.content_is_verbatim", "content 'one",
        lambda: everywhere(_set("content", lambda text: text.replace("\r\n", "\n")), "memory/read"),
    ),
    "a fence that is not looked at": (
        "memory.version_fence", "expected 400 memory_conflict, got 200",
        lambda: sent("memory/write", expected_version=None),
    ),
    "two winners of a race": (
        "races.one_fenced_writer_wins", "expected 1, got 8", lambda: sent("memory/write", expected_version=None),
    ),
    "a number given twice": ("races.turns_have_no_gap", "the numbers the turns were given", _a_turn_is_lost),
    "an unnamed writer": ("memory.attribution", "actor", lambda: sent("memory/write", actor=None)),
    "another alphabet": (
        "ledger.entries", "the order of the paths",
        lambda: answers(
            "memory/list_documents",
            change=lambda call, body: {**body, "entries": sorted(body["entries"], key=lambda row: row["path"].lower())},
        ),
    ),
    "a prefix that is a pattern": (
        "ledger.prefix", "prefix '%'",
        lambda: lambda call: call.forward(prefix="") if call.body.get("prefix") == "%" else call.forward(),
    ),
    "history backwards": (
        "ledger.history", "not newest first", lambda: answers("memory/history", change=_reversed("versions")),
    ),
    "erased text in the versions": (
        "ledger.redact_a_document", "its versions", lambda: answers("memory/versions", change=_erased_versions),
    ),
    "erased text behind the flag": (
        "ledger.redact_a_document", "redacted, and its content is",
        lambda: everywhere(_set("content", lambda text: text or "back again"), "memory/versions"),
    ),
    "a scope erased by a document's name": (
        "ledger.redact_a_document", "", lambda: sent("memory/redact", path=None),
    ),
    # Conversations.
    "a continuation nobody asked for": (
        "conversation.read_turns", "read_turns {'limit': 2}.next_after",
        lambda: answers(
            "conversation/read_turns",
            change=lambda call, body: {**body, "next_after": 2} if call.body.get("limit") == 2 else body,
        ),
    ),
    "dropped arguments": (
        "conversation.messages_are_verbatim", "tool_calls",
        lambda: everywhere(_set("arguments", lambda _: {}), "conversation/append_turn"),
    ),
    "arguments as text taken": (
        "conversation.refused_messages", "'arguments': '{}'",
        lambda: _accepts("conversation/append_turn", {"turn": {}}, lambda call: "'{}'" in str(call.body)),
    ),
    "role labels in the search": (
        "turn_search.text_of_a_turn", "turns found by 'assistant'",
        lambda: lambda call: call.forward(query="gamma") if call.body.get("query") == "assistant" else call.forward(),
    ),
    "an empty list that is everything": (
        "turn_search.conversations", "search of none",
        lambda: lambda call: call.forward(**{"conversations": None} if call.body.get("conversations") == [] else {}),
    ),
    "an erased turn that is found": (
        "erasure.text_is_gone", "turns found by erased text",
        lambda: answers(
            "conversation/search_turns",
            change=lambda call, body: {"turns": [*body["turns"], *({**t, "turn": 1} for t in body["turns"])]},
        ),
    ),
    "an erased turn's actor": (
        "erasure.selection", "actor",
        lambda: answers(
            "conversation/read_turns",
            change=lambda call, body: {
                **body, "turns": [{**t, "actor": None} if t["redacted"] else t for t in body["turns"]]
            },
        ),
    ),
    "projections left over erased turns": (
        "erasure.projections", "projection texts",
        lambda: everywhere(_set("text", lambda text: text or "back again"), "conversation/read_projections"),
    ),
    # The whole store.
    "an occupied target taken": (
        "store.scope_occupied", "expected 400 memory_conflict, got 200", lambda: _accepts("store/restore_scope", {}),
    ),
    "an empty turn restored": (
        "store.conversation_refusals", "'messages': []",
        lambda: _accepts("store/restore_conversation", {}, lambda call: "'messages': []" in str(call.body)),
    ),
    "a restore under the caller's name": (
        "store.scope_round_trip", "actor",
        lambda: everywhere(_set("actor", lambda actor: actor or "client:default"), *DOCUMENTS),
    ),
    "an unsorted store": (
        "store.enumeration", "in the order of their bytes",
        lambda: answers("store/scopes", change=lambda call, body: {"scopes": body["scopes"][::-1]}),
    ),
    # Pages.
    "a row on two pages": ("paging.pages_add_up", "memory/list_documents in pages of 1", _repeated_row),
    "a cursor of another listing taken": (
        "paging.cursors_belong_to_their_listing", "a cursor of memory/",
        lambda: _accepts("memory/versions", {"versions": [], "next_cursor": None}, lambda call: "cursor" in call.body),
    ),
    "a page past its size": (
        "paging.more_than_five_hundred_rows", "a page of 501 rows",
        lambda: answers(
            "memory/list_documents",
            change=lambda call, body: {"entries": [*body["entries"], *body["entries"][:1]], "next_cursor": None}
            if len(body["entries"]) == 500 else body,
        ),
    ),
    "turns that do not go on": (
        "paging.turns_continue", "expected 501 items, got 500",
        lambda: answers("conversation/read_turns", change=lambda call, body: {**body, "next_after": None}),
    ),
    # Searching documents.
    "an offset in bytes": (
        "search.excerpt", "for a match at",
        lambda: everywhere(_set("offset", lambda offset: offset * 4), "memory/search"),
    ),
    "a term in pieces": (
        "search.terms", "paths found by",
        lambda: lambda call: call.forward(query="red") if call.body.get("query") == "r_d" else call.forward(),
    ),
    "a cursor for every search": (
        "search.cursor_is_bound", "the cursor with another",
        lambda: _accepts(
            "memory/search", {"hits": [], "next_cursor": None}, lambda call: bool(call.body.get("cursor"))
        ),
    ),
    "a forgiven unknown field": (
        "search.parameters", "expected 400 value_error, got 200",
        lambda: _accepts("memory/search", {"hits": [], "next_cursor": None}, lambda call: "actor" in call.body),
    ),
    "a search that remembers": (
        "search.current_documents_only", "paths found", lambda: _text_comes_back("memory/search", "hits"),
    ),
    "drafts for everyone": (
        "policy.states", "paths found under effective", lambda: _drop_policy("effective", "all"),
    ),
    "approval by hearsay": ("policy.edits", "after an edit of approved text", lambda: _drop_policy("approved", "all")),
    # The change feed.
    "events without a sequence": (
        "changes.events", "no 'sequence'", lambda: everywhere(_drop("sequence"), "memory/changes"),
    ),
    "events out of order": (
        "changes.pages", "events are not in order", lambda: answers("memory/changes", change=_reversed("events")),
    ),
    "an event lost": (
        "changes.concurrent_writers", "events of 31 writes",
        lambda: answers("memory/changes", change=lambda call, body: {**body, "events": body["events"][:6]}),
    ),
    "content in an event": (
        "changes.no_content", "holds content",
        lambda: _content_in_events(),  # noqa: PLW0108 - defined below
    ),
    "a preview that prunes": ("changes.prune_preview", "retention", lambda: sent("memory/prune_changes", write=True)),
    "a gap kept quiet": (
        "changes.prune", "changes from",
        lambda: answers("memory/changes", change=lambda call, body: {**body, "gap": None}),
    ),
    "a miscounted prune": ("changes.prune", "removed", lambda: answers("memory/prune_changes", change=_one_more)),
    "a cursor of another scope taken": (
        "changes.cursors", "a cursor of another scope",
        lambda: lambda call: call.forward(cursor=None) if call.route == "memory/changes" else call.forward(),
    ),
}  # fmt: skip


def _drop_policy(one: str, other: str) -> Spoil:
    """A search under one policy is made under another."""

    def spoil(call: Call) -> Reply:
        return call.forward(knowledge_policy=other) if call.body.get("knowledge_policy") == one else call.forward()

    return spoil


def _content_in_events() -> Spoil:
    content: list[str] = []

    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "memory/write" and reply.good:
            content.append(reply.body["document"]["content"])
        if call.route == "memory/changes" and reply.good and content:
            reply.body["stream"] = content[-1]
        return reply

    return spoil


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_broken_promise_is_caught(live: Server, name: str) -> None:
    case, reason, spoil = MUTATIONS[name]

    found = results(live.url, case, spoil=spoil())[case]

    assert found.outcome == "FAIL", found
    assert reason in found.reason, found.reason


FENCED: dict[str, tuple[str, str, Callable[[], Spoil]]] = {
    "a store for everyone": (
        "authorization.whole_store", "store/scopes",
        lambda: instead("store/scopes", lambda call, reply: reply.status == 403, lambda _: Reply(200, {"scopes": []})),
    ),
    "a read outside": (
        "authorization.scope_outside", "memory/history: a scope outside",
        lambda: _accepts("memory/history", {"versions": [], "next_cursor": None}),
    ),
    "another status for it": (
        "authorization.conversation_outside", "expected 403 forbidden, got 400",
        lambda: _status("conversation/read_turns", 403, 400),
    ),
    "an ignored key that opens a search": (
        "authorization.lists", "'conversation_id'",
        lambda: _accepts("conversation/search_turns", {"turns": []}, lambda call: "conversation_id" in call.body),
    ),
    "one good name for all": (
        "authorization.lists", "one id outside",
        lambda: _accepts(
            "conversation/search_turns", {"turns": []}, lambda call: len(call.body.get("conversations") or []) == 2
        ),
    ),
    "a cursor that opens a scope": (
        "authorization.cursors", "another's cursor",
        lambda: _accepts("memory/search", {"hits": [], "next_cursor": None}, lambda call: "cursor" in call.body),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FENCED)
def test_a_leaky_allowance_is_caught(live: Server, name: str) -> None:
    case, reason, spoil = FENCED[name]

    found = results(
        live.url, case, spoil=spoil(), constrained_token="tok-alice", scope_prefix="user:alice", id_prefix="alice-"
    )[case]

    assert found.outcome == "FAIL", found
    assert reason in found.reason, found.reason
