"""Commands run in process, and the callers that fill a store for them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import load_command_class

from authz.caller import Caller
from authz.operations import projects
from conversations import messages
from conversations.operations import projections, turns
from conversations.operations.projections import ProjectionEntry
from memory.operations import documents
from memory.operations import redaction as document_redaction


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def manage(db: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command line as ``manage.py`` would; the test's own transaction stays open."""
    monkeypatch.setattr("neosian_site.management.bridge.connections.close_all", lambda: None)
    monkeypatch.delenv("NEOSIAN_PROJECT", raising=False)

    def run(name: str, *args: object) -> Ran:
        capsys.readouterr()
        status = load_command_class("neosian_site", name).run([str(arg) for arg in args], f"manage.py {name}")
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return run


@dataclass(frozen=True)
class Store:
    """One project, written to under any name."""

    project_id: int

    def by(self, actor: str) -> Caller:
        return Caller(self.project_id, actor)

    def write(self, path: str, content: str, scope: str = "user:a", by: str = "c:1") -> None:
        documents.write(self.by(by), scope=scope, path=path, content=content)

    def delete(self, path: str, scope: str = "user:a", by: str = "c:1") -> None:
        documents.delete(self.by(by), scope=scope, path=path)

    def redact(self, path: str | None = None, scope: str = "user:a", by: str = "ops:1") -> None:
        document_redaction.redact(self.by(by), scope=scope, path=path)

    def turn(self, conversation: str, *contents: str, by: str = "a:1") -> None:
        said = messages.decode([{"role": "user", "content": content} for content in contents])
        turns.append(self.by(by), conversation_id=conversation, messages=said)

    def project(self, conversation: str, turn: int, text: str, span: int = 1) -> None:
        entry = ProjectionEntry(turn, "log", text, span)
        projections.append(self.by("a:1"), conversation_id=conversation, entries=[entry])


@pytest.fixture
def store(db: None) -> Store:
    """The project the commands work on when none is named."""
    return Store(projects.named("default").pk)


@pytest.fixture
def empty(db: None) -> Store:
    """Another project, ``empty``, which holds nothing."""
    return Store(projects.create(slug="empty").pk)


def files(root: Path) -> dict[str, bytes]:
    """Every file of an archive but its lock."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != ".store.lock"
    }
