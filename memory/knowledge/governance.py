"""Governance: what a document's header asserts of its own review, and which documents a policy lets through.

The block is the header's attribute ``governance``. Whoever may write the document may write the block: it selects, it
never authorises, and reads and history do not look at it. An approval is bound by a digest to what it covers, so that
any later edit of that makes it stale (seeds/memory "Reviewed knowledge", seeds/wire "Memory search version 1").
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory.knowledge import header
from memory.knowledge.fields import GOVERNANCE, is_integer, is_sha256, is_text, reference_fault, timestamp
from neosian_site.core import canonical, clock

FORMAT = 1
MAX_REVIEWER_CHARS = 256
MAX_NOTE_CHARS = 1000

_STATES = ("draft", "approved", "superseded")
_KEYS = {"format", "state", "effective_at", "expires_at", "superseded_by", "approval"}
_REQUIRED = {"format", "state"}
_APPROVAL_REQUIRED = {"by", "at", "digest"}
_APPROVAL_KEYS = _APPROVAL_REQUIRED | {"note"}

# The states a policy lets through; ``all`` asks nothing.
_ADMITTED = {"effective": ("unmanaged", "approved"), "approved": ("approved",)}


@dataclass(frozen=True)
class Governance:
    """The state content alone decides, and the window in which an approval holds.

    ``state`` is ``unmanaged``, ``invalid``, ``draft``, ``superseded``, ``stale`` or ``approved``. The bounds, in UTC,
    are those of an approval and ``None`` otherwise; the first is inside the window, the second is not.
    """

    state: str
    effective_at: datetime | None = None
    expires_at: datetime | None = None

    def state_at(self, moment: datetime) -> str:
        """The state at one instant: an approval outside its window is ``scheduled`` or ``expired``."""
        if self.effective_at is not None and moment < self.effective_at:
            return "scheduled"
        if self.expires_at is not None and moment >= self.expires_at:
            return "expired"
        return self.state


UNMANAGED = Governance("unmanaged")
INVALID = Governance("invalid")


def judge(content: str) -> Governance:
    """What ``content`` says of its own review. Any text has an answer; one without a fence costs next to nothing."""
    try:
        found = header.read(content)
    except header.HeaderInvalid:
        return INVALID
    attributes = found.mapping.get("attributes") if found else None
    if found is None or not attributes or GOVERNANCE not in attributes:
        return UNMANAGED
    block = attributes[GOVERNANCE]
    if block_fault(block) is not None:
        return INVALID
    if block["state"] != "approved":
        return Governance(block["state"])
    effective_at, expires_at = window(block)
    if block["approval"]["digest"] != approval_digest(found.mapping, found.body, effective_at, expires_at):
        return Governance("stale")
    return Governance("approved", effective_at, expires_at)


def admits(policy: str, governance: Governance, moment: datetime) -> bool:
    """Whether a selection by ``policy`` (``all``, ``effective`` or ``approved``) holds the document at ``moment``."""
    return policy == "all" or governance.state_at(moment) in _ADMITTED[policy]


def window(block: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """``effective_at`` and ``expires_at`` of a block without a fault, in UTC."""
    return timestamp(block.get("effective_at")), timestamp(block.get("expires_at"))


def approval_digest(
    mapping: dict[str, Any], body: str, effective_at: datetime | None, expires_at: datetime | None
) -> str:
    """The digest that binds an approval: of the header, the body and the window, in lower-case hexadecimal.

    It does not cover where the document came from, its place, its state or its reviewer: a copy elsewhere stays
    approved. The header is covered as it was read, a null included, which rendering would leave out.
    """
    covered = {key: value for key, value in mapping.items() if key not in ("sources", "attributes")}
    attributes = {key: value for key, value in (mapping.get("attributes") or {}).items() if key != GOVERNANCE}
    if attributes:
        covered["attributes"] = attributes
    return canonical.digest(
        {
            "governance_format": FORMAT,
            "header": covered,
            "body": body,
            "effective_at": _normal(effective_at),
            "expires_at": _normal(expires_at),
        }
    )


def block_fault(block: Any) -> str | None:
    """The first reason why ``block`` is no governance block, or ``None``."""
    if not isinstance(block, dict):
        return "governance must be an object"
    if not block.keys() >= _REQUIRED or not block.keys() <= _KEYS:
        return f"governance must hold {', '.join(sorted(_REQUIRED))} and no key outside {', '.join(sorted(_KEYS))}"
    if not is_integer(block["format"], FORMAT, FORMAT):
        return f"format must be {FORMAT}"
    state = block["state"]
    if state not in _STATES:
        return f"state must be {', '.join(_STATES[:-1])} or {_STATES[-1]}"
    for key in ("effective_at", "expires_at"):
        if key in block and timestamp(block[key]) is None:
            return f"{key} must be a timestamp with an offset"
    starts, ends = window(block)
    if starts is not None and ends is not None and starts >= ends:
        return "effective_at must be before expires_at"
    if "superseded_by" in block:
        if state != "superseded":
            return "superseded_by needs the state superseded"
        if (fault := reference_fault(block["superseded_by"])) is not None:
            return fault
    if "approval" in block:
        return "a draft has no approval" if state == "draft" else _approval_fault(block["approval"])
    return "approved needs an approval" if state == "approved" else None


def _approval_fault(approval: Any) -> str | None:
    if not isinstance(approval, dict):
        return "approval must be an object"
    if not approval.keys() >= _APPROVAL_REQUIRED or not approval.keys() <= _APPROVAL_KEYS:
        return "approval must hold at, by, digest and at most a note"
    if not is_text(approval["by"], MAX_REVIEWER_CHARS):
        return f"by must be 1 to {MAX_REVIEWER_CHARS} characters"
    if timestamp(approval["at"]) is None:
        return "at must be a timestamp with an offset"
    if not is_sha256(approval["digest"]):
        return "digest must be 64 lower-case hexadecimal digits"
    if "note" in approval and not is_text(approval["note"], MAX_NOTE_CHARS):
        return f"note must be 1 to {MAX_NOTE_CHARS} characters"
    return None


def _normal(moment: datetime | None) -> str | None:
    """The spelling that enters the digest: UTC, and a fraction without the zeros at its end."""
    if moment is None:
        return None
    text = clock.render(moment)
    return text if "." not in text else text.removesuffix("Z").rstrip("0") + "Z"
