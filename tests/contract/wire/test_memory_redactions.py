from __future__ import annotations

import time_machine

from tests.contract.wire.memory_ground import archive, filled, moment, redaction_row, unchanged


def test_acts_come_newest_first_with_their_keys_in_order(wire):
    filled(wire)
    wire.ok("memory/redact", scope="user:a")
    answer = wire.ok("memory/redactions", scope="user:a")
    assert [(act["path"], act["actor"], act["count"]) for act in answer["redactions"]] == [
        (None, "client:default", 3),
        ("blank", "client:default", 1),
    ]
    assert list(answer["redactions"][0]) == ["path", "actor", "created_at", "count"]
    assert answer["next_cursor"] is None


def test_an_unknown_scope_has_no_trail_and_stays_unknown(wire):
    with unchanged():
        assert wire.ok("memory/redactions", scope="user:a") == {"redactions": [], "next_cursor": None}


def test_each_scope_has_its_own_trail(wire):
    filled(wire, "user:a/p:b")
    assert wire.ok("memory/redactions", scope="user:a")["redactions"] == []
    assert len(wire.ok("memory/redactions", scope="user:a/p:b")["redactions"]) == 1


def test_acts_of_one_instant_come_in_the_reverse_of_their_order(wire):
    for path in ("a", "b", "c"):
        wire.ok("memory/write", scope="user:a", path=path, content="c")
    with time_machine.travel("2027-01-01T00:00:00Z", tick=False):
        for path in ("b", "a", "c"):
            wire.ok("memory/redact", scope="user:a", path=path)
    assert [act["path"] for act in wire.ok("memory/redactions", scope="user:a")["redactions"]] == ["c", "a", "b"]


def test_a_restored_trail_is_ordered_by_time_and_then_by_its_own_order(wire):
    acts = [("first", 5), ("second", 9), ("third", 5), ("fourth", 1), ("fifth", 9)]
    wire.ok(
        "store/restore_scope", archive(redactions=[redaction_row(path, created_at=moment(at)) for path, at in acts])
    )
    found = wire.ok("memory/redactions", scope="user:r")["redactions"]
    assert [act["path"] for act in found] == ["fifth", "second", "third", "first", "fourth"]


def test_an_act_after_a_restored_trail_of_the_same_instant_comes_first(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="c")
    wire.ok(
        "store/restore_scope",
        archive(
            versions=[
                {
                    "path": "x",
                    "version": 1,
                    "action": "created",
                    "content": "c",
                    "actor": None,
                    "created_at": moment(0),
                    "redacted": False,
                }
            ],
            redactions=[redaction_row("old", created_at=moment(9)), redaction_row("older", created_at=moment(9))],
        ),
    )
    with time_machine.travel(moment(9), tick=False):
        wire.ok("memory/redact", scope="user:r")
    found = wire.ok("memory/redactions", scope="user:r")["redactions"]
    assert [act["path"] for act in found] == [None, "older", "old"]
