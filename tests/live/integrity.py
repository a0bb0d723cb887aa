"""What must hold of the rows whatever happened to the processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.clients import LiveClient
from tests.live.server import rows

# Each statement finds broken rows; the sentence says what is broken about them.
BROKEN = {
    "a live document without its equal version row": """
        SELECT d.scope, d.path, d.version FROM memory_document d
        LEFT JOIN memory_documentversion v USING (project_id, scope, path, version)
        WHERE d.live AND (v.content, v.actor, v.redacted, v.created_at)
            IS DISTINCT FROM (d.content, d.actor, d.redacted, d.updated_at)
    """,
    "versions of a path with a gap": """
        SELECT d.scope, d.path, d.last_version, count(v.version) FROM memory_document d
        LEFT JOIN memory_documentversion v USING (project_id, scope, path)
        GROUP BY d.project_id, d.scope, d.path, d.last_version
        HAVING count(v.version) <> d.last_version OR max(v.version) <> d.last_version OR min(v.version) <> 1
    """,
    "a version row without its path": """
        SELECT v.scope, v.path, v.version FROM memory_documentversion v
        LEFT JOIN memory_document d USING (project_id, scope, path) WHERE d.path IS NULL
    """,
    "a document without its scope": """
        SELECT d.scope, d.path FROM memory_document d
        LEFT JOIN memory_scope s ON s.project_id = d.project_id AND s.name = d.scope WHERE s.name IS NULL
    """,
    "turns of a conversation with a gap": """
        SELECT c.id, c.last_turn, count(t.turn) FROM conversations_conversation c
        LEFT JOIN conversations_turn t ON t.project_id = c.project_id AND t.conversation = c.id
        GROUP BY c.project_id, c.id, c.last_turn
        HAVING count(t.turn) <> c.last_turn OR coalesce(max(t.turn), 0) <> c.last_turn OR coalesce(min(t.turn), 1) <> 1
    """,
    "a turn without its conversation": """
        SELECT t.conversation, t.turn FROM conversations_turn t
        LEFT JOIN conversations_conversation c ON c.project_id = t.project_id AND c.id = t.conversation
        WHERE c.id IS NULL
    """,
    "a redacted row that kept something": """
        SELECT scope, path FROM memory_documentversion WHERE redacted AND content <> ''
        UNION ALL SELECT scope, path FROM memory_document WHERE redacted AND content <> ''
        UNION ALL SELECT conversation, turn::text FROM conversations_turn
        WHERE redacted AND (messages::text <> '[]' OR search_text <> '')
    """,
}


def assert_whole(database_url: str) -> None:
    """No row is half of something."""
    found = {what: rows(database_url, statement) for what, statement in BROKEN.items()}
    assert found == {what: [] for what in BROKEN}


@dataclass
class Writer:
    """A client that remembers which of its writes were answered."""

    client: LiveClient
    scope: str
    conversation: str
    name: str
    documents: list[tuple[str, int, str]] = field(default_factory=list)
    turns: list[tuple[int, str]] = field(default_factory=list)
    refused: list[int] = field(default_factory=list)
    sent: int = 0

    def step(self) -> None:
        """One document or one turn, alternating. Raises what the connection raises."""
        self.sent += 1
        text = f"{self.name} {self.sent}"
        if self.sent % 2:
            path = f"notes/{self.sent % 3}"
            answer = self.client.post("memory/write", scope=self.scope, path=path, content=text)
            if answer.status == 200:
                self.documents.append((path, answer.json["document"]["version"], text))
        else:
            message = {"role": "user", "content": text}
            answer = self.client.post("conversation/append_turn", conversation_id=self.conversation, messages=[message])
            if answer.status == 200:
                self.turns.append((answer.json["turn"]["turn"], text))
        if answer.status != 200:
            self.refused.append(answer.status)

    def assert_kept(self, database_url: str) -> None:
        """Every write that was answered with success is stored under the number it was answered."""
        versions: dict[Any, str] = {
            (path, version): content
            for path, version, content in rows(
                database_url, "SELECT path, version, content FROM memory_documentversion WHERE scope = %s", [self.scope]
            )
        }
        turns = dict(
            rows(
                database_url,
                "SELECT turn, messages::jsonb -> 0 ->> 'content' FROM conversations_turn WHERE conversation = %s",
                [self.conversation],
            )
        )
        assert [(p, v, versions.get((p, v))) for p, v, _ in self.documents] == self.documents
        assert [(turn, turns.get(turn)) for turn, _ in self.turns] == self.turns
