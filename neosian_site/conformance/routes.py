"""The parameters of the twenty-one routes, and a request to each that must succeed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from neosian_site.conformance.session import Session

TEXT, NUMBER, TEXTS, NUMBERS, OBJECTS = "string", "integer", "strings", "integers", "objects"

# Values of the wrong type; a list is judged item by item, and a boolean is never an integer.
WRONG: dict[str, tuple[Any, ...]] = {
    TEXT: (5, True, [], {}),
    NUMBER: ("1", True, 1.5, [], {}),
    TEXTS: ("x", 1, {}, [1]),
    NUMBERS: ("1", 1, {}, ["1"], [True]),
    OBJECTS: ("x", 1, {}, ["x"], [1]),
}


@dataclass(frozen=True)
class Route:
    """``valid`` makes a body of the required parameters that must be accepted."""

    name: str
    required: dict[str, str]
    optional: dict[str, str]
    valid: Callable[[Session], dict[str, Any]]
    needs: tuple[str, ...] = ()
    # Asking twice answers alike.
    reads: bool = False
    kinds: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kinds", self.required | self.optional)


def _scope(session: Session) -> dict[str, Any]:
    return {"scope": session.scope()}


def _document(session: Session) -> dict[str, Any]:
    scope = session.scope()
    session.write(scope, "a", "one")
    return {"scope": scope, "path": "a"}


def _write(session: Session) -> dict[str, Any]:
    return {"scope": session.scope(), "path": "a", "content": "one"}


def _rename(session: Session) -> dict[str, Any]:
    return {"scope": _document(session)["scope"], "src": "a", "dst": "b"}


def _conversation(session: Session) -> dict[str, Any]:
    conversation = session.conversation()
    session.say(conversation, "one")
    return {"conversation_id": conversation}


def _turn(session: Session) -> dict[str, Any]:
    return {"conversation_id": session.conversation(), "messages": [{"role": "user", "content": "one"}]}


def _projections(session: Session) -> dict[str, Any]:
    entries = [{"turn": 1, "kind": "log", "text": "one"}]
    return {"conversation_id": session.conversation(), "entries": entries}


def _restore_scope(session: Session) -> dict[str, Any]:
    return {"scope": session.scope(), "documents": [], "versions": [], "redactions": []}


def _restore_conversation(session: Session) -> dict[str, Any]:
    return {"conversation_id": session.conversation(), "turns": [], "projections": []}


def _search(session: Session) -> dict[str, Any]:
    return {"query": session.conversation()}


def _trail(session: Session) -> dict[str, Any]:
    session.conversation()
    return {}


def _nothing(session: Session) -> dict[str, Any]:
    return {}


_PAGE = {"cursor": TEXT, "limit": NUMBER}
_LEDGER = {"since": TEXT, **_PAGE}
_TAIL = {"after": NUMBER, "limit": NUMBER}
_UNIT = {"documents": OBJECTS, "versions": OBJECTS, "redactions": OBJECTS}

ROUTES = (
    Route("memory/read", {"scope": TEXT, "path": TEXT}, {}, _document, reads=True),
    Route(
        "memory/write",
        {"scope": TEXT, "path": TEXT, "content": TEXT},
        {"actor": TEXT, "expected_version": NUMBER},
        _write,
    ),
    Route("memory/delete", {"scope": TEXT, "path": TEXT}, {"actor": TEXT}, _document),
    Route("memory/rename", {"scope": TEXT, "src": TEXT, "dst": TEXT}, {"actor": TEXT}, _rename),
    Route("memory/list_documents", {"scope": TEXT}, {"prefix": TEXT, **_PAGE}, _document, reads=True),
    Route("memory/versions", {"scope": TEXT, "path": TEXT}, _PAGE, _document, reads=True),
    Route("memory/redact", {"scope": TEXT}, {"path": TEXT, "actor": TEXT}, _document),
    Route("memory/history", {"scope": TEXT}, _LEDGER, _document, reads=True),
    Route("memory/redactions", {"scope": TEXT}, _LEDGER, _scope, reads=True),
    Route("conversation/append_turn", {"conversation_id": TEXT, "messages": OBJECTS}, {"actor": TEXT}, _turn),
    Route("conversation/read_turns", {"conversation_id": TEXT}, _TAIL, _conversation, reads=True),
    Route("conversation/last_turn_number", {"conversation_id": TEXT}, {}, _conversation, reads=True),
    Route("conversation/search_turns", {"query": TEXT}, {"conversations": TEXTS, "limit": NUMBER}, _search, reads=True),
    Route("conversation/append_projections", {"conversation_id": TEXT, "entries": OBJECTS}, {}, _projections),
    Route("conversation/read_projections", {"conversation_id": TEXT}, _TAIL, _conversation, reads=True),
    Route(
        "conversation/redact_turns",
        {"conversation_id": TEXT},
        {"through": NUMBER, "turns": NUMBERS, "actor": TEXT},
        _conversation,
        ("erasable",),
        reads=True,
    ),
    Route(
        "conversation/turn_redactions",
        {},
        {"conversations": TEXTS, "since": TEXT, "limit": NUMBER},
        _trail,
        ("erasable",),
    ),
    Route("store/scopes", {}, {}, _nothing, ("portable",)),
    Route("store/conversations", {}, {}, _nothing, ("portable",)),
    Route("store/restore_scope", {"scope": TEXT, **_UNIT}, {}, _restore_scope, ("portable",)),
    Route(
        "store/restore_conversation",
        {"conversation_id": TEXT, "turns": OBJECTS, "projections": OBJECTS},
        {"redactions": OBJECTS},
        _restore_conversation,
        ("portable",),
    ),
)
# Routes a server serves where it declares them.
OPTIONAL_ROUTES = {
    "memory/search": "memory_search",
    "memory/changes": "change_feed",
    "memory/prune_changes": "change_feed",
}
