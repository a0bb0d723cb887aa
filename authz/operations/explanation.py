"""Everything one client may do now, and why: its token, its allowance and its grants taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from authz import tokens
from authz.caller import Allowance
from authz.grants import NOTHING, ClientEntry, Permissions, permissions
from authz.models import ApiToken, Project
from authz.models.project import DEFAULT_SLUG, SCOPED
from authz.names import check_actor
from authz.operations import grants
from neosian_site.core import clock

Reasons = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a client reaches, each name with the reason for it."""

    project: str
    actor: str
    # False: no token makes this client, so nothing below can be used.
    exists: bool
    because: list[str]
    read: Reasons
    write: Reasons
    append: Reasons
    operate: Reasons

    def permissions(self) -> dict[str, Reasons]:
        return {"read": self.read, "write": self.write, "append": self.append, "operate": self.operate}

    def shape(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "project": self.project,
            "client": self.actor,
            "exists": self.exists,
            "because": self.because,
            **{
                heading: [{"name": name, "why": why} for name, why in names]
                for heading, names in self.permissions().items()
            },
        }


def explain(*, project: Project, actor: str) -> Explanation:
    """What the client ``actor`` of the project may do at this moment."""
    check_actor(actor)
    because: list[str] = []
    live, allowance = _token(project, actor, because)
    if project.suspended_at is not None:
        because.append("the project is suspended: every token is refused")
        live = False
    file = tokens.environment_grants() if project.slug == DEFAULT_SLUG else None
    scoped = project.access == SCOPED or file is not None
    if not live:
        return Explanation(project.slug, actor, False, because, [], [], [], [])
    if not scoped:
        because.append("the project is open: grants are not asked")
        return _open(project.slug, actor, because, allowance)
    if file is not None and actor in tokens.table_actors():
        because.append("grants are on; the environment's grants file decides")
        may, source = file.of(actor), "grants file"
    else:
        because.append("grants are on; the grants kept in the database decide")
        may, source = _stored(project, actor), "grant"
    if not may.listed:
        because.append("it has no grants: it may do nothing")
    return _scoped(project.slug, actor, because, allowance, may, source)


def _token(project: Project, actor: str, because: list[str]) -> tuple[bool, Allowance | None]:
    """Whether a token makes this client now, and its allowance."""
    if project.slug == DEFAULT_SLUG:
        for entry in tokens.table_entries():
            if entry.actor == actor:
                because.append("its token stands in the environment's table")
                _reach(entry.allowance, because)
                return True, entry.allowance
    row = ApiToken.objects.filter(project=project, actor=actor, revoked_at=None).first()
    if row is None:
        because.append("no live token makes this client")
        return False, None
    if row.suspended_at is not None:
        because.append(f"its token is suspended since {clock.render(row.suspended_at)}")
        return False, None
    if row.expires_at is not None and row.expires_at <= clock.now():
        because.append(f"its token expired at {clock.render(row.expires_at)}")
        return False, None
    because.append("its token is kept in the database")
    allowance = Allowance(row.scope_prefix, row.conversation_prefix) if row.constrained else None
    _reach(allowance, because)
    return True, allowance


def _reach(allowance: Allowance | None, because: list[str]) -> None:
    if allowance is None:
        because.append("the token has no allowance: it reaches the whole project")
        return
    for what, prefix in (("scopes", allowance.scope_prefix), ("conversations", allowance.conversation_prefix)):
        if prefix is None:
            because.append(f"its allowance reaches no {what}")
        else:
            because.append(
                f"its allowance reaches {what} that begin with {prefix!r}"
                if prefix
                else f"its allowance reaches every one of the {what}"
            )


def _open(project: str, actor: str, because: list[str], allowance: Allowance | None) -> Explanation:
    scopes: Reasons = []
    conversations: Reasons = []
    if allowance is None:
        scopes, conversations = [("scope *", "no allowance")], [("conversation *", "no allowance")]
        whole: Reasons = [("whole store", "no allowance"), *scopes, *conversations]
    else:
        if allowance.scope_prefix is not None:
            scopes = [(f"scope {allowance.scope_prefix}*", "allowance")]
        if allowance.conversation_prefix is not None:
            conversations = [(f"conversation {allowance.conversation_prefix}*", "allowance")]
        whole = [*scopes, *conversations]
    return Explanation(project, actor, True, because, [*scopes, *conversations], scopes, conversations, whole)


def _scoped(
    project: str, actor: str, because: list[str], allowance: Allowance | None, may: Permissions, source: str
) -> Explanation:
    def scopes(names: frozenset[str]) -> Reasons:
        covered = [name for name in sorted(names) if allowance is None or allowance.covers_scope(name)]
        return [(f"scope {name}", _why(source, allowance)) for name in covered]

    def conversations(prefixes: tuple[str, ...], ids: frozenset[str]) -> Reasons:
        found = [
            (f"conversation {name}*", why) for name in sorted(prefixes) if (why := _overlap(name, allowance, source))
        ]
        covered = [name for name in sorted(ids) if allowance is None or allowance.covers_conversation(name)]
        return found + [(f"conversation {name}", _why(source, allowance)) for name in covered]

    write = scopes(may.write_scopes)
    append = conversations(may.append_prefixes, may.append_ids)
    operate: Reasons = []
    if may.operator:
        operate = [("whole store", f"{source}: operator")] if allowance is None else []
        operate += [(name, f"{why}, operator") for name, why in (*write, *append)]
    read = [*scopes(may.read_scopes), *conversations(may.read_prefixes, may.read_ids)]
    return Explanation(project, actor, True, because, read, write, append, operate)


def _why(source: str, allowance: Allowance | None) -> str:
    return source if allowance is None else f"{source}, within its allowance"


def _overlap(prefix: str, allowance: Allowance | None, source: str) -> str | None:
    """Why a granted prefix can be used at all; ``None`` where the allowance leaves nothing of it."""
    if allowance is None:
        return source
    reach = allowance.conversation_prefix
    if reach is None or not (prefix.startswith(reach) or reach.startswith(prefix)):
        return None
    return (
        f"{source}, within its allowance"
        if prefix.startswith(reach)
        else f"{source}, of which its allowance leaves {reach}*"
    )


def _stored(project: Project, actor: str) -> Permissions:
    found: ClientEntry | None = grants.of(project=project, actor=actor)
    return NOTHING if found is None else permissions(found)
