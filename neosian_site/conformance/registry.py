"""The cases, each a function with the profile it belongs to and what it needs declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from neosian_site.conformance.session import Session

BASE, FULL = "base", "full"
Steps = Callable[[Session], None]


@dataclass(frozen=True)
class Case:
    """``needs`` are names :meth:`neosian_site.conformance.target.Target.lacks` knows."""

    name: str
    profile: str
    needs: tuple[str, ...]
    run: Steps

    @property
    def group(self) -> str:
        return self.name.partition(".")[0]


_CASES: dict[str, Case] = {}


def case(name: str, *needs: str, profile: str = BASE) -> Callable[[Steps], Steps]:
    """Make a function the case ``name``; the part before the dot is its group."""

    def take(run: Steps) -> Steps:
        assert name not in _CASES, f"{name} is taken"
        _CASES[name] = Case(name, profile, needs, run)
        return run

    return take


def registered() -> tuple[Case, ...]:
    """Every case, in the order of its definition."""
    return tuple(_CASES.values())
