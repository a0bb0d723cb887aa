"""The feed's proof: a stale copy that follows its events equals a fresh read, whatever was done in whatever order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contract.wire.feed_ground import position

SCOPE = "workspace:team"
PATHS = ["a", "c/d"]


def fresh(wire: Any) -> dict[str, tuple[Any, ...]]:
    """The scope as it is: version, erased or not, and content of every live document."""
    copy = {}
    for entry in wire.ok("memory/list_documents", scope=SCOPE)["entries"]:
        copy[entry["path"]] = current(wire, entry["path"])
    return copy


def current(wire: Any, path: str) -> tuple[Any, ...] | None:
    found = wire.ok("memory/read", scope=SCOPE, path=path)["document"]
    return None if found is None else (found["version"], found["redacted"], found["content"])


@dataclass
class Follower:
    """A consumer as the contract advises: a full read where there is a gap, the touched paths where there is none."""

    wire: Any
    cursor: str | None = None
    copy: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    stream: str | None = None
    last: int | None = None

    def poll(self, limit: int) -> bool:
        """Follow one page; whether it was the last one."""
        more = {} if self.cursor is None else {"cursor": self.cursor}
        page = self.wire.ok("memory/changes", scope=SCOPE, limit=limit, **more)
        if page["gap"] is not None:
            assert page["events"] == []
            assert page["checkpoint_cursor"] == page["head_cursor"]
            self.copy = fresh(self.wire)
            self.last = None
        if page["stream"] != self.stream:
            self.stream, self.last = page["stream"], None
        for event in page["events"]:
            # Dense, without repeats, on one stream.
            assert self.last is None or event["sequence"] == self.last + 1
            self.last = event["sequence"]
            self.follow(event)
        self.cursor = page["checkpoint_cursor"]
        return self.cursor == page["head_cursor"]

    def follow(self, event: dict[str, Any]) -> None:
        if event["path"] is None:
            self.copy = fresh(self.wire)
            return
        for path in filter(None, (event["path"], event["previous_path"])):
            now = current(self.wire, path)
            if now is None:
                self.copy.pop(path, None)
            else:
                self.copy[path] = now


path = st.sampled_from(PATHS)
STEPS = st.one_of(
    st.tuples(st.just("write"), path, st.sampled_from(["x", "y"])),
    st.tuples(st.just("fenced write"), path, st.integers(1, 4)),
    st.tuples(st.just("delete"), path),
    st.tuples(st.just("rename"), path, path),
    st.tuples(st.just("redact"), path),
    st.tuples(st.just("redact all")),
    st.tuples(st.just("restore")),
    st.tuples(st.just("prune"), st.integers(0, 30)),
    st.tuples(st.just("reset")),
    st.tuples(st.just("poll"), st.integers(1, 3)),
    st.tuples(st.just("number")),
)
# Mutations between moments at which the copy must be the scope: a follower that is never up to date proves nothing.
HISTORY = st.lists(st.lists(STEPS, min_size=1, max_size=4), min_size=3, max_size=8)


def do(wire: Any, follower: Follower, step: tuple[Any, ...]) -> None:
    from authz.caller import Caller
    from memory.models import Scope
    from memory.operations import changes, feed

    name, *args = step
    held = Scope.objects.filter(name=SCOPE).first()
    if name == "write":
        wire.ok("memory/write", scope=SCOPE, path=args[0], content=args[1])
    elif name == "fenced write":
        wire.post("memory/write", scope=SCOPE, path=args[0], content="fenced", expected_version=args[1])
    elif name == "delete":
        wire.ok("memory/delete", scope=SCOPE, path=args[0])
    elif name == "rename":
        wire.post("memory/rename", scope=SCOPE, src=args[0], dst=args[1])
    elif name == "redact":
        wire.ok("memory/redact", scope=SCOPE, path=args[0])
    elif name == "redact all":
        wire.ok("memory/redact", scope=SCOPE)
    elif name == "restore":
        row = {"path": "a", "version": 4, "action": "created", "content": "old", "actor": None, "redacted": False}
        document = {key: row[key] for key in ("path", "version", "content", "actor", "redacted")}
        times = {"created_at": "2026-01-01T00:00:00Z"}
        wire.post(
            "store/restore_scope",
            scope=SCOPE,
            documents=[{**document, **times, "updated_at": "2026-01-01T00:00:00Z", "scope": SCOPE}],
            versions=[{**row, **times}],
            redactions=[],
        )
    elif name == "prune" and held is not None:
        wire.post("memory/prune_changes", scope=SCOPE, through=position(SCOPE, args[0]), write=True)
    elif name == "reset" and held is not None:
        changes.reset(Caller(held.project_id, "admin:x"), scope=SCOPE)
    elif name == "poll":
        follower.poll(args[0])
    elif name == "number" and held is not None:
        feed.number(held.project_id, SCOPE)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(history=HISTORY)
def test_a_stale_copy_and_the_events_equal_a_fresh_read(wire, history):
    from django.db import transaction

    with transaction.atomic():
        follower = Follower(wire)
        for steps in history:
            for step in steps:
                do(wire, follower, step)
            catch_up(follower)
            assert follower.copy == fresh(wire)
        transaction.set_rollback(True)


def catch_up(follower: Follower) -> None:
    for _ in range(40):
        if follower.poll(3):
            return
    raise AssertionError("the feed never ended")
