from __future__ import annotations

from pathlib import Path

import pytest

from neosian_site import settings


@pytest.mark.parametrize("value", ["plain", "$HOME", "$", "a=b", "", " x ", "p%40"])
def test_a_secret_is_the_variable_as_it_stands(monkeypatch, value):
    monkeypatch.setenv("NEOSIAN_TEST_SECRET", value)
    assert settings.secret("NEOSIAN_TEST_SECRET") == value


def test_a_secret_may_come_from_a_file_without_its_last_newline(monkeypatch, tmp_path: Path):
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.delenv("NEOSIAN_TEST_SECRET", raising=False)
    monkeypatch.setenv("NEOSIAN_TEST_SECRET_FILE", str(tmp_path / "secret"))
    assert settings.secret("NEOSIAN_TEST_SECRET") == "from a file"


def test_the_variable_itself_goes_before_its_file(monkeypatch, tmp_path: Path):
    (tmp_path / "secret").write_text("from a file\n")
    monkeypatch.setenv("NEOSIAN_TEST_SECRET", "from the variable")
    monkeypatch.setenv("NEOSIAN_TEST_SECRET_FILE", str(tmp_path / "secret"))
    assert settings.secret("NEOSIAN_TEST_SECRET") == "from the variable"


def test_a_secret_that_is_nowhere_is_none(monkeypatch):
    monkeypatch.delenv("NEOSIAN_TEST_SECRET", raising=False)
    assert settings.secret("NEOSIAN_TEST_SECRET") is None
