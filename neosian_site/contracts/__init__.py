"""The published machine contracts: plain files of this package, frozen by their tests (seeds/wire).

Their identifiers are names, never addresses: nothing serves them. Files that refer to each other do so by file name,
so a folder or an archive that holds all of them resolves offline.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
import zipfile
from importlib import resources
from pathlib import Path
from typing import Any

# In the order in which they are listed and archived.
FILES = {
    "wire": "wire-v6.openapi.json",
    "state": "state-v1.schema.json",
    "changes": "changes-v1.schema.json",
    "grants": "grants-v1.schema.json",
    "profile": "profile-v1.schema.json",
    "governance": "governance.schema.json",
    "errors": "errors-v1.json",
}

_IDENTIFIER_KEYS = ("$id", "x-id", "id")
# The earliest an archive can say: its bytes depend on the contracts alone.
_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o100644


def names() -> tuple[str, ...]:
    return tuple(FILES)


def content(name: str) -> bytes:
    """The file as it was published.

    :raises KeyError: no contract has this name
    """
    return resources.files(__name__).joinpath(FILES[name]).read_bytes()


def load(name: str) -> Any:
    """The contract as JSON.

    :raises KeyError: no contract has this name
    """
    return json.loads(content(name))


def identifier(name: str) -> str:
    """What the contract calls itself."""
    document = load(name)
    found: str = next(document[key] for key in _IDENTIFIER_KEYS if key in document)
    return found


def title(name: str) -> str:
    document = load(name)
    found: str = document["title"] if "title" in document else document["info"]["title"]
    return found


def archive() -> bytes:
    """Every contract under its file name, in one zip: the same bytes for the same contracts, wherever it is made."""
    made = io.BytesIO()
    # Stored: what compression makes of a file depends on the library.
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as zipped:
        for name, file in FILES.items():
            member = zipfile.ZipInfo(file, _EPOCH)
            member.create_system = _UNIX
            member.external_attr = _MODE << 16
            zipped.writestr(member, content(name))
    return made.getvalue()


def write_archive(path: Path) -> None:
    """:func:`archive` as a new file, whole or not at all.

    :raises FileExistsError: something is there already; it is left as it is
    :raises OSError: the folder cannot be written
    """
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(archive())
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o644)
        # A link, unlike a rename, never takes another file's place.
        os.link(draft, path)
    finally:
        Path(draft).unlink()
