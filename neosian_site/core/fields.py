"""Database fields whose values come back exactly as they went in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import models

# Django's fields take type parameters in their stubs only.
if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


class ByteOrderedField(_TextField):
    """A name or path: sorted and compared by bytes (``COLLATE "C"``), whatever the database's locale."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["db_collation"] = "C"
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("db_collation", None)
        return name, path, args, kwargs


class VerbatimJsonField(_TextField):
    """JSON kept as the text it was: key order, number spelling and repeats survive (``json``, never ``jsonb``)."""

    def db_type(self, connection: Any) -> str:
        return "json"

    def get_internal_type(self) -> str:
        return "VerbatimJsonField"
