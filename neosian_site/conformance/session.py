"""What a case works with: names nobody used before, requests that must answer or be refused, and tidying up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from neosian_site.conformance import answers
from neosian_site.conformance.checks import Failed, Skipped, check, same, show
from neosian_site.conformance.http import Answer, Wire
from neosian_site.conformance.shapes import instant
from neosian_site.conformance.target import Target

T = TypeVar("T")
Body = dict[str, Any]

CLEANING_SECONDS = 30.0


def fresh() -> str:
    """A word no server has seen."""
    return f"conf{uuid4().hex[:20]}"


class Client:
    """Requests with one token, judged as they come back."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire

    def ask(self, route: str, /, **body: Any) -> Answer:
        """Whatever the server answers; a 5xx is never an answer of the store.

        :raises Failed: a 5xx, or nothing
        """
        answer = self.wire.post(route, body)
        check(answer.status < 500, f"{answer}")
        return answer

    def ok(self, route: str, /, **body: Any) -> Any:
        """The JSON of a 200 in the route's exact shape."""
        return accepted(route, self.ask(route, **body))

    def refused(
        self,
        route: str,
        code: str,
        /,
        *,
        status: int = 400,
        details: dict[str, Any] | None = None,
        naming: str = "",
        why: str = "",
        **body: Any,
    ) -> Any:
        """The error of a refusal in the envelope, under ``code``.

        :param details: members its details must have
        :param naming: text the message must hold
        :param why: what is wrong with the request, for the reason
        """
        error = refusal(self.ask(route, **body), code, status=status, why=why)
        for key, value in (details or {}).items():
            same(error["details"].get(key), value, f"{route}: details.{key}")
        check(naming in error["message"], f"{route}: the message does not name {naming!r}: {show(error['message'])}")
        return error


def accepted(route: str, answer: Answer) -> Any:
    check(answer.status == 200, f"{answer.asked}: expected 200, got {answer.status} {show(answer.text)}")
    value = answer.json()
    answers.ANSWERS[route](value, route)
    return value


def refusal(answer: Answer, code: str, *, status: int = 400, why: str = "") -> Any:
    """The ``error`` of an answer that must be this refusal."""
    wanted = f"{answer.asked}: {why + ': ' if why else ''}expected {status} {code}"
    check(answer.status == status, f"{wanted}, got {answer.status} {show(answer.text)}")
    value = answer.json()
    answers.envelope(value, answer.asked)
    error = value["error"]
    check(error["code"] == code, f"{wanted}, got {error['code']}")
    return error


@dataclass(frozen=True)
class _Left:
    client: Client
    name: str


class Session(Client):
    """One case's requests, with the unconstrained token."""

    def __init__(self, target: Target) -> None:
        super().__init__(target.wire)
        self.target = target
        self.client_actor: str = (target.handshake or {}).get("client", "")
        self._scopes: list[_Left] = []
        self._conversations: list[_Left] = []

    # Names -----------------------------------------------------------------------------------------------------------

    def scope(self) -> str:
        """A scope nobody used before, redacted at the end."""
        if not self.target.reaches_scopes:
            raise Skipped("the token's grants reach no fresh scope")
        return self.keep_scope(f"user:{fresh()}")

    def conversation(self) -> str:
        """A conversation id nobody used before, redacted at the end."""
        if not self.target.reaches_conversations:
            raise Skipped("the token's grants reach no fresh conversation")
        return self.keep_conversation(fresh())

    def keep_scope(self, name: str, client: Client | None = None) -> str:
        self._scopes.append(_Left(client or self, name))
        return name

    def keep_conversation(self, name: str, client: Client | None = None) -> str:
        self._conversations.append(_Left(client or self, name))
        return name

    def clean(self) -> None:
        """Redact what the case may have written.

        :raises Failed: the server refuses
        """
        self.wire.start_clock(CLEANING_SECONDS)
        for left in self._scopes:
            left.client.ok("memory/redact", scope=left.name)
        if self.target.lacks("erasable") is None:
            for left in self._conversations:
                left.client.ok("conversation/redact_turns", conversation_id=left.name)

    # Steps that many cases begin with --------------------------------------------------------------------------------

    def write(self, scope: str, path: str, content: str, **more: Any) -> Any:
        return self.ok("memory/write", scope=scope, path=path, content=content, **more)["document"]

    def read(self, scope: str, path: str) -> Any:
        return self.ok("memory/read", scope=scope, path=path)["document"]

    def versions(self, scope: str, path: str) -> list[Any]:
        found: list[Any] = self.ok("memory/versions", scope=scope, path=path, limit=500)["versions"]
        return found

    def history(self, scope: str, **more: Any) -> list[Any]:
        found: list[Any] = self.ok("memory/history", scope=scope, **more)["versions"]
        return found

    def entries(self, scope: str, **more: Any) -> list[Any]:
        found: list[Any] = self.ok("memory/list_documents", scope=scope, **more)["entries"]
        return found

    def redactions(self, scope: str) -> list[Any]:
        found: list[Any] = self.ok("memory/redactions", scope=scope)["redactions"]
        return found

    def say(self, conversation: str, text: str, **more: Any) -> Any:
        """A turn of one user message."""
        messages = [{"role": "user", "content": text}]
        return self.ok("conversation/append_turn", conversation_id=conversation, messages=messages, **more)["turn"]

    def turns(self, conversation: str, **more: Any) -> list[Any]:
        found: list[Any] = self.ok("conversation/read_turns", conversation_id=conversation, **more)["turns"]
        return found

    def projections(self, conversation: str) -> list[Any]:
        found: list[Any] = self.ok("conversation/read_projections", conversation_id=conversation)["entries"]
        return found

    def pages(self, route: str, key: str, most: int | None = None, **body: Any) -> list[list[Any]]:
        """Every page of a memory listing, following its cursors; ``most`` is the asked limit."""
        found: list[list[Any]] = []
        cursor: str | None = None
        while True:
            limit = {} if most is None else {"limit": most}
            page = self.ok(route, **body, **limit, **({} if cursor is None else {"cursor": cursor}))
            found.append(page[key])
            check(len(page[key]) <= min(most or 500, 500), f"{route}: a page of {len(page[key])} rows")
            cursor = page["next_cursor"]
            if cursor is None:
                return found
            check(bool(page[key]), f"{route}: an empty page names another")
            check(sum(map(len, found)) < 5000, f"{route}: the pages do not end")


def together(count: int, work: Callable[[int], T]) -> list[T]:
    """What ``work(0)`` to ``work(count - 1)`` return, each in a thread of its own, started at one moment."""
    gate = threading.Barrier(count)

    def run(number: int) -> T:
        gate.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(run, number) for number in range(count)]]


def outcome(route: str, answer: Answer, code: str) -> Any:
    """The JSON of a 200, or ``None`` for the one refusal a race may end in."""
    if answer.status == 200:
        return accepted(route, answer)
    refusal(answer, code)
    return None


def newest_first(rows: list[Any], written: list[Any], what: str) -> None:
    """The rows are ``written``, the latest first; those of one time may stand in any order."""
    moments = [instant(row["created_at"]) for row in rows]
    check(moments == sorted(moments, reverse=True), f"{what}: not newest first")
    expected = list(reversed(written))
    if len(set(moments)) < len(moments):
        # A clock too coarse to tell them apart.
        rows, expected = sorted(rows, key=str), sorted(expected, key=str)
    same(rows, expected, what)


def only(rows: list[Any], what: str) -> Any:
    if len(rows) != 1:
        raise Failed(f"{what}: expected one row, got {len(rows)}")
    return rows[0]
