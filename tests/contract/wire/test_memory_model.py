"""Random changes against a small store in memory, written from the contract and knowing nothing of the product."""

from __future__ import annotations

from typing import Any

import time_machine
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

PATHS = ("a", "a/b", "B")
SCOPES = ("user:m", "user:m/p:n")

paths = st.sampled_from(PATHS)
# Mostly one scope, so that changes meet; the other one must never notice.
scopes = st.sampled_from([SCOPES[0]] * 5 + [SCOPES[1]])
actors = st.sampled_from([None, "me", ""])
contents = st.sampled_from(["", "one", "two\r\n", "é😀"])


class Refused(Exception):
    """The model says no, with the envelope's code and reason."""


class Model:
    """One scope."""

    def __init__(self) -> None:
        self.live: dict[str, dict[str, Any]] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {path: [] for path in PATHS}
        self.trail: list[dict[str, Any]] = []

    def note(self, path: str, action: str, content: str, actor: str, at: str, redacted: bool) -> int:
        number = len(self.rows[path]) + 1
        self.rows[path].append(
            {
                "path": path,
                "version": number,
                "action": action,
                "content": content,
                "actor": actor,
                "created_at": at,
                "redacted": redacted,
            }
        )
        return number

    def put(self, scope: str, path: str, content: str, actor: str, at: str, redacted: bool, created_at: str) -> None:
        action = "modified" if path in self.live else "created"
        self.live[path] = {
            "scope": scope,
            "path": path,
            "content": content,
            "version": self.note(path, action, content, actor, at, redacted),
            "created_at": created_at,
            "updated_at": at,
            "actor": actor,
            "redacted": redacted,
            "extra": {},
        }

    def write(self, scope: str, path: str, content: str, actor: str, at: str, guard: int | None) -> None:
        live = self.live.get(path)
        if guard is not None and live is None:
            raise Refused("memory_conflict", "document_absent")
        if guard is not None and live is not None and live["version"] != guard:
            raise Refused("memory_conflict", "version_mismatch")
        self.put(scope, path, content, actor, at, False, live["created_at"] if live else at)

    def delete(self, path: str, actor: str, at: str) -> bool:
        live = self.live.pop(path, None)
        if live is None:
            return False
        self.note(path, "deleted", live["content"], actor, at, live["redacted"])
        return True

    def rename(self, scope: str, src: str, dst: str, actor: str, at: str) -> None:
        if src not in self.live:
            raise Refused("memory_document_not_found", None)
        if dst in self.live:
            raise Refused("memory_conflict", "destination_exists")
        moved = self.live[src]
        self.delete(src, actor, at)
        self.put(scope, dst, moved["content"], actor, at, moved["redacted"], at)

    def redact(self, path: str | None, actor: str, at: str) -> int:
        matched = [name for name in PATHS if self.rows[name] and path in (None, name)]
        for name in matched:
            for row in [*self.rows[name], *([self.live[name]] if name in self.live else [])]:
                row |= {"content": "", "redacted": True}
        if matched:
            self.trail.append({"path": path, "actor": actor, "created_at": at, "count": len(matched)})
        return len(matched)

    def history(self) -> list[dict[str, Any]]:
        found = [row for rows in self.rows.values() for row in rows]
        found.sort(key=lambda row: (row["path"], -row["version"]))
        return sorted(found, key=lambda row: row["created_at"], reverse=True)

    def redactions(self) -> list[dict[str, Any]]:
        found = list(reversed(self.trail))
        found.sort(key=lambda act: act["created_at"], reverse=True)
        return found


