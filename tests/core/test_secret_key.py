"""The signing key an installation makes for itself."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neosian_site.core import secret_key


def test_it_is_made_once_and_kept_for_its_owner_alone(tmp_path: Path):
    made = secret_key.kept_in(tmp_path)
    assert len(made) >= 50
    assert secret_key.kept_in(tmp_path) == made
    file = tmp_path / "secret-key"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_two_installations_have_two(tmp_path: Path):
    assert secret_key.kept_in(tmp_path / "a") != secret_key.kept_in(tmp_path / "b")


def test_processes_that_start_together_have_one(tmp_path: Path):
    with ThreadPoolExecutor(16) as pool:
        assert len(set(pool.map(secret_key.kept_in, [tmp_path / "new"] * 64))) == 1


def test_the_folder_can_be_entered_by_the_databases_account(tmp_path: Path):
    before = os.umask(0o077)
    try:
        secret_key.kept_in(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "a" / "b" / "secret-key").stat().st_mode) == 0o600


@pytest.mark.parametrize("content", ["", "\n", "short"])
def test_a_file_that_holds_no_key_is_refused_and_left_alone(tmp_path: Path, content):
    file = tmp_path / "secret-key"
    file.write_text(content)
    with pytest.raises(secret_key.KeyUnusable, match="remove it, or set NEOSIAN_SECRET_KEY"):
        secret_key.kept_in(tmp_path)
    assert file.read_text() == content


def test_a_folder_that_cannot_be_made_says_so(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        secret_key.kept_in(tmp_path / "file" / "below")


class TestSetting:
    def settings(self, monkeypatch, **values):
        from neosian_site import settings

        for name, value in values.items():
            monkeypatch.setattr(settings, name, value)
        return settings.signing_key()

    def test_a_given_key_is_used_and_none_is_made(self, monkeypatch, tmp_path: Path):
        monkeypatch.setenv("NEOSIAN_SECRET_KEY", "given")
        assert self.settings(monkeypatch, NEOSIAN_DATA_DIR=tmp_path) == ("given", True)
        assert list(tmp_path.iterdir()) == []

    def test_without_one_it_is_kept_in_the_data_folder(self, monkeypatch, tmp_path: Path):
        monkeypatch.delenv("NEOSIAN_SECRET_KEY")
        key, is_kept = self.settings(monkeypatch, NEOSIAN_DATA_DIR=tmp_path)
        assert is_kept
        assert (tmp_path / "secret-key").read_text().strip() == key

    def test_without_the_admin_nothing_is_kept(self, monkeypatch, tmp_path: Path):
        monkeypatch.delenv("NEOSIAN_SECRET_KEY")
        key, is_kept = self.settings(monkeypatch, NEOSIAN_DATA_DIR=tmp_path, NEOSIAN_ADMIN=False)
        assert (len(key) >= 50, is_kept) == (True, True)
        assert list(tmp_path.iterdir()) == []

    def test_where_it_cannot_be_kept_the_checks_say_so(self, monkeypatch, tmp_path: Path, settings):
        from neosian_site import checks

        monkeypatch.delenv("NEOSIAN_SECRET_KEY")
        (tmp_path / "file").write_text("")
        _, is_kept = self.settings(monkeypatch, NEOSIAN_DATA_DIR=tmp_path / "file")
        assert not is_kept
        assert checks.sessions_are_shared() == []
        settings.NEOSIAN_SECRET_KEY_IS_KEPT = is_kept
        assert [found.id for found in checks.sessions_are_shared()] == ["neosian.W006"]
