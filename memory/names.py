"""Scopes and document paths, refused with the contract's own codes."""

from __future__ import annotations

from memory.errors import PathInvalid, ScopeInvalid
from neosian_site.core.names import path_fault, scope_fault


def check_scope(scope: str) -> None:
    """``type:id`` segments joined by ``/``.

    :raises ScopeInvalid: with the first reason that applies
    """
    if (fault := scope_fault(scope)) is not None:
        raise ScopeInvalid(scope, fault)


def check_path(path: str) -> None:
    """Segments of letters, digits, ``_``, ``.`` and ``-`` joined by single ``/``.

    :raises PathInvalid: with the first reason that applies
    """
    if (fault := path_fault(path)) is not None:
        raise PathInvalid(path, fault)
