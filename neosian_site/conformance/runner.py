"""Running cases, one after the other, and what came of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from neosian_site.conformance.cases import CASES
from neosian_site.conformance.checks import Failed, NoAnswer, Skipped, scrub
from neosian_site.conformance.registry import BASE, Case
from neosian_site.conformance.session import Session
from neosian_site.conformance.target import Target

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"
# A server that does not answer so many cases in a row is not asked any more.
PATIENCE = 3


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    group: str
    outcome: str
    reason: str
    seconds: float

    def shape(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "group": self.group,
            "outcome": self.outcome,
            "reason": self.reason,
            "seconds": self.seconds,
        }


@dataclass
class Report:
    base_url: str
    profile: str
    handshake: dict[str, Any] | None
    results: list[Result] = field(default_factory=list)

    def count(self, outcome: str) -> int:
        return sum(result.outcome == outcome for result in self.results)

    @property
    def good(self) -> bool:
        """Whether something was held to the contract, and all of it held."""
        return self.count(FAIL) == 0 and self.count(PASS) > 0

    @property
    def summary(self) -> str:
        return f"{self.count(PASS)} passed, {self.count(FAIL)} failed, {self.count(SKIP)} skipped"

    def shape(self) -> dict[str, Any]:
        return {
            "base_url": self.base_url,
            "profile": self.profile,
            "wire_version": (self.handshake or {}).get("wire_version"),
            "capabilities": self.handshake,
            "passed": self.count(PASS),
            "failed": self.count(FAIL),
            "skipped": self.count(SKIP),
            "cases": [result.shape() for result in self.results],
        }


def select(profile: str, only: Iterable[str] = ()) -> list[Case]:
    """The cases of a profile, narrowed to names and groups.

    :raises ValueError: naming what no case and no group is called
    """
    wanted = list(only)
    for name in wanted:
        if not any(name in (found.name, found.group) for found in CASES):
            raise ValueError(name)
    return [
        found
        for found in CASES
        if (profile != BASE or found.profile == BASE) and (not wanted or found.name in wanted or found.group in wanted)
    ]


def run(
    target: Target,
    cases: Iterable[Case],
    *,
    base_url: str,
    profile: str,
    keep: bool = False,
    on_result: Callable[[Result], None] | None = None,
) -> Report:
    """Hold the server to the cases; ``on_result`` sees each result as it comes.

    :param keep: leave what the cases wrote as it is
    """
    report = Report(base_url, profile, target.handshake)
    unanswered = 0
    for found in cases:
        started = time.monotonic()
        if unanswered >= PATIENCE:
            outcome, reason, silent = SKIP, "the server stopped answering", True
        else:
            outcome, reason, silent = _judge(target, found, keep=keep)
        unanswered = unanswered + 1 if silent else 0
        result = Result(found.name, found.group, outcome, _line(reason), round(time.monotonic() - started, 3))
        report.results.append(result)
        if on_result is not None:
            on_result(result)
    return report


def _judge(target: Target, found: Case, *, keep: bool) -> tuple[str, str, bool]:
    if target.fault is not None and found.group != "handshake":
        return SKIP, f"the handshake cannot be gone by: {target.fault}", False
    for need in found.needs:
        if (reason := target.lacks(need)) is not None:
            return SKIP, reason, False
    target.wire.start_clock()
    if target.fenced is not None:
        target.fenced.start_clock()
    session = Session(target)
    outcome, reason, silent = _attempt(lambda: found.run(session))
    if not keep and not silent:
        cleaned, why, silent = _attempt(session.clean)
        if cleaned == FAIL and outcome != FAIL:
            outcome, reason = FAIL, f"what it wrote could not be redacted: {why}"
    return outcome, reason, silent


def _line(reason: str) -> str:
    """One line that is safe on a terminal, whatever the server put into it."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(scrub(reason).split()))


def _attempt(work: Callable[[], None]) -> tuple[str, str, bool]:
    try:
        work()
    except Skipped as skipped:
        return SKIP, str(skipped), False
    except NoAnswer as failed:
        return FAIL, str(failed), True
    except Failed as failed:
        return FAIL, str(failed), False
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        # An answer of the right shape whose content leads nowhere, such as a page without the row just written.
        return FAIL, f"an answer the case cannot go on with ({type(error).__name__}: {error})", False
    return PASS, "", False
