"""The feed's promise: whoever follows it holds what the scope holds, whatever happens to scope and feed meanwhile."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from authz.caller import Caller
from authz.models import Project
from memory.models import ChangeEvent, Scope
from memory.operations import change_cursors, changes
from tests.contract.wire.memory_ground import archive, document_row, redaction_row, version_row

PATHS = ("a", "b", "b/c", "sessions/s", "handoff")
paths = st.sampled_from(PATHS)
LIMITS = (1, 2, 3, 100)


def current(wire: Any, scope: str) -> dict[str, Any]:
    """What a full read of the scope finds: each live path's document."""
    listed = wire.ok("memory/list_documents", scope=scope)["entries"]
    return {entry["path"]: seen(wire, scope, entry["path"]) for entry in listed}


def seen(wire: Any, scope: str, path: str) -> Any:
    document = wire.ok("memory/read", scope=scope, path=path)["document"]
    return None if document is None else (document["version"], document["redacted"], document["content"])


class Reader:
    """Follows one scope by the seed's recipe, one event at a time, and knows nothing but what it is told."""

    def __init__(self, wire: Any, scope: str) -> None:
        self.wire, self.scope = wire, scope
        # By reading what events touch; and by the events' words alone, without reading: path to version and redacted.
        self.copy: dict[str, Any] = {}
        self.told: dict[str, tuple[int, bool]] = {}
        self.cursor: str | None = None
        self.page: dict[str, Any] | None = None
        self.stream: str | None = None
        self.numbers: dict[tuple[str, int], Any] = {}
        self.gaps: list[str] = []

    def fetch(self, limit: int) -> None:
        before = None if self.cursor is None else change_cursors.read(self.cursor, self.scope).sequence
        page = self.wire.ok("memory/changes", scope=self.scope, cursor=self.cursor, limit=limit)
        numbers = [event["sequence"] for event in page["events"]]
        if page["gap"] is None:
            # Dense, and going on where the reader stood.
            start = (before or 0) + 1
            assert numbers == list(range(start, start + len(numbers)))
            assert len(numbers) <= limit
            assert (page["checkpoint_cursor"] == page["head_cursor"]) == (len(numbers) < limit or self.at_end(page))
            assert self.stream in (None, page["stream"]), "a stream was changed without a word"
        for event in page["events"]:
            # A number never stands for another event.
            assert self.numbers.setdefault((page["stream"], event["sequence"]), event) == event
            assert "content" not in event
        self.page = page

    @staticmethod
    def at_end(page: dict[str, Any]) -> bool:
        return not page["events"] or page["checkpoint_cursor"] == page["head_cursor"]

    def take(self) -> None:
        """One event of the page in hand, or its gap; after the last one the checkpoint is kept."""
        assert self.page is not None
        if self.page["gap"] is not None:
            self.gaps.append(self.page["gap"]["kind"])
            self.copy = current(self.wire, self.scope)
            self.told = {path: held[:2] for path, held in self.copy.items()}
        elif self.page["events"]:
            event = self.page["events"].pop(0)
            self.reread(event)
            self.apply(event)
            if self.page["events"]:
                return
        self.cursor, self.stream = self.page["checkpoint_cursor"], self.page["stream"]
        self.page = None

    def reread(self, event: dict[str, Any]) -> None:
        if event["kind"] == "erased" and event["path"] is None:
            self.copy = current(self.wire, self.scope)
            return
        for path in (event["previous_path"], event["path"]):
            if path is not None:
                found = seen(self.wire, self.scope, path)
                if found is None:
                    self.copy.pop(path, None)
                else:
                    self.copy[path] = found

    def apply(self, event: dict[str, Any]) -> None:
        path, kind = event["path"], event["kind"]
        if kind in ("created", "modified"):
            self.told[path] = (event["version"], False)
        elif kind == "deleted":
            self.told.pop(path, None)
        elif kind == "renamed":
            _, redacted = self.told.pop(event["previous_path"], (0, False))
            self.told[path] = (event["version"], redacted)
        else:
            for name in list(self.told) if path is None else [path]:
                if name in self.told:
                    self.told[name] = (self.told[name][0], True)

    def catch_up(self, limit: int) -> None:
        """To the head, with nothing happening meanwhile; then copy and scope are one."""
        for _ in range(500):
            if self.page is None:
                self.fetch(limit)
            page = self.page
            end = page["checkpoint_cursor"] == page["head_cursor"]
            while self.page is not None:
                self.take()
            if end and page["head_cursor"] == self.wire.ok("memory/changes", scope=self.scope)["head_cursor"]:
                break
        else:
            raise AssertionError("the pages do not end")
        fresh = current(self.wire, self.scope)
        assert self.copy == fresh
        assert self.told == {path: held[:2] for path, held in fresh.items()}


EXAMPLES = count()


