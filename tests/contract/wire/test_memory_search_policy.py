"""``memory/search`` under a knowledge policy (SG-23 to SG-25): what governance leaves out was never there."""

from __future__ import annotations

import pytest
import time_machine

from tests.contract.wire.search_ground import ADMITTED, ROUTE, SCOPE, STATES, found, governed, paths, restore


@pytest.mark.parametrize("written", [True, False], ids=["written", "restored"])
def test_sg_23_a_policy_selects_by_the_state_of_a_documents_review(wire, written):
    documents = {state: governed(state, "term\n") for state in STATES}
    if written:
        for path, content in documents.items():
            wire.ok("memory/write", scope=SCOPE, path=path, content=content)
    else:
        restore(wire, *[{"path": path, "content": content} for path, content in documents.items()])
    assert found(wire, "term") == sorted(STATES)
    for policy, states in ADMITTED.items():
        for more in ({}, {"fields": ["content", "metadata"], "metadata_keys": ["k"]}):
            assert found(wire, "term", knowledge_policy=policy, **more) == sorted(states)
    # Nothing else is filtered.
    listed = wire.ok("memory/list_documents", scope=SCOPE)["entries"]
    assert [entry["path"] for entry in listed] == sorted(STATES)
    assert wire.ok("memory/read", scope=SCOPE, path="draft")["document"]["content"] == documents["draft"]


def test_sg_24_what_a_policy_leaves_out_leaves_no_trace_in_pages(wire):
    wire.ok("memory/write", scope=SCOPE, path="a", content=governed("draft", "term\n"))
    wire.ok("memory/write", scope=SCOPE, path="b", content=governed("approved", "term\n"))
    wire.ok("memory/write", scope=SCOPE, path="c", content=governed("stale", "term\n"))
    page = wire.ok(ROUTE, scope=SCOPE, query="term", knowledge_policy="approved", limit=1)
    assert (paths(page), page["next_cursor"]) == (["b"], None)


def test_sg_25_a_cursor_is_bound_to_its_policy(wire):
    for path in ("a", "b"):
        wire.ok("memory/write", scope=SCOPE, path=path, content=governed("approved", "term\n"))
    cursor = wire.ok(ROUTE, scope=SCOPE, query="term", limit=1)["next_cursor"]
    answer = wire.post(ROUTE, scope=SCOPE, query="term", knowledge_policy="approved", cursor=cursor)
    assert (answer.status, answer.message) == (400, "cursor does not belong to this search")
    assert found(wire, "term", knowledge_policy="all", cursor=cursor) == ["b"]


@pytest.mark.parametrize(
    ("state", "moment", "approved"),
    [
        ("scheduled", "2998-12-31T23:59:59.999999Z", False),
        ("scheduled", "2999-01-01T00:00:00Z", True),
        ("expired", "2000-12-31T23:59:59.999999Z", False),
        ("expired", "2001-01-01T00:00:00Z", True),
        ("expired", "2001-12-31T23:59:59.999999Z", True),
        ("expired", "2002-01-01T00:00:00Z", False),
    ],
)
def test_a_window_is_judged_at_the_servers_instant(wire, state, moment, approved):
    wire.ok("memory/write", scope=SCOPE, path="p", content=governed(state, "term\n"))
    with time_machine.travel(moment, tick=False):
        for policy in ("approved", "effective"):
            assert found(wire, "term", knowledge_policy=policy) == (["p"] if approved else [])
        assert found(wire, "term") == ["p"]


def test_an_edit_makes_an_approval_stale_and_a_copy_keeps_it(wire):
    content = governed("approved", "term\n")
    wire.ok("memory/write", scope=SCOPE, path="a", content=content)
    wire.ok("memory/rename", scope=SCOPE, src="a", dst="b")
    assert found(wire, "term", knowledge_policy="approved") == ["b"]
    wire.ok("memory/write", scope=SCOPE, path="b", content=f"{content}more\n")
    assert found(wire, "term", knowledge_policy="approved") == []
    wire.ok("memory/write", scope=SCOPE, path="b", content="term")
    assert found(wire, "term", knowledge_policy="effective") == ["b"]
