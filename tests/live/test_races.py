"""Real threads on real connections to several processes: nothing lost, nothing doubled, one winner."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.clients import Answer, LiveClient
from tests.live.integrity import assert_whole
from tests.live.server import Server, managed, rows, together


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


def texts(turns: list[dict[str, Any]]) -> list[str]:
    return [turn["messages"][0]["content"] for turn in turns if turn["messages"]]


@pytest.fixture(autouse=True)
def _rows_are_whole(live: Server) -> Any:
    yield
    assert_whole(live.database_url)
    live.assert_no_fault_logged()


def test_parallel_appends_to_one_conversation_are_numbered_without_gap_and_all_readable(
    live: Server, conversation: str
) -> None:
    with live.clients(16) as clients:
        turns = together(
            16,
            lambda n: clients[n].ok(
                "conversation/append_turn", conversation_id=conversation, messages=said(f"marker{n}")
            )["turn"],
        )
        read = clients[0].ok("conversation/read_turns", conversation_id=conversation)["turns"]
        last = clients[0].ok("conversation/last_turn_number", conversation_id=conversation)
    assert sorted(turn["turn"] for turn in turns) == list(range(1, 17))
    assert sorted(texts(read)) == sorted(f"marker{n}" for n in range(16))
    assert read == sorted(turns, key=lambda turn: turn["turn"])
    assert last == {"turn": 16}


def test_parallel_first_writes_of_a_path_in_a_new_scope_all_succeed(live: Server, scope: str) -> None:
    with live.clients(12) as clients:
        written = together(
            12,
            lambda n: clients[n].ok("memory/write", scope=scope, path="new", content=f"by {n}")["document"],
        )
        listed = clients[0].ok("memory/versions", scope=scope, path="new")
    assert sorted(document["version"] for document in written) == list(range(1, 13))
    assert [row["version"] for row in listed["versions"]] == list(range(12, 0, -1))
    assert [row["action"] for row in listed["versions"]] == ["modified"] * 11 + ["created"]
    assert {row["version"]: row["content"] for row in listed["versions"]} == {
        document["version"]: document["content"] for document in written
    }
    assert len({document["created_at"] for document in written}) == 1


def test_of_two_racing_guarded_writes_one_wins_and_the_loser_changes_nothing(live: Server, scope: str) -> None:
    where = {"scope": scope, "path": "guarded"}
    with live.clients(2) as clients:
        clients[0].ok("memory/write", where, content="1")
        clients[0].ok("memory/write", where, content="2")
        old = clients[0].ok("memory/write", where, content="3")["document"]["version"]
        clients[1].ok("memory/write", where, content="written elsewhere")
        stale = clients[0].post("memory/write", where, content="from the old copy", expected_version=old)
        assert (stale.status, stale.code) == (400, "memory_conflict")
        assert stale.details == {**where, "reason": "version_mismatch", "expected_version": 3, "actual_version": 4}
        for expected in range(4, 44):

            def write(n: int, expected: int = expected) -> Answer:
                return clients[n].post("memory/write", where, content=f"{expected} by {n}", expected_version=expected)

            answers = sorted(together(2, write), key=lambda answer: answer.status)
            assert [answer.status for answer in answers] == [200, 400]
            won, lost = answers
            assert lost.code == "memory_conflict"
            assert lost.details == {
                **where,
                "reason": "version_mismatch",
                "expected_version": expected,
                "actual_version": expected + 1,
            }
            assert won.json["document"]["version"] == expected + 1
            # Not even the time of the loser is left.
            assert clients[0].ok("memory/read", where) == won.json
        assert [row["version"] for row in clients[0].ok("memory/versions", where, limit=100)["versions"]] == list(
            range(44, 0, -1)
        )


def test_many_clients_writing_one_path_blind_get_consecutive_versions(live: Server, scope: str) -> None:
    with live.clients(40) as clients:
        written = together(
            40,
            lambda n: clients[n].ok("memory/write", scope=scope, path="p", content=f"w{n}")["document"],
        )
        listed = clients[0].ok("memory/versions", scope=scope, path="p", limit=100)["versions"]
        read = clients[0].ok("memory/read", scope=scope, path="p")["document"]
    assert sorted(document["version"] for document in written) == list(range(1, 41))
    assert {row["version"]: row["content"] for row in listed} == {d["version"]: d["content"] for d in written}
    assert read == max(written, key=lambda document: document["version"])


def test_two_projects_hammered_at_once_hold_only_their_own_words(live: Server, scope: str, conversation: str) -> None:
    slug = f"p{scope[-12:]}"
    managed(live.database_url, "project", "create", "--name", slug)
    made = managed(live.database_url, "client", "create", "--project", slug, "--actor", "client:b", "--json")
    tokens = {"apricot": "tok-default", "blueberry": json.loads(made)["token"]}
    actors = {"apricot": "client:default", "blueberry": "client:b"}
    words = list(tokens)

    def words_of(answer: dict[str, Any]) -> set[str]:
        text = json.dumps(answer)
        return {word for word in words if word in text}

    def hammer(thread: int) -> None:
        """25 writes of each kind, changing the project at each step, and a look at what is there meanwhile."""
        with live.client(tokens[words[0]]) as first, live.client(tokens[words[1]]) as second:
            for step in range(25):
                for word, client in zip(words, (first, second), strict=True):
                    text = f"{word} {thread} {step}"
                    written = client.ok("memory/write", scope=scope, path=f"d/{thread}/{step % 5}", content=text)
                    assert written["document"]["actor"] == actors[word]
                    client.ok("conversation/append_turn", conversation_id=conversation, messages=said(text))
                    if step % 5 == 0:
                        for foreign in words:
                            found = client.ok("conversation/search_turns", query=foreign, conversations=[conversation])
                            assert bool(found["turns"]) == (foreign == word)
                            assert words_of(found) <= {word}

    # Sixteen connections: eight threads, each with one of each project.
    together(8, hammer)
    for word in words:
        with live.client(tokens[word]) as client:
            history: list[dict[str, Any]] = []
            cursor = None
            for _ in range(5):
                page = client.ok("memory/history", scope=scope, cursor=cursor, limit=100)
                history += page["versions"]
                cursor = page["next_cursor"]
                if cursor is None:
                    break
            assert sorted(row["content"] for row in history) == sorted(
                f"{word} {thread} {step}" for thread in range(8) for step in range(25)
            )
            listed = client.ok("memory/list_documents", scope=scope)["entries"]
            assert [(entry["path"], entry["version"]) for entry in listed] == [
                (f"d/{thread}/{place}", 5) for thread in range(8) for place in range(5)
            ]
            for entry in listed:
                assert words_of(client.ok("memory/read", scope=scope, path=entry["path"])) == {word}
            turns = client.ok("conversation/read_turns", conversation_id=conversation)["turns"]
            assert [turn["turn"] for turn in turns] == list(range(1, 201))
            assert words_of({"turns": turns}) == {word}
            everywhere = client.ok("conversation/search_turns", query=word, limit=500)["turns"]
            assert len([turn for turn in everywhere if turn["conversation_id"] == conversation]) == 200


def test_of_racing_renames_of_one_document_one_wins(live: Server, scope: str) -> None:
    with live.clients(8) as clients:
        clients[0].ok("memory/write", scope=scope, path="src", content="moved")
        answers = together(8, lambda n: clients[n].post("memory/rename", scope=scope, src="src", dst=f"dst{n}"))
        won = [n for n, answer in enumerate(answers) if answer.status == 200]
        assert len(won) == 1
        assert {answer.code for n, answer in enumerate(answers) if n not in won} == {"memory_document_not_found"}
        listed = clients[0].ok("memory/list_documents", scope=scope)["entries"]
        assert [entry["path"] for entry in listed] == [f"dst{won[0]}"]
        history = clients[0].ok("memory/history", scope=scope)["versions"]
        assert [(row["path"], row["version"], row["action"]) for row in history] == [
            (f"dst{won[0]}", 1, "created"),
            ("src", 2, "deleted"),
            ("src", 1, "created"),
        ]


def test_of_racing_renames_to_one_path_one_wins(live: Server, scope: str) -> None:
    with live.clients(8) as clients:
        for n in range(8):
            clients[n].ok("memory/write", scope=scope, path=f"src{n}", content=f"of {n}")
        answers = together(8, lambda n: clients[n].post("memory/rename", scope=scope, src=f"src{n}", dst="dst"))
        won = [n for n, answer in enumerate(answers) if answer.status == 200]
        assert len(won) == 1
        lost = [answer for n, answer in enumerate(answers) if n not in won]
        assert {(answer.code, answer.details["reason"], answer.details["path"]) for answer in lost} == {
            ("memory_conflict", "destination_exists", "dst")
        }
        assert clients[0].ok("memory/read", scope=scope, path="dst")["document"]["content"] == f"of {won[0]}"
        listed = clients[0].ok("memory/list_documents", scope=scope, prefix="src")["entries"]
        assert [entry["path"] for entry in listed] == [f"src{n}" for n in range(8) if n not in won]


def test_crossing_renames_never_deadlock(live: Server, scope: str) -> None:
    with live.clients(8) as clients:
        clients[0].ok("memory/write", scope=scope, path="a", content="x")
        names = ("a", "b")
        for _ in range(5):
            answers = together(
                8, lambda n: clients[n].post("memory/rename", scope=scope, src=names[n % 2], dst=names[1 - n % 2])
            )
            assert {answer.status for answer in answers} <= {200, 400}
            assert {answer.code for answer in answers if answer.status == 400} <= {
                "memory_document_not_found",
                "memory_conflict",
            }
            listed = clients[0].ok("memory/list_documents", scope=scope)["entries"]
            assert len(listed) == 1


def test_of_racing_deletes_one_finds_the_document(live: Server, scope: str) -> None:
    with live.clients(8) as clients:
        clients[0].ok("memory/write", scope=scope, path="p", content="x")
        answers = together(8, lambda n: clients[n].ok("memory/delete", scope=scope, path="p")["deleted"])
        assert sorted(answers) == [False] * 7 + [True]
        rows_left = clients[0].ok("memory/versions", scope=scope, path="p")["versions"]
        assert [(row["version"], row["action"]) for row in rows_left] == [(2, "deleted"), (1, "created")]


def test_a_document_renamed_and_deleted_at_once_goes_one_way(live: Server, scope: str) -> None:
    with live.clients(2) as clients:
        for round_ in range(10):
            src, dst = f"src{round_}", f"dst{round_}"
            clients[0].ok("memory/write", scope=scope, path=src, content="x")

            def change(n: int, src: str = src, dst: str = dst) -> Answer:
                if n:
                    return clients[1].post("memory/rename", scope=scope, src=src, dst=dst)
                return clients[0].post("memory/delete", scope=scope, path=src)

            deleted, renamed = together(2, change)
            moved = clients[0].ok("memory/read", scope=scope, path=dst)["document"]
            if renamed.status == 200:
                assert deleted.json == {"deleted": False}
                assert moved == renamed.json["document"]
            else:
                assert (renamed.code, deleted.json) == ("memory_document_not_found", {"deleted": True})
                assert moved is None


def test_of_racing_restores_one_fills_the_scope(live: Server, scope: str) -> None:
    time = "2026-01-02T03:04:05Z"

    def archive(n: int) -> dict[str, Any]:
        return {
            "scope": scope,
            "documents": [
                {
                    "scope": scope, "path": f"p{place}", "content": f"of {n}", "version": 1, "actor": None,
                    "created_at": time, "updated_at": time, "redacted": False,
                }
                for place in range(20)
            ],
            "versions": [
                {
                    "path": f"p{place}", "content": f"of {n}", "version": 1, "action": "created", "actor": None,
                    "created_at": time, "redacted": False,
                }
                for place in range(20)
            ],
            "redactions": [],
        }  # fmt: skip

    with live.clients(6) as clients:
        answers = together(6, lambda n: clients[n].post("store/restore_scope", archive(n)))
        won = [n for n, answer in enumerate(answers) if answer.status == 200]
        assert len(won) == 1
        assert {(a.code, a.details["reason"]) for n, a in enumerate(answers) if n not in won} == {
            ("memory_conflict", "target_occupied")
        }
        history = clients[0].ok("memory/history", scope=scope)["versions"]
    assert [row["content"] for row in history] == [f"of {won[0]}"] * 20


def test_of_racing_restores_one_fills_the_conversation(live: Server, conversation: str) -> None:
    def archive(n: int) -> dict[str, Any]:
        turns = [
            {
                "conversation_id": conversation,
                "turn": number,
                "messages": said(f"of {n}"),
                "created_at": "2026-01-02T03:04:05Z",
            }
            for number in range(1, 21)
        ]
        return {"conversation_id": conversation, "turns": turns, "projections": []}

    with live.clients(6) as clients:
        answers = together(6, lambda n: clients[n].post("store/restore_conversation", archive(n)))
        won = [n for n, answer in enumerate(answers) if answer.status == 200]
        assert len(won) == 1
        assert {(a.code, a.details["reason"]) for n, a in enumerate(answers) if n not in won} == {
            ("agent_conversation_conflict", "target_occupied")
        }
        turns = clients[0].ok("conversation/read_turns", conversation_id=conversation)["turns"]
    assert texts(turns) == [f"of {won[0]}"] * 20


def test_a_restore_racing_with_first_writes_never_mixes_with_them(live: Server, scope: str) -> None:
    time = "2026-01-02T03:04:05Z"
    document = {
        "scope": scope, "path": "p", "content": "restored", "version": 1, "actor": None,
        "created_at": time, "updated_at": time, "redacted": False,
    }  # fmt: skip
    version = {
        "path": "p", "content": "restored", "version": 1, "action": "created", "actor": None,
        "created_at": time, "redacted": False,
    }  # fmt: skip

    def change(n: int) -> Answer:
        if n:
            return clients[n].post("memory/write", scope=scope, path="p", content=f"written {n}")
        return clients[0].post(
            "store/restore_scope", scope=scope, documents=[document], versions=[version], redactions=[]
        )

    with live.clients(4) as clients:
        restored, *written = together(4, change)
        found = clients[0].ok("memory/versions", scope=scope, path="p")["versions"]
    assert [answer.status for answer in written] == [200] * 3
    if restored.status == 200:
        assert [row["version"] for row in found] == [4, 3, 2, 1]
        assert found[-1]["content"] == "restored"
    else:
        assert restored.details["reason"] == "target_occupied"
        assert [row["version"] for row in found] == [3, 2, 1]


class Answered:
    """The highest number answered so far under each name, and a copy of it at a moment."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._highest: dict[str, int] = {}

    def note(self, name: str, number: int) -> None:
        with self._lock:
            self._highest[name] = max(number, self._highest.get(name, 0))

    def now(self) -> dict[str, int]:
        with self._lock:
            return dict(self._highest)