class Feed(RuleBasedStateMachine):
    """Two scopes, one of which may be restored into; of each two readers with habits of their own."""

    def __init__(self, wire: Any) -> None:
        super().__init__()
        self.wire = wire
        example = next(EXAMPLES)
        self.scopes = [f"user:feed.{example}", f"user:feed.{example}/p:restored"]
        self.readers = [Reader(wire, scope) for scope in self.scopes for _ in range(2)]
        self.wrote = 0

    scope = st.sampled_from([0, 0, 1])

    def change(self, route: str, scope: int, **body: Any) -> Any:
        return self.wire.post(f"memory/{route}", {"scope": self.scopes[scope], **body})

    @initialize(read=st.lists(st.sampled_from(range(4)), max_size=2, unique=True))
    def some_read_before_anything_is_there(self, read: list[int]) -> None:
        for place in read:
            self.readers[place].catch_up(100)
            assert self.readers[place].stream is None

    @rule(scope=scope, path=paths)
    def write(self, scope: int, path: str) -> None:
        self.wrote += 1
        assert self.change("write", scope, path=path, content=f"text {self.wrote}").status == 200

    @rule(scope=scope, path=paths, expected_version=st.integers(1, 4))
    def guarded_write(self, scope: int, path: str, expected_version: int) -> None:
        self.wrote += 1
        content = f"text {self.wrote}"
        answer = self.change("write", scope, path=path, content=content, expected_version=expected_version)
        assert answer.status in (200, 400)

    @rule(scope=scope, path=paths)
    def delete(self, scope: int, path: str) -> None:
        assert self.change("delete", scope, path=path).status == 200

    @rule(scope=scope, src=paths, dst=paths)
    def rename(self, scope: int, src: str, dst: str) -> None:
        assert self.change("rename", scope, src=src, dst=dst).status in (200, 400)

    @rule(scope=scope, path=paths)
    def redact_a_path(self, scope: int, path: str) -> None:
        assert self.change("redact", scope, path=path).status == 200

    @rule(scope=scope)
    def redact_the_scope(self, scope: int) -> None:
        assert self.change("redact", scope).status == 200

    @precondition(lambda self: not Scope.objects.filter(name=self.scopes[1]).exists())
    @rule(redacted=st.booleans(), path=paths)
    def restore(self, redacted: bool, path: str) -> None:
        scope = self.scopes[1]
        content = "" if redacted else "restored"
        row = document_row(path, scope=scope, version=3, content=content, redacted=redacted)
        body = archive([row], [version_row("gone", 1)], [redaction_row(None)], scope=scope)
        assert self.wire.ok("store/restore_scope", body) == {}

    @rule(scope=scope, where=st.floats(0, 1), write=st.sampled_from([True, True, False]))
    def prune(self, scope: int, where: float, write: bool) -> None:
        name = self.scopes[scope]
        page = self.wire.ok("memory/changes", scope=name)
        if page["stream"] is not None:
            head = change_cursors.read(page["head_cursor"], name)
            through = change_cursors.mint(name, head.stream, round(where * head.sequence))
            self.wire.ok("memory/prune_changes", scope=name, through=through, write=write)

    @precondition(lambda self: Scope.objects.filter(name=self.scopes[0]).exists())
    @rule()
    def reset(self) -> None:
        changes.reset(Caller(Project.objects.get().pk, "admin:changes"), scope=self.scopes[0])

    @rule(place=st.sampled_from(range(4)), limit=st.sampled_from(LIMITS), steps=st.integers(0, 3))
    def a_reader_reads_on(self, place: int, limit: int, steps: int) -> None:
        """And may stop in the middle of a page, to go on with it when more has happened."""
        reader = self.readers[place]
        if reader.page is None:
            reader.fetch(limit)
        for _ in range(steps):
            if reader.page is not None:
                reader.take()

    @rule(place=st.sampled_from(range(4)), limit=st.sampled_from(LIMITS))
    def a_reader_catches_up(self, place: int, limit: int) -> None:
        self.readers[place].catch_up(limit)

    def teardown(self) -> None:
        for reader, limit in zip(self.readers, (1, 2, 3, 100), strict=True):
            reader.catch_up(limit)
        # What is kept is dense from the floor to the head, and nothing waits.
        for name, head, floor in Scope.objects.filter(name__in=self.scopes).values_list("name", "head", "floor"):
            kept = ChangeEvent.objects.filter(scope=name).order_by("sequence").values_list("sequence", flat=True)
            assert list(kept) == list(range(floor + 1, head + 1))


def test_whoever_follows_the_feed_holds_what_the_scope_holds(wire):
    run_state_machine_as_test(
        lambda: Feed(wire),
        settings=settings(
            max_examples=40,
            stateful_step_count=25,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def test_each_kind_of_event_and_of_gap_is_followed(wire):
    """What chance may leave out of the test above, in one story."""
    feed = Feed(wire)
    behind, untouched, late, fresh = feed.readers
    late.catch_up(100)
    feed.restore(redacted=False, path="a")
    for path in ("a", "a", "b"):
        feed.write(0, path)
        feed.write(1, path)
    late.catch_up(2)
    fresh.catch_up(1)
    assert (late.gaps, fresh.gaps) == (["stream_reset"], ["untracked"])
    behind.fetch(1)
    behind.take()
    feed.rename(0, "a", "b/c")
    feed.redact_a_path(0, "b/c")
    feed.prune(0, 0.4, True)
    behind.catch_up(1)
    untouched.catch_up(1)
    assert (behind.gaps, untouched.gaps) == (["retention"], ["retention"])
    feed.delete(0, "b")
    feed.redact_the_scope(0)
    feed.write(0, "b/c")
    behind.fetch(2)
    behind.take()
    # The page in hand is older than what happens now.
    feed.reset()
    feed.write(0, "a")
    behind.catch_up(2)
    assert behind.gaps == ["retention", "stream_reset"]
    feed.write(1, "a")
    feed.write(1, "handoff")
    feed.rename(1, "a", "b/c")
    feed.delete(1, "handoff")
    feed.redact_the_scope(1)
    feed.teardown()
    kinds = {event["kind"] for event in late.numbers.values()}
    assert kinds == {"created", "modified", "renamed", "deleted", "erased"}
