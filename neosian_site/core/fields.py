"""Database fields whose values come back exactly as they went in."""

from __future__ import annotations

from typing import Any

from django.db import models


class ByteOrderedField(models.TextField):
    """A name or path: sorted and compared by bytes (``COLLATE "C"``), whatever the database's locale."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["db_collation"] = "C"
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[str, str, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        kwargs.pop("db_collation", None)
        return name, path, args, kwargs


class VerbatimJsonField(models.TextField):
    """JSON kept as the text it was: key order, number spelling and repeats survive (``json``, never ``jsonb``)."""

    def db_type(self, connection: Any) -> str:
        return "json"

    def get_internal_type(self) -> str:
        return "VerbatimJsonField"
