"""The cast, and clients that speak HTTP."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _fresh_token_cache():
    """Tokens are cached for seconds; each test sees its own rows."""
    from authz import tokens

    tokens.forget_cached()
    yield
    tokens.forget_cached()


@pytest.fixture
def wire(db):
    """The wire, in process, as a client with the unconstrained token."""
    from tests.clients import WireClient

    return WireClient("tok-default")
