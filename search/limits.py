"""Bounds of the searches (seeds/wire "Memory search version 1")."""

from __future__ import annotations

DEFAULT_HITS = 20
MAX_HITS = 100
MAX_QUERY_CHARS = 1024
MAX_TERMS = 16
MAX_PREFIX_BYTES = 1024
MAX_METADATA_KEYS = 8
MAX_METADATA_KEY_CHARS = 128
MAX_CURSOR_BYTES = 4096
FIELDS = ("path", "content", "metadata")
POLICIES = ("all", "effective", "approved")
