"""A server that declares nothing optional: what it lacks is skipped by name, the rest is held to the contract."""

from __future__ import annotations

import httpx

from neosian_site.conformance.cases import CASES
from tests.conformance.spoiling import Call, Reply, instead, results
from tests.live.server import Server

LISTINGS = {"memory/list_documents", "memory/versions", "memory/history", "memory/redactions"}
OPTIONAL = {"memory/search", "memory/changes", "memory/prune_changes"}
ERASURE = {"conversation/redact_turns", "conversation/turn_redactions"}


def plain(call: Call) -> Reply:
    """The running server, as if its backend could do nothing optional."""
    lacking = Reply(
        400, {"error": {"code": "agent_configuration_error", "message": "the backend cannot", "details": {}}}
    )
    reply = call.forward()
    if call.route == "capabilities" and reply.good:
        for key in ("memory_search", "knowledge_policy", "change_feed"):
            reply.body.pop(key)
        reply.body |= {"supports_optimistic_concurrency": False, "pageable": False, "erasable": False}
    if call.route in OPTIONAL:
        return Reply(404, b"Not Found", {"content-type": "text/plain"})
    if reply.status == 401:
        return reply
    if call.route in ERASURE or call.route.startswith("store/"):
        return lacking
    if call.route in LISTINGS and isinstance(call.body.get("cursor"), str):
        return lacking
    return reply


def test_what_is_not_declared_is_skipped_and_the_rest_passes(live: Server) -> None:
    found = results(live.url, spoil=plain)

    assert {name: result.reason for name, result in found.items() if result.outcome == "FAIL"} == {}
    for case in CASES:
        skipped = found[case.name].outcome == "SKIP"
        if case.name != "handshake.mcp_behind_the_gate":
            assert skipped == bool(case.needs), case.name
    assert found["search.hits"].reason == "memory_search is not declared"
    assert found["policy.states"].reason == "memory_search is not declared"
    assert found["changes.events"].reason == "change_feed is not declared"
    assert found["erasure.selection"].reason == "erasable is not declared"
    assert found["paging.pages_add_up"].reason == "pageable is not declared"
    assert found["races.one_fenced_writer_wins"].reason == "supports_optimistic_concurrency is not declared"
    assert found["store.scope_round_trip"].reason == "the backend cannot be moved whole"
    assert found["erasure.as_declared"].outcome == "PASS"
    assert found["store.as_declared"].outcome == "PASS"


def test_half_a_portability_is_caught(live: Server) -> None:
    def spoil(call: Call) -> Reply:
        return call.forward() if call.route == "store/restore_scope" else plain(call)

    found = results(live.url, "store.as_declared", spoil=spoil)["store.as_declared"]

    assert found.outcome == "FAIL"
    assert found.reason.startswith("POST store/restore_scope: expected 400 agent_configuration_error, got 200")


def test_an_erasure_that_is_not_declared_and_done_is_caught(live: Server) -> None:
    def spoil(call: Call) -> Reply:
        return call.forward() if call.route in ERASURE else plain(call)

    assert results(live.url, "erasure.as_declared", spoil=spoil)["erasure.as_declared"].outcome == "FAIL"


def test_a_capability_in_another_version_is_skipped(live: Server) -> None:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "capabilities" and reply.good:
            reply.body["change_feed"] = {"version": 2}
        return reply

    found = results(live.url, "changes.events", spoil=spoil)["changes.events"]

    assert (found.outcome, found.reason) == ("SKIP", "change_feed is not declared in version 1")


def test_a_handshake_of_another_wire_leaves_the_rest_alone(live: Server) -> None:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "capabilities" and reply.good:
            reply.body["wire_version"] = 7
        return reply

    found = results(live.url, spoil=spoil)

    assert found["handshake.fields"].reason == "handshake.wire_version: expected 6, got 7"
    assert found["handshake.health"].outcome == "PASS"
    assert {result.outcome for name, result in found.items() if not name.startswith("handshake.")} == {"SKIP"}
    assert found["memory.delete"].reason == "the handshake cannot be gone by: wire_version is 7, not 6"


def test_a_server_that_stops_answering_is_not_asked_for_ever(live: Server) -> None:
    seen: list[str] = []

    def dead(call: Call) -> Reply:
        seen.append(call.route)
        if len(seen) > 4:
            raise httpx.ConnectError("gone")
        return call.forward()

    found = list(results(live.url, "memory", spoil=dead).values())

    assert [result.outcome for result in found[:3]] == ["FAIL"] * 3
    assert found[0].reason == "POST memory/read: no answer (ConnectError)"
    assert {(result.outcome, result.reason) for result in found[3:]} == {("SKIP", "the server stopped answering")}
    assert len(seen) < 12


def test_a_redaction_that_fails_afterwards_is_a_failure(live: Server) -> None:
    refused = instead(
        "memory/redact", lambda call, reply: True, lambda _: Reply(500, b"", {"content-type": "text/plain"})
    )

    found = results(live.url, "memory.write_creates", spoil=refused)["memory.write_creates"]

    assert found.outcome == "FAIL"
    assert found.reason.startswith("what it wrote could not be redacted: POST memory/redact: 500")