def test_redacting_a_scope_among_writes_blanks_all_that_came_before_and_nothing_later(live: Server, scope: str) -> None:
    answered = Answered()
    stop = threading.Event()

    def write(client: LiveClient, n: int) -> list[dict[str, int]]:
        for step in range(2000):
            if stop.is_set():
                break
            path = f"p{(n + step) % 3}"
            document = client.ok("memory/write", scope=scope, path=path, content=f"{n} {step}")["document"]
            assert (document["content"], document["redacted"]) == (f"{n} {step}", False)
            answered.note(path, document["version"])
        return []

    def erase(client: LiveClient) -> list[dict[str, int]]:
        before = []
        try:
            for _ in range(8):
                stop.wait(0.1)
                before.append(answered.now())
                assert client.ok("memory/redact", scope=scope)["count"] == 3
            stop.wait(0.1)
        finally:
            stop.set()
        return before

    with live.clients(6) as clients:
        for n in range(3):
            clients[0].ok("memory/write", scope=scope, path=f"p{n}", content="first")
        before = together(6, lambda n: write(clients[n], n) if n else erase(clients[0]))[0]
        trail = clients[0].ok("memory/redactions", scope=scope)["redactions"]
        assert [(act["path"], act["count"]) for act in trail] == [(None, 3)] * 8
        # What is written after the last act stands.
        last = clients[0].ok("memory/write", scope=scope, path="p0", content="after it")["document"]
        assert clients[0].ok("memory/read", scope=scope, path="p0")["document"] == last
    stored = rows(
        live.database_url,
        "SELECT path, version, redacted, content = '' FROM memory_documentversion WHERE scope = %s"
        " ORDER BY path, version",
        [scope],
    )
    assert all(redacted == blank for _, _, redacted, blank in stored)
    for n in range(3):
        flags = [redacted for path, _, redacted, _ in stored if path == f"p{n}"]
        blanked = flags.count(True)
        # An act sees all of a path's rows up to some version or none of them: blank ones come first, without a hole.
        assert flags == [True] * blanked + [False] * (len(flags) - blanked)
        # Whatever had been answered when the act was asked for is blank.
        assert blanked >= before[-1][f"p{n}"] > before[0][f"p{n}"] >= 1
    # The document and its version row never part (``assert_whole`` compares their contents too).
    parted = rows(
        live.database_url,
        "SELECT d.path FROM memory_document d JOIN memory_documentversion v USING (project_id, scope, path, version)"
        " WHERE d.scope = %s AND (d.content, d.redacted) <> (v.content, v.redacted)",
        [scope],
    )
    assert parted == []


