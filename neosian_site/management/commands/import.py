"""``manage.py import``: another name of ``restore``."""

from neosian_site.management.commands.restore import Command

__all__ = ["Command"]
