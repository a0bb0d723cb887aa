"""What a document is found by: its folded text and what its content says of its own review.

Worked out once, where content is written, and stored beside it, so that a search neither folds nor parses. Documents
that never take part in a search (erased ones, and those of paths that hold no knowledge) have no search text at all.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.knowledge import governance
from neosian_site.core.text import fold

# Columns of memory_document and the values a statement with :func:`found_by`'s parameters gives them. The database
# folds ASCII by itself, so that ordinary text is not sent twice; both sides agree on it on every version.
FOUND_BY = "search_text, governance, effective_at, expires_at"
FOUND_BY_VALUES = """
    CASE WHEN %(searched)s THEN concat(
        lower(%(path)s::text COLLATE "C"), E'\\n', coalesce(%(folded)s::text, lower(%(content)s::text COLLATE "C"))
    ) ELSE '' END, %(governance)s, %(effective_at)s, %(expires_at)s
"""

# Recorded sessions, mail and hand-over notes are no knowledge (seeds/wire "Memory search version 1").
_NOT_SEARCHED = ("sessions/", "messages/", "message-links/")
_NOT_SEARCHED_PATH = "handoff"

# The same columns of a path without a document.
BURIED = ("", "unmanaged", None, None)


def found_by(path: str, content: str, *, redacted: bool = False) -> dict[str, Any]:
    """Parameters for :data:`FOUND_BY_VALUES`, beside ``path`` and ``content``."""
    state = governance.judge(content)
    searched = not redacted and _takes_part(path)
    return {
        "searched": searched,
        "folded": None if content.isascii() or not searched else fold(content),
        "governance": state.state,
        "effective_at": state.effective_at,
        "expires_at": state.expires_at,
    }


def restored_as(path: str, content: str, *, redacted: bool) -> tuple[str, str, datetime | None, datetime | None]:
    """The values themselves, for rows that are copied in."""
    if redacted:
        return BURIED
    state = governance.judge(content)
    search_text = f"{fold(path)}\n{fold(content)}" if _takes_part(path) else ""
    return search_text, state.state, state.effective_at, state.expires_at


def _takes_part(path: str) -> bool:
    return not path.startswith(_NOT_SEARCHED) and path != _NOT_SEARCHED_PATH