def test_redacting_turns_among_appends_and_projections_leaves_no_hole(live: Server, conversation: str) -> None:
    answered = Answered()
    stop = threading.Event()

    def append(client: LiveClient, n: int) -> None:
        for step in range(2000):
            if stop.is_set():
                break
            turn = client.ok(
                "conversation/append_turn", conversation_id=conversation, messages=said(f"needle {n} {step}")
            )["turn"]
            assert (turn["redacted"], texts([turn])) == (False, [f"needle {n} {step}"])
            answered.note("turn", turn["turn"])

    def project(client: LiveClient) -> None:
        for step in range(1, 2000):
            if stop.is_set():
                break
            turn = answered.now().get("turn", 1)
            entry = {"turn": turn, "span": min(turn, 3), "kind": "log", "text": f"needle of {turn}"}
            client.ok("conversation/append_projections", conversation_id=conversation, entries=[entry])
            answered.note("entry", step)

    def erase(client: LiveClient) -> list[dict[str, int]]:
        before = []
        try:
            for _ in range(8):
                stop.wait(0.1)
                before.append(answered.now())
                count = client.ok("conversation/redact_turns", conversation_id=conversation)["count"]
                assert count >= before[-1]["turn"]
            stop.wait(0.1)
        finally:
            stop.set()
        return before

    def work(n: int) -> list[dict[str, int]]:
        if n == 0:
            return erase(clients[0])
        project(clients[1]) if n == 1 else append(clients[n], n)
        return []

    with live.clients(6) as clients:
        clients[0].ok("conversation/append_turn", conversation_id=conversation, messages=said("needle first"))
        answered.note("turn", 1)
        answered.note("entry", 0)
        before = together(6, work)[0]
        trail = clients[0].ok("conversation/turn_redactions", conversations=[conversation])["redactions"]
        found = clients[0].ok("conversation/search_turns", query="needle", conversations=[conversation], limit=500)
    stored = rows(
        live.database_url,
        "SELECT turn, redacted FROM conversations_turn WHERE conversation = %s ORDER BY turn",
        [conversation],
    )
    assert [turn for turn, _ in stored] == list(range(1, len(stored) + 1))
    flags = [redacted for _, redacted in stored]
    blanked = flags.count(True)
    assert flags == [True] * blanked + [False] * (len(flags) - blanked)
    assert blanked >= before[-1]["turn"] > before[0]["turn"] >= 1
    # Each act names turns 1 to some number; the newest one, first in the trail, all that are blank.
    assert [act["turns"] for act in trail] == [list(range(1, act["turns"][-1] + 1)) for act in trail]
    assert [len(act["turns"]) for act in trail] == sorted((len(act["turns"]) for act in trail), reverse=True)
    assert (len(trail), len(trail[0]["turns"])) == (8, blanked)
    assert sorted(turn["turn"] for turn in found["turns"]) == list(range(blanked + 1, len(stored) + 1))[-500:]
    # Entries answered before the last act was asked for stand over turns it matched: all are blank.
    entries = rows(
        live.database_url,
        "SELECT position, text FROM conversations_projection WHERE conversation = %s ORDER BY position",
        [conversation],
    )
    kept = [position for position, text in entries if text]
    assert [position for position, _ in entries] == list(range(1, len(entries) + 1))
    assert kept == list(range(len(entries) - len(kept) + 1, len(entries) + 1))
    assert not kept or kept[0] > before[-1]["entry"]
