"""neosian-site: a hosted memory platform for agents."""

from __future__ import annotations

__version__ = "2.0.0"
