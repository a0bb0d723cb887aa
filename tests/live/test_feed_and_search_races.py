"""The change feed and the search beside writers, pruners and erasures, over real connections to several processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from memory.operations import change_cursors
from tests.clients import LiveClient
from tests.live.integrity import assert_whole
from tests.live.server import Server, rows, together


@pytest.fixture(autouse=True)
def _rows_are_whole(live: Server) -> Any:
    yield
    assert_whole(live.database_url)
    live.assert_no_fault_logged()


class Reader:
    """Reads one feed page by page, and holds each page to what was read before."""

    def __init__(self, client: LiveClient, scope: str, limit: int) -> None:
        self.client, self.scope, self.limit = client, scope, limit
        self.cursor: str | None = None
        self.at = 0
        self.stream: str | None = None
        self.events: dict[int, dict[str, Any]] = {}
        self.skipped: set[int] = set()

    def read(self) -> bool:
        """Whether the page ended at the head."""
        page = self.client.ok("memory/changes", scope=self.scope, cursor=self.cursor, limit=self.limit)
        assert self.stream in (None, page["stream"])
        self.stream = page["stream"]
        numbers = [event["sequence"] for event in page["events"]]
        reached = change_cursors.read(page["checkpoint_cursor"], self.scope).sequence
        if page["gap"] is None:
            assert numbers == list(range(self.at + 1, reached + 1))
        else:
            assert (page["gap"]["kind"], page["gap"]["lost_from"], numbers) == ("retention", self.at + 1, [])
            assert self.at < page["gap"]["lost_through"] <= reached
            self.skipped.update(range(self.at + 1, reached + 1))
        for event in page["events"]:
            self.events[event["sequence"]] = event
        self.cursor, self.at = page["checkpoint_cursor"], reached
        return bool(page["checkpoint_cursor"] == page["head_cursor"])

    def read_until(self, done: threading.Event) -> None:
        while not done.is_set():
            self.read()
        while not self.read():
            pass


class Finish:
    """Set once so many threads are through."""

    def __init__(self, count: int) -> None:
        self.event = threading.Event()
        self._left = count
        self._lock = threading.Lock()

    def after(self, work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            with self._lock:
                self._left -= 1
                if self._left == 0:
                    self.event.set()


def whole_feed(client: LiveClient, scope: str) -> list[dict[str, Any]]:
    reader = Reader(client, scope, 100)
    while not reader.read():
        pass
    return list(reader.events.values())


def assert_history_in_order(live: Server, scope: str, events: list[dict[str, Any]]) -> None:
    """Each version row has its one event, and the events of a path come in the order of its versions."""
    numbered: dict[str, list[int]] = {}
    for event in events:
        for path, version in ((event["previous_path"], event["previous_version"]), (event["path"], event["version"])):
            if version is not None:
                numbered.setdefault(path, []).append(version)
    found = rows(live.database_url, "SELECT path, version FROM memory_documentversion WHERE scope = %s", [scope])
    held: dict[str, list[int]] = {}
    for path, version in sorted(found):
        held.setdefault(path, []).append(version)
    assert numbered == held


def test_ce_18_two_writers_are_numbered_densely_while_readers_page(live: Server, scope: str) -> None:
    finish = Finish(2)

    def write(client: LiveClient, n: int) -> None:
        for step in range(100):
            client.ok("memory/write", scope=scope, path=f"p{(n + step) % 3}", content=f"{n} {step}")
            if step % 20 == 0:
                # What is refused leaves no event.
                assert (
                    client.post("memory/write", scope=scope, path="p0", content="", expected_version=999).status == 400
                )
                assert client.ok("memory/delete", scope=scope, path="absent") == {"deleted": False}

    with live.clients(6) as clients:
        readers = [Reader(client, scope, limit) for client, limit in zip(clients[2:], (1, 7, 100, 100), strict=True)]

        def work(n: int) -> None:
            if n < 2:
                finish.after(lambda: write(clients[n], n))
            else:
                readers[n - 2].read_until(finish.event)

        together(6, work)
        events = whole_feed(clients[0], scope)
    assert [event["sequence"] for event in events] == list(range(1, 201))
    # Numbers, once seen, never changed, and every reader saw everything.
    assert [list(reader.events.values()) for reader in readers] == [events] * 4
    assert_history_in_order(live, scope, events)
    assert rows(live.database_url, "SELECT 1 FROM memory_pendingchange WHERE scope = %s", [scope]) == []


def test_every_kind_of_change_at_once_replays_to_what_is_there(live: Server, scope: str) -> None:
    finish = Finish(4)

    def change(client: LiveClient, n: int) -> None:
        for step in range(40):
            path, other = f"p{(n + step) % 4}", f"p{(n * step) % 5}"
            client.ok("memory/write", scope=scope, path=path, content=f"{n} {step}")
            if step % 4 == n:
                client.post("memory/rename", scope=scope, src=path, dst=other)
            if step % 5 == n:
                client.ok("memory/delete", scope=scope, path=other)
            if step % 13 == n:
                client.ok("memory/redact", scope=scope, path=path)
        if n == 3:
            client.ok("memory/redact", scope=scope)

    with live.clients(6) as clients:
        readers = [Reader(clients[4], scope, 3), Reader(clients[5], scope, 100)]

        def work(n: int) -> None:
            if n < 4:
                finish.after(lambda: change(clients[n], n))
            else:
                readers[n - 4].read_until(finish.event)

        together(6, work)
        events = whole_feed(clients[0], scope)
        listed = clients[0].ok("memory/list_documents", scope=scope)["entries"]
        trail = clients[0].ok("memory/redactions", scope=scope)["redactions"]
    assert [list(reader.events.values()) for reader in readers] == [events] * 2
    assert_history_in_order(live, scope, events)
    told: dict[str, tuple[int, bool]] = {}
    for event in events:
        path = event["path"]
        if event["kind"] == "erased":
            for name in told if path is None else {path} & set(told):
                told[name] = (told[name][0], True)
        elif event["kind"] == "deleted":
            del told[path]
        else:
            redacted = told.pop(event["previous_path"])[1] if event["kind"] == "renamed" else False
            # A created document is where none was, a modified one where one was.
            assert (path in told) == (event["kind"] == "modified")
            told[path] = (event["version"], redacted)
    assert told == {entry["path"]: (entry["version"], entry["redacted"]) for entry in listed}
    erasures = [(event["path"], event["count"]) for event in events if event["kind"] == "erased"]
    assert sorted(erasures, key=str) == sorted(((act["path"], act["count"]) for act in trail), key=str)


def test_a_pruner_beside_readers_and_writers_makes_no_reader_skip_without_a_word(live: Server, scope: str) -> None:
    finish = Finish(2)

    def write(client: LiveClient, n: int) -> None:
        for step in range(80):
            client.ok("memory/write", scope=scope, path=f"p{n}", content=f"{step}")

    def prune(client: LiveClient) -> list[int]:
        floors = []
        while not finish.event.is_set():
            page = client.ok("memory/changes", scope=scope, limit=1)
            if page["stream"] is None:
                continue
            body = {"scope": scope, "through": page["head_cursor"]}
            client.ok("memory/prune_changes", body)
            pruned = client.ok("memory/prune_changes", body, write=True)
            assert pruned["earliest_cursor"] == page["head_cursor"]
            floors.append(change_cursors.read(page["head_cursor"], scope).sequence)
        return floors

    with live.clients(6) as clients:
        readers = [Reader(client, scope, limit) for client, limit in zip(clients[3:], (1, 2, 100), strict=True)]

        def work(n: int) -> list[int]:
            if n < 2:
                finish.after(lambda: write(clients[n], n))
            elif n == 2:
                return prune(clients[n])
            else:
                readers[n - 3].read_until(finish.event)
            return []

        floors = together(6, work)[2]
    assert floors
    assert floors == sorted(floors)
    ((head, floor),) = rows(live.database_url, "SELECT head, floor FROM memory_scope WHERE name = %s", [scope])
    assert (head, floor) == (160, floors[-1])
    kept = rows(
        live.database_url, "SELECT sequence FROM memory_changeevent WHERE scope = %s ORDER BY sequence", [scope]
    )
    assert [sequence for (sequence,) in kept] == list(range(floor + 1, head + 1))
    for reader in readers:
        assert reader.at == 160
        # What a reader was not told, a gap announced.
        assert set(reader.events) == set(range(1, 161)) - reader.skipped
    # No number was ever two events.
    seen: dict[int, dict[str, Any]] = {}
    for reader in readers:
        for sequence, event in reader.events.items():
            assert seen.setdefault(sequence, event) == event


def test_what_is_erased_is_in_no_later_answer_and_what_is_written_in_the_next(live: Server, scope: str) -> None:
    count = 60
    erased: set[str] = set()
    written: set[str] = set()
    finish = Finish(2)

    def write(client: LiveClient) -> None:
        for n in range(count):
            client.ok("memory/write", scope=scope, path=f"new/{n:02}", content=f"needle {n}")
            written.add(f"new/{n:02}")

    def erase(client: LiveClient) -> None:
        for n in range(count):
            path = f"old/{n:02}"
            if n % 3 == 0:
                client.ok("memory/redact", scope=scope, path=path)
            elif n % 3 == 1:
                client.ok("memory/delete", scope=scope, path=path)
            else:
                client.ok("memory/write", scope=scope, path=path, content="harmless")
            erased.add(path)

    def search(client: LiveClient, n: int) -> None:
        more: dict[str, Any] = {} if n % 2 else {"fields": ["content", "metadata"], "metadata_keys": ["k"]}
        over = False
        while not over:
            over = finish.event.is_set()
            cursor = None
            found: set[str] = set()
            there = set(written)
            while True:
                gone = set(erased)
                page = client.ok("memory/search", scope=scope, query="NEEDLE", limit=40, cursor=cursor, **more)
                paths = {hit["path"] for hit in page["hits"]}
                assert not paths & gone
                assert all(hit["excerpt"]["text"].startswith("needle") for hit in page["hits"])
                assert not paths & found
                found |= paths
                cursor = page["next_cursor"]
                if cursor is None:
                    break
            assert there <= found
        assert found == {f"new/{place:02}" for place in range(count)}

    with live.clients(6) as clients:
        for n in range(count):
            clients[0].ok("memory/write", scope=scope, path=f"old/{n:02}", content=f"needle {n}")

        def work(n: int) -> None:
            if n < 2:
                finish.after(lambda: (write, erase)[n](clients[n]))
            else:
                search(clients[n], n)

        together(6, work)
