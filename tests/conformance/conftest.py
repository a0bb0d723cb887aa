"""The runner is held against the real server; what it is told of the server may be spoiled on the way."""

from __future__ import annotations

import pytest

from neosian_site.conformance import checks
from tests.live.conftest import live, migrated  # noqa: F401 - the running server, for this folder as well


@pytest.fixture(autouse=True)
def _no_proxy_and_no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    for name in ("NEOSIAN_CONFORMANCE_TOKEN", "NEOSIAN_CONFORMANCE_CONSTRAINED_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    checks.hide()
