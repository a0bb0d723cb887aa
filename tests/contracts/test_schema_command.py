"""``manage.py schema``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from neosian_site import contracts
from neosian_site.management.commands.schema import Command

FOLDER = Path(contracts.__file__).parent


@pytest.fixture
def run(capsysbinary) -> Any:
    """Exit status, standard output and standard error of a command line."""

    def call(*args: str) -> tuple[int, bytes, str]:
        status = Command().run(list(args), prog_name="manage.py schema")
        captured = capsysbinary.readouterr()
        return status, captured.out, captured.err.decode()

    return call


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize(("name", "file"), contracts.FILES.items())
def test_a_contract_is_printed_byte_for_byte(run, name, file, more):
    assert run(name, *more) == (0, (FOLDER / file).read_bytes(), "")


def test_without_a_name_every_contract_is_listed(run):
    status, out, err = run()
    assert (status, err) == (0, "")
    heading, *rows = out.decode().splitlines()
    assert heading.split() == ["NAME", "FILE", "IDENTIFIER", "TITLE"]
    assert [row.split()[:2] for row in rows] == [[name, file] for name, file in contracts.FILES.items()]


def test_the_listing_is_one_json_object(run):
    status, out, _ = run("--json")
    rows = json.loads(out)["schemas"]
    assert status == 0
    assert [row["name"] for row in rows] == ["wire", "state", "changes", "grants", "profile", "governance", "errors"]
    assert rows[1] == {
        "name": "state",
        "file": "state-v1.schema.json",
        "id": "urn:neosian-site:contract:state:1",
        "title": "State of wire 6, format 1",
    }


def test_an_unknown_name_is_a_wrong_command_line_that_lists_the_names(run):
    status, out, err = run("openapi")
    assert (status, out) == (2, b"")
    assert "'openapi' is not one of 'wire', 'state', 'changes', 'grants', 'profile', 'governance', 'errors'" in err


def test_the_archive_holds_every_contract_under_the_name_it_is_referred_to_by(run, tmp_path):
    target = tmp_path / "contracts.zip"
    status, out, err = run("--archive", str(target))
    assert (status, out.decode(), err) == (0, f"wrote 7 contracts to {target}\n", "")
    with zipfile.ZipFile(target) as zipped:
        assert zipped.testzip() is None
        assert zipped.namelist() == list(contracts.FILES.values())
        assert all(zipped.read(file) == (FOLDER / file).read_bytes() for file in zipped.namelist())
    assert sorted(tmp_path.iterdir()) == [target]
    assert target.stat().st_mode & 0o777 == 0o644


def test_two_archives_are_the_same_bytes(run, tmp_path):
    files = [tmp_path / "a.zip", tmp_path / "b.zip"]
    for file in files:
        status, out, _ = run("--archive", str(file), "--json")
        assert (status, json.loads(out)) == (0, {"archive": str(file), "files": list(contracts.FILES.values())})
    assert files[0].read_bytes() == files[1].read_bytes() == contracts.archive()


def test_a_file_that_is_there_is_never_written_over(run, tmp_path):
    target = tmp_path / "mine"
    target.write_text("mine")
    assert run("--archive", str(target)) == (1, b"", f"error: {target} exists already; nothing was written\n")
    assert target.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [target]


def test_a_link_that_leads_nowhere_is_a_file_that_is_there(run, tmp_path):
    target = tmp_path / "link"
    target.symlink_to(tmp_path / "elsewhere")
    assert run("--archive", str(target))[0] == 1
    assert sorted(tmp_path.iterdir()) == [target]


def test_an_archive_that_fails_half_way_leaves_nothing(run, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    target = tmp_path / "contracts.zip"
    assert run("--archive", str(target)) == (1, b"", f"error: {target}: No space left on device\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_refused(run, tmp_path):
    target = tmp_path / "none" / "contracts.zip"
    assert run("--archive", str(target)) == (1, b"", f"error: {target}: No such file or directory\n")


def test_a_name_and_an_archive_together_are_a_wrong_command_line(run, tmp_path):
    status, out, err = run("wire", "--archive", str(tmp_path / "x.zip"))
    assert (status, out) == (2, b"")
    assert "give no NAME" in err
    assert list(tmp_path.iterdir()) == []


def test_no_database_is_started_for_it(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DATABASE_URL")}
    done = subprocess.run(
        [sys.executable, "manage.py", "schema", "grants"],
        cwd=settings.BASE_DIR,
        env={**environment, "NEOSIAN_DATA_DIR": str(tmp_path / "data"), "NEOSIAN_ADMIN": "off"},
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, contracts.content("grants"))
    assert not (tmp_path / "data").exists()
