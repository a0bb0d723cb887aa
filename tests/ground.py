"""What must stand before Django reads its settings: the environment, and a throw-away database.

Loaded with ``-p tests.ground``, because pytest-django reads the settings before any conftest. With no DATABASE_URL the
suite starts a private PostgreSQL of its own in a temporary folder and stops it at the end.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import tempfile
from pathlib import Path

import pytest

from neosian_site.core import embedded

TOKEN_TABLE = (
    "client:default=tok-default,client:ops=tok-ops,client:alice@user:alice+alice-=tok-alice,"
    "client:reader@user:alice=tok-reader,client:conv+alice-=tok-conv"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    # The first hook there is; it adds no option.
    os.environ["NEOSIAN_SERVE_TOKEN"] = TOKEN_TABLE
    os.environ["NEOSIAN_LOG_LEVEL"] = "WARNING"
    # None is made and kept in the checkout.
    os.environ["NEOSIAN_SECRET_KEY"] = "for tests alone, and long enough to be one"
    # Workers of a parallel run inherit the address; only the process that started the database stops it.
    if "DATABASE_URL" not in os.environ:
        stack = contextlib.ExitStack()
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="neosian-tests-", ignore_cleanup_errors=True))
        # The database's own account must be able to pass.
        Path(folder).chmod(0o711)
        os.environ["DATABASE_URL"] = stack.enter_context(embedded.running(Path(folder), durable=False))
        atexit.register(stack.close)
