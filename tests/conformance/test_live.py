"""The running server is one of wire 6, and a run against it leaves nothing readable behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from neosian_site.conformance.cases import CASES
from tests.conformance.spoiling import results
from tests.live import server as live_server
from tests.live.server import ROOT, TOKEN, Server

FENCED = ("--scope-prefix", "user:alice", "--id-prefix", "alice-")


def conformance(
    *arguments: str, token: str | None = TOKEN, constrained: str | None = None
) -> subprocess.CompletedProcess[str]:
    """The command, as a person runs it: with no database in sight."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("NEOSIAN_", "DATABASE_URL"))}
    environment |= {"NO_PROXY": "127.0.0.1", "PYTHONDONTWRITEBYTECODE": "1"}
    if token is not None:
        environment["NEOSIAN_CONFORMANCE_TOKEN"] = token
    if constrained is not None:
        environment["NEOSIAN_CONFORMANCE_CONSTRAINED_TOKEN"] = constrained
    return subprocess.run(
        [sys.executable, "manage.py", "conformance", *arguments],
        cwd=ROOT,
        env=environment,
        text=True,
        capture_output=True,
        timeout=300,
    )


def _failed(report: dict[str, Any]) -> list[str]:
    return [f"{case['name']}: {case['reason']}" for case in report["cases"] if case["outcome"] == "FAIL"]


def test_the_server_passes_the_full_profile_with_both_tokens(live: Server) -> None:
    done = conformance("--base-url", live.url, "--json", *FENCED, constrained="tok-alice")

    report = json.loads(done.stdout)
    assert _failed(report) == []
    assert (done.returncode, done.stderr) == (0, "")
    assert [case["name"] for case in report["cases"]] == [case.name for case in CASES]
    skipped = {case["name"]: case["reason"] for case in report["cases"] if case["outcome"] == "SKIP"}
    assert {name for name in skipped if not name.startswith("grants.")} <= {"handshake.mcp_behind_the_gate"}
    assert report["passed"] == len(CASES) - len(skipped)
    assert report["skipped"] == len(skipped)
    assert (report["base_url"], report["profile"], report["wire_version"]) == (live.url, "full", 6)
    assert report["capabilities"]["client"] == "client:default"
    assert list(report["cases"][0]) == ["name", "group", "outcome", "reason", "seconds"]


def test_the_server_passes_the_base_profile(live: Server) -> None:
    done = conformance("--base-url", live.url, "--profile", "base")

    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("FAIL")] == []
    assert done.returncode == 0
    assert "PASS search.hits" in lines
    assert not any("changes." in line or "races." in line for line in lines)
    assert "SKIP authorization.lists - no constrained token was given" in lines
    passed = sum(line.startswith("PASS") for line in lines)
    assert lines[-1] == f"{passed} passed, 0 failed, {len(lines) - 1 - passed} skipped"


def test_what_a_run_wrote_is_redacted_unless_it_is_kept(migrated: str, tmp_path: Path) -> None:
    readable = "SELECT count(*) FROM memory_documentversion WHERE content <> ''"
    spoken = "SELECT count(*) FROM conversations_turn WHERE NOT redacted"
    names = ("--only", "memory", "--only", "ledger", "--only", "conversation", "--only", "store")
    with (
        live_server.database(migrated) as url,
        live_server.running(url, tmp_path / "log", workers=1) as server,
    ):
        assert conformance("--base-url", server.url, *names).returncode == 0
        assert live_server.rows(url, "SELECT count(*) > 50 FROM memory_documentversion") == [(True,)]
        assert live_server.rows(url, readable) == [(0,)]
        assert live_server.rows(url, spoken) == [(0,)]

        assert conformance("--base-url", server.url, *names, "--keep").returncode == 0
        assert live_server.rows(url, readable) != [(0,)]
        assert live_server.rows(url, spoken) != [(0,)]


GRANTS = """
grant_format = 1
[[clients]]
actor = "client:default"
operator = true
[[clients]]
actor = "client:reader"
[[clients.scopes]]
scope = "workspace:team"
read = true
[[clients.conversations]]
prefix = "w-1-"
read = true
"""


def test_a_scoped_server_is_held_to_its_grants(migrated: str, tmp_path: Path) -> None:
    file = tmp_path / "grants.toml"
    file.write_text(GRANTS)
    env = {
        "NEOSIAN_SERVE_TOKEN": f"client:default={TOKEN},client:reader=tok-reader",
        "NEOSIAN_SERVE_GRANTS": str(file),
    }
    with (
        live_server.database(migrated) as url,
        live_server.running(url, tmp_path / "log", workers=1, env=env) as server,
    ):
        fenced = {"constrained_token": "tok-reader", "scope_prefix": "workspace:team", "id_prefix": "w-1-"}
        found = results(server.url, **fenced)
        documents = live_server.rows(url, "SELECT count(*) FROM memory_documentversion")

    assert {name: result.reason for name, result in found.items() if result.outcome == "FAIL"} == {}
    assert {name for name, result in found.items() if result.outcome == "PASS" and name.startswith("grants.")} == {
        case.name for case in CASES if case.group == "grants"
    }
    assert found["memory.write_creates"].reason == "the token's grants reach no fresh scope"
    assert documents == [(0,)]


def test_cases_do_not_lean_on_each_other(live: Server) -> None:
    for case in reversed(CASES):
        if case.group in ("memory", "ledger", "changes"):
            assert results(live.url, case.name)[case.name].outcome == "PASS", case.name