class Store(RuleBasedStateMachine):
    """Each example has scopes of its own; its clock moves only when it is told to, so that times tie."""

    examples = 0

    def __init__(self, wire: Any) -> None:
        super().__init__()
        self.wire = wire
        Store.examples += 1
        self.suffix = f".{Store.examples}"
        self.models = {scope: Model() for scope in SCOPES}
        self.second = 0
        self.traveller = time_machine.travel("2026-06-01T00:00:00Z", tick=False)
        self.clock = self.traveller.start()

    def name(self, scope: str) -> str:
        return scope + self.suffix

    @property
    def at(self) -> str:
        return f"2026-06-01T00:{self.second // 60:02}:{self.second % 60:02}Z"

    @staticmethod
    def stamped(actor: str | None) -> str:
        return "client:default" if actor is None else f"client:default/{actor}"

    def check(self, route: str, body: dict[str, Any], scope: str, change: Any, answer: Any) -> None:
        """The product's answer is the model's, refusals included."""
        found = self.wire.post(route, body | {"scope": self.name(scope)})
        try:
            expected = answer(change())
        except Refused as refused:
            code, reason = refused.args
            assert (found.status, found.code, found.details.get("reason")) == (400, code, reason)
        else:
            assert (found.status, found.json) == (200, expected)

    @initialize()
    def start(self) -> None:
        assert self.wire.ok("memory/history", scope=self.name(SCOPES[0]))["versions"] == []

    @rule()
    def time_passes(self) -> None:
        self.clock.shift(1)
        self.second += 1

    @rule(scope=scopes, path=paths, content=contents, actor=actors)
    def write(self, scope: str, path: str, content: str, actor: str | None) -> None:
        model, who = self.models[scope], self.stamped(actor)
        self.check(
            "memory/write",
            {"path": path, "content": content, "actor": actor},
            scope,
            lambda: model.write(self.name(scope), path, content, who, self.at, None),
            lambda _: {"document": model.live[path]},
        )

    @rule(scope=scopes, path=paths, content=contents, away=st.sampled_from([0, 0, 0, -1, 1, 2**40]))
    def guarded_write(self, scope: str, path: str, content: str, away: int) -> None:
        model = self.models[scope]
        guard = len(model.rows[path]) + away
        self.check(
            "memory/write",
            {"path": path, "content": content, "expected_version": guard},
            scope,
            lambda: model.write(self.name(scope), path, content, "client:default", self.at, guard),
            lambda _: {"document": model.live[path]},
        )

    @rule(scope=scopes, path=paths, actor=actors)
    def delete(self, scope: str, path: str, actor: str | None) -> None:
        model, who = self.models[scope], self.stamped(actor)
        self.check(
            "memory/delete",
            {"path": path, "actor": actor},
            scope,
            lambda: model.delete(path, who, self.at),
            lambda deleted: {"deleted": deleted},
        )

    @rule(scope=scopes, src=paths, dst=paths, actor=actors)
    def rename(self, scope: str, src: str, dst: str, actor: str | None) -> None:
        model, who = self.models[scope], self.stamped(actor)
        self.check(
            "memory/rename",
            {"src": src, "dst": dst, "actor": actor},
            scope,
            lambda: model.rename(self.name(scope), src, dst, who, self.at),
            lambda _: {"document": model.live[dst]},
        )

    @precondition(lambda self: self.models[SCOPES[0]].live)
    @rule(data=st.data(), actor=actors)
    def rename_something_live(self, data: st.DataObject, actor: str | None) -> None:
        live = self.models[SCOPES[0]].live
        src = data.draw(st.sampled_from(sorted(live)))
        free = [path for path in PATHS if path not in live]
        self.rename(SCOPES[0], src, data.draw(st.sampled_from(free or PATHS)), actor)

    @precondition(lambda self: self.models[SCOPES[0]].live)
    @rule(data=st.data(), actor=actors)
    def delete_something_live(self, data: st.DataObject, actor: str | None) -> None:
        self.delete(SCOPES[0], data.draw(st.sampled_from(sorted(self.models[SCOPES[0]].live))), actor)

    @rule(scope=scopes, path=st.none() | paths, actor=actors)
    def redact(self, scope: str, path: str | None, actor: str | None) -> None:
        model, who = self.models[scope], self.stamped(actor)
        self.check(
            "memory/redact",
            {"path": path, "actor": actor},
            scope,
            lambda: model.redact(path, who, self.at),
            lambda count: {"count": count},
        )

    @invariant()
    def the_busy_scope_reads_as_the_model(self) -> None:
        self.compare_listings(SCOPES[0])
        for path in PATHS:
            found = self.wire.ok("memory/read", scope=self.name(SCOPES[0]), path=path)
            assert found == {"document": self.models[SCOPES[0]].live.get(path)}

    def compare_listings(self, scope: str) -> None:
        model, name = self.models[scope], self.name(scope)
        skeleton = ("path", "version", "created_at", "updated_at", "redacted")
        assert self.wire.ok("memory/list_documents", scope=name)["entries"] == [
            {key: model.live[path][key] for key in skeleton} for path in sorted(model.live)
        ]
        assert self.wire.ok("memory/history", scope=name)["versions"] == model.history()
        assert self.wire.ok("memory/redactions", scope=name)["redactions"] == model.redactions()

    def teardown(self) -> None:
        try:
            self.compare_listings(SCOPES[1])
            for scope, model in self.models.items():
                for path in PATHS:
                    found = self.wire.ok("memory/versions", scope=self.name(scope), path=path)
                    assert found == {"versions": model.rows[path][::-1], "next_cursor": None}
        finally:
            self.traveller.stop()


def test_any_sequence_of_changes_reads_as_the_contract_says(wire):
    run_state_machine_as_test(
        lambda: Store(wire),
        settings=settings(
            max_examples=25,
            stateful_step_count=20,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert Store.examples >= 25
