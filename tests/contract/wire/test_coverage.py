from __future__ import annotations

from pathlib import Path

import pytest

from neosian_site.api.wire.urls import ROUTES

HERE = Path(__file__).parent


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_every_route_has_a_file_of_its_own_that_asks_it(route):
    file = HERE / f"test_{route.replace('/', '_')}.py"
    assert file.is_file(), f"{route} has no {file.name}"
    assert f'"{route}"' in file.read_text(), f"{file.name} never asks {route}"
