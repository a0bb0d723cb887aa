"""Rows by the thousand, put straight into the tables."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256

from authz.models import ApiToken, AuthzEvent, GrantClient, Project
from conversations.models import Conversation, Turn, TurnRedaction
from memory.models import Document, DocumentVersion, Redaction, Scope

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def projects(count: int, start: int = 0) -> list[Project]:
    made = [Project(slug=f"p{number:05}", label=f"Project {number}", created_at=AT) for number in range(start, count)]
    return Project.objects.bulk_create(made)


def clients(project: Project, count: int, start: int = 0) -> list[ApiToken]:
    return ApiToken.objects.bulk_create(
        ApiToken(
            project=project,
            actor=f"client:c{number:05}",
            token_sha256=sha256(f"{project.pk} {number}".encode()).digest(),
            hint=f"ns_{number:05}",
            created_at=AT,
        )
        for number in range(start, count)
    )


def grants(project: Project, count: int, start: int = 0) -> None:
    made = [GrantClient(project=project, actor=f"client:c{number:05}") for number in range(start, count)]
    GrantClient.objects.bulk_create(made)


def scopes(project: Project, count: int, start: int = 0) -> None:
    names = [f"user:s{number:05}" for number in range(start, count)]
    Scope.objects.bulk_create(Scope(project=project, name=name, created_at=AT) for name in names)


def documents(project: Project, scope: str, count: int, start: int = 0) -> None:
    """Live documents of seven bytes, each with one version of as many; every fifth is redacted."""
    Scope.objects.get_or_create(project_id=project.pk, name=scope, defaults={"created_at": AT})
    where = {"project": project, "scope": scope, "version": 1}
    numbers = range(start, count)
    Document.objects.bulk_create(
        Document(
            **where,
            path=f"d/{number:05}",
            live=True,
            last_version=1,
            created_version=1,
            content="" if number % 5 == 0 else "content",
            redacted=number % 5 == 0,
            created_at=AT,
            updated_at=AT,
        )
        for number in numbers
    )
    DocumentVersion.objects.bulk_create(
        DocumentVersion(**where, path=f"d/{number:05}", action="created", content="content", created_at=AT)
        for number in numbers
    )


def redactions(project: Project, scope: str, count: int, start: int = 0) -> None:
    Redaction.objects.bulk_create(
        Redaction(project=project, scope=scope, position=number + 1, path=f"d/{number}", created_at=AT, count=1)
        for number in range(start, count)
    )


def conversations(project: Project, count: int, start: int = 0) -> None:
    Conversation.objects.bulk_create(
        Conversation(project=project, id=f"c-{number:05}", created_at=AT) for number in range(start, count)
    )


def turns(project: Project, conversation: str, count: int, start: int = 0) -> None:
    Conversation.objects.get_or_create(project_id=project.pk, id=conversation, defaults={"created_at": AT})
    Turn.objects.bulk_create(
        Turn(
            project=project,
            conversation=conversation,
            turn=number + 1,
            messages='[{"role":"user","content":"x"}]',
            search_text="x",
            created_at=AT,
        )
        for number in range(start, count)
    )


def turn_redactions(project: Project, conversation: str, count: int, start: int = 0) -> None:
    TurnRedaction.objects.bulk_create(
        TurnRedaction(project=project, conversation=conversation, position=number + 1, turns=[1, 2], created_at=AT)
        for number in range(start, count)
    )


def events(project: Project, count: int, start: int = 0) -> None:
    AuthzEvent.objects.bulk_create(
        AuthzEvent(project=project, at=AT, by="admin:1", subject=f"client client:c{number:05}", after={"n": number})
        for number in range(start, count)
    )
