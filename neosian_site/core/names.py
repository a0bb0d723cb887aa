"""Grammars of the names both stores and the grants speak of (seeds/wire; details in the decisions).

Nothing is normalised or trimmed: a name is its characters. Each function answers the first reason why ``name`` is
outside its grammar, or ``None``.
"""

from __future__ import annotations

import re

MAX_NAME_CHARS = 512
MAX_SCOPE_SEGMENTS = 8
MAX_PATH_SEGMENTS = 16
MAX_ID_CHARS = 128

_SCOPE = re.compile(r"[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_.-]{1,128}(?:/[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_.-]{1,128})*")
_PATH = re.compile(r"[A-Za-z0-9_.-]{1,128}(?:/[A-Za-z0-9_.-]{1,128})*")
_ID = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_RESERVED = (".", "..")


def scope_fault(name: str) -> str | None:
    """``type:id`` segments joined by ``/``."""
    if len(name) > MAX_NAME_CHARS:
        return f"longer than {MAX_NAME_CHARS} characters"
    if not _SCOPE.fullmatch(name):
        return "must match <type>:<id>[/<type>:<id>...]"
    if name.count("/") >= MAX_SCOPE_SEGMENTS:
        return f"more than {MAX_SCOPE_SEGMENTS} segments"
    if ":." in name:  # Only then can an id be a reserved one.
        for segment in name.split("/"):
            segment_id = segment.partition(":")[2]
            if segment_id in _RESERVED:
                return f"id '{segment_id}' is reserved"
    return None


def path_fault(name: str) -> str | None:
    """Segments of letters, digits, ``_``, ``.`` and ``-`` joined by single ``/``."""
    if len(name) > MAX_NAME_CHARS:
        return f"longer than {MAX_NAME_CHARS} characters"
    if not _PATH.fullmatch(name):
        return "segments must be [A-Za-z0-9_.-]{1,128} joined by '/'"
    if name.count("/") >= MAX_PATH_SEGMENTS:
        return f"more than {MAX_PATH_SEGMENTS} segments"
    if "." in name:
        for segment in name.split("/"):
            if segment in _RESERVED:
                return f"segment '{segment}' is reserved"
    return None


def conversation_fault(name: str) -> str | None:
    """One flat segment of letters, digits, ``_``, ``.`` and ``-``."""
    if len(name) > MAX_ID_CHARS:
        return f"longer than {MAX_ID_CHARS} characters"
    if not _ID.fullmatch(name):
        return "must match [A-Za-z0-9_.-]{1,128}, one flat segment"
    if name in _RESERVED:
        return f"id '{name}' is reserved"
    return None


def conversation_prefix_fault(name: str) -> str | None:
    """What a conversation id can begin with."""
    if not _ID.fullmatch(name):
        return "must be 1 to 128 of [A-Za-z0-9_.-]"
    return None
