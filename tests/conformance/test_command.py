"""``manage.py conformance``: its command line, its exit status, and what it never prints."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from neosian_site.conformance import http
from neosian_site.conformance.cases import CASES
from neosian_site.management.commands.conformance import Command
from tests.conformance.spoiling import Call, Reply, Spoiled
from tests.live.server import TOKEN, Server, free_port


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Iterator[object]:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = Command().run(list(arguments), prog_name="manage.py conformance")
        found = capsys.readouterr()
        return status, found.out, found.err

    return run


def _through(monkeypatch: pytest.MonkeyPatch, spoil: object) -> None:
    """Whatever the command asks goes through ``spoil``."""
    client = httpx.Client

    def spoiled(**options: object) -> httpx.Client:
        return client(**{**options, "transport": Spoiled(spoil)})

    monkeypatch.setattr(http.httpx, "Client", spoiled)


def test_the_list_names_every_case_and_asks_nobody(run) -> None:
    status, out, _ = run("--list")

    assert status == 0
    assert [line.split()[0] for line in out.splitlines()[1:]] == [case.name for case in CASES]

    status, out, _ = run("--list", "--json", "--profile", "base", "--only", "store", "--only", "search.hits")
    assert json.loads(out) == {
        "cases": [
            {"name": "store.as_declared", "group": "store", "profile": "base", "needs": []},
            {"name": "search.hits", "group": "search", "profile": "base", "needs": ["memory_search"]},
        ]
    }


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((), "give --base-url"),
        (("--base-url", "ftp://x", "--token", "t"), "must be an http or https address"),
        (("--base-url", "http://", "--token", "t"), "must be an http or https address"),
        (("--base-url", "http://x:99999", "--token", "t"), "must be an http or https address"),
        (("--base-url", "http://x/?a=b", "--token", "t"), "must be an http or https address"),
        (("--base-url", "http://me:secret@x", "--token", "t"), "must hold no credentials"),
        (("--base-url", "http://127.0.0.1:1"), "give --token"),
        (("--base-url", "http://127.0.0.1:1", "--token", "tok secret\n"), "--token holds blanks"),
        (("--base-url", "http://127.0.0.1:1", "--token", "t", "--scope-prefix", "user:a"), "--constrained-token"),
        (("--base-url", "http://127.0.0.1:1", "--token", "t", "--constrained-token", "u"), "give --scope-prefix"),
        (("--base-url", "http://127.0.0.1:1", "--token", "t", "--only", "nonsense"), "called nonsense"),
        (("--base-url", "http://127.0.0.1:1", "--token", "t", "--profile", "half"), "half"),
    ],
)
def test_a_wrong_command_line_is_2_and_says_what_is_wrong(run, arguments: tuple[str, ...], hint: str) -> None:
    status, out, err = run(*arguments)

    assert (status, out) == (2, "")
    assert hint in err
    assert "secret" not in err


def test_a_server_nobody_runs_is_2(run) -> None:
    status, out, err = run("--base-url", f"http://127.0.0.1:{free_port()}", "--token", "some-token")

    assert (status, out) == (2, "")
    assert err == "error: cannot reach the server: GET capabilities: no answer (ConnectError)\n"


def test_a_token_that_is_not_taken_is_2(live: Server, run) -> None:
    assert run("--base-url", live.url, "--token", "wrong") == (2, "", "error: the server does not take the token\n")

    constrained = ("--constrained-token", "wrong", "--id-prefix", "a")
    status, _, err = run("--base-url", live.url, "--token", TOKEN, *constrained)
    assert (status, err) == (2, "error: the server does not take the constrained token\n")


def test_a_constrained_first_token_is_2(live: Server, run) -> None:
    status, out, err = run("--base-url", live.url, "--token", "tok-alice")

    assert (status, out) == (2, "")
    assert "give an unconstrained one" in err


def test_a_failure_is_1_with_its_line_and_the_summary(live: Server, run, monkeypatch: pytest.MonkeyPatch) -> None:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "memory/delete" and reply.good:
            reply.body["deleted"] = "yes"
        return reply

    _through(monkeypatch, spoil)
    status, out, _ = run("--base-url", f"{live.url}/", "--token", TOKEN, "--only", "memory.delete", "--only", "policy")

    assert status == 1
    assert out.splitlines()[0] == 'FAIL memory.delete - memory/delete.deleted: expected true or false, got "yes"'
    assert out.splitlines()[-1] == "5 passed, 1 failed, 0 skipped"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_what_a_server_says_cannot_disturb_a_terminal(
    live: Server, run, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        if call.route == "memory/delete" and reply.good:
            reply.body["deleted"] = "\x1b[2J\ud800\r\nPASS all"
        if call.route == "capabilities" and reply.good:
            reply.body["more"] = "\x1b[2J\ud800"
        return reply

    _through(monkeypatch, spoil)
    status, out, _ = run("--base-url", live.url, "--token", TOKEN, "--only", "memory.delete", *form)

    assert status == 1
    assert "\x1b[2J" not in out
    assert out.encode()
    assert len(out.splitlines()) == (1 if form else 2)


def test_a_run_in_which_nothing_ran_is_1(live: Server, run) -> None:
    status, out, _ = run("--base-url", live.url, "--token", TOKEN, "--only", "grants")

    assert status == 1
    assert out.splitlines()[-1] == "0 passed, 0 failed, 8 skipped"


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_token_is_never_printed_whatever_the_server_says(
    live: Server, run, monkeypatch: pytest.MonkeyPatch, form: tuple[str, ...]
) -> None:
    def spoil(call: Call) -> Reply:
        reply = call.forward()
        sent = call.request.headers.get("authorization", "")
        if call.route == "capabilities" and reply.good:
            reply.body["debug"] = sent
        elif call.route == "memory/read":
            # Where the text of an answer is cut, half a token would be left.
            return Reply(500, f"{'x' * (160 - len(sent) // 2)}{sent}".encode(), {"content-type": "text/plain"})
        elif reply.good and isinstance(reply.body, dict):
            reply.body[sent] = sent
        return reply

    _through(monkeypatch, spoil)
    fenced = ("--constrained-token", "tok-alice", "--scope-prefix", "user:alice")
    status, out, err = run("--base-url", live.url, "--token", TOKEN, *fenced, *form, "--profile", "base")

    assert status == 1
    for token in (TOKEN, "tok-alice"):
        assert token not in out + err
        assert f"Bearer {token[:-2]}" not in out + err
    assert "[token]" in out
