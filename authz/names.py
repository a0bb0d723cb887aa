"""Grammars of the names this app owns: actors, project slugs, token prefixes."""

from __future__ import annotations

import re

from neosian_site.core.errors import InvalidValue, quoted

MAX_ACTOR_CHARS = 512
MAX_ACTOR_SEGMENTS = 8
MAX_SLUG_CHARS = 63

_SEGMENT = r"[a-z][a-z0-9_-]{0,31}:(?!\.{1,2}(?:[/#]|\Z))[A-Za-z0-9_.-]{1,128}"
_ACTOR = re.compile(rf"{_SEGMENT}(?:/{_SEGMENT}){{0,{MAX_ACTOR_SEGMENTS - 1}}}(?:#[1-9][0-9]*)?")
_SLUG = re.compile(rf"[a-z0-9][a-z0-9-]{{0,{MAX_SLUG_CHARS - 1}}}")


def check_actor(actor: str) -> None:
    """``kind:id`` segments joined by ``/``, then optionally ``#`` and a turn number.

    :raises InvalidValue: anything else
    """
    if len(actor) > MAX_ACTOR_CHARS or not _ACTOR.fullmatch(actor):
        raise InvalidValue(
            f"{quoted(actor)} is no actor: write kind:id segments joined by '/', for example client:alice"
        )


def check_slug(slug: str) -> None:
    """A project's name in commands: lower-case letters, digits and hyphens.

    :raises InvalidValue: anything else
    """
    if not _SLUG.fullmatch(slug):
        raise InvalidValue(f"{quoted(slug)} is no project name: 1 to 63 of a-z, 0-9 and '-', not starting with '-'")
