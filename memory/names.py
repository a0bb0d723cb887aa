"""Grammars of memory scopes and document paths (seeds/wire; details in the decisions).

Nothing is normalised or trimmed: a name is its characters.
"""

from __future__ import annotations

import re

from memory.errors import PathInvalid, ScopeInvalid

MAX_NAME_CHARS = 512
MAX_SCOPE_SEGMENTS = 8
MAX_PATH_SEGMENTS = 16

_SCOPE = re.compile(r"[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_.-]{1,128}(?:/[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_.-]{1,128})*")
_PATH = re.compile(r"[A-Za-z0-9_.-]{1,128}(?:/[A-Za-z0-9_.-]{1,128})*")
_RESERVED = (".", "..")


def check_scope(scope: str) -> None:
    """``type:id`` segments joined by ``/``.

    :raises ScopeInvalid: with the first reason that applies
    """
    if len(scope) > MAX_NAME_CHARS:
        raise ScopeInvalid(scope, f"longer than {MAX_NAME_CHARS} characters")
    if not _SCOPE.fullmatch(scope):
        raise ScopeInvalid(scope, "must match <type>:<id>[/<type>:<id>...]")
    if scope.count("/") >= MAX_SCOPE_SEGMENTS:
        raise ScopeInvalid(scope, f"more than {MAX_SCOPE_SEGMENTS} segments")
    if ":." in scope:  # Only then can an id be a reserved one.
        for segment in scope.split("/"):
            segment_id = segment.partition(":")[2]
            if segment_id in _RESERVED:
                raise ScopeInvalid(scope, f"id '{segment_id}' is reserved")


def check_path(path: str) -> None:
    """Segments of letters, digits, ``_``, ``.`` and ``-`` joined by single ``/``.

    :raises PathInvalid: with the first reason that applies
    """
    if len(path) > MAX_NAME_CHARS:
        raise PathInvalid(path, f"longer than {MAX_NAME_CHARS} characters")
    if not _PATH.fullmatch(path):
        raise PathInvalid(path, "segments must be [A-Za-z0-9_.-]{1,128} joined by '/'")
    if path.count("/") >= MAX_PATH_SEGMENTS:
        raise PathInvalid(path, f"more than {MAX_PATH_SEGMENTS} segments")
    if "." in path:
        for segment in path.split("/"):
            if segment in _RESERVED:
                raise PathInvalid(path, f"segment '{segment}' is reserved")
