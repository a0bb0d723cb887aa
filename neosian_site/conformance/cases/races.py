"""Several connections at once: one winner where the contract has one, nothing lost anywhere."""

from __future__ import annotations

from neosian_site.conformance.archives import scope_unit
from neosian_site.conformance.checks import same
from neosian_site.conformance.registry import FULL, case
from neosian_site.conformance.session import Session, outcome, together

WRITERS = 8
ROUNDS = 3


@case("races.one_fenced_writer_wins", "supports_optimistic_concurrency", profile=FULL)
def one_fenced_writer_wins(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "start")
    for version in range(1, ROUNDS + 1):
        answers = together(
            WRITERS,
            lambda writer, version=version: session.ask(  # type: ignore[misc]
                "memory/write", scope=scope, path="a", content=f"{version}-{writer}", expected_version=version
            ),
        )
        won = [found for answer in answers if (found := outcome("memory/write", answer, "memory_conflict"))]
        same(len(won), 1, f"writers that passed one fence at version {version}")
        same(session.read(scope, "a"), won[0]["document"], "the document after the race")
    same([row["version"] for row in session.versions(scope, "a")], [4, 3, 2, 1], "versions after the races")


@case("races.every_blind_writer_lands", "supports_optimistic_concurrency", profile=FULL)
def every_blind_writer_lands(session: Session) -> None:
    scope = session.scope()
    made = together(WRITERS, lambda writer: [session.write(scope, "a", f"{writer}-{n}") for n in range(3)])
    written = {document["version"]: document["content"] for documents in made for document in documents}
    same(sorted(written), list(range(1, 3 * WRITERS + 1)), "the versions the writers were given")
    kept = {row["version"]: row["content"] for row in session.versions(scope, "a")}
    same(sorted(kept.items()), sorted(written.items()), "the versions kept")


@case("races.turns_have_no_gap", profile=FULL)
def turns_have_no_gap(session: Session) -> None:
    conversation = session.conversation()
    said = together(WRITERS, lambda writer: [session.say(conversation, f"{writer}-{n}") for n in range(4)])
    given = {turn["turn"]: turn["messages"] for turns in said for turn in turns}
    same(sorted(given), list(range(1, 4 * WRITERS + 1)), "the numbers the turns were given")
    kept = {turn["turn"]: turn["messages"] for turn in session.turns(conversation)}
    same(sorted(kept.items()), sorted(given.items()), "the turns kept")


@case("races.one_rename_wins", "supports_optimistic_concurrency", profile=FULL)
def one_rename_wins(session: Session) -> None:
    scope = session.scope()
    for writer in range(WRITERS):
        session.write(scope, f"a{writer}", f"{writer}")
    answers = together(WRITERS, lambda writer: session.ask("memory/rename", scope=scope, src=f"a{writer}", dst="b"))
    won = [found for answer in answers if (found := outcome("memory/rename", answer, "memory_conflict"))]
    same(len(won), 1, "renames to one destination that succeeded")
    same(len(session.entries(scope)), WRITERS, "documents after the race")
    same(session.read(scope, "b"), won[0]["document"], "the document at the destination")


@case("races.one_delete_counts", "supports_optimistic_concurrency", profile=FULL)
def one_delete_counts(session: Session) -> None:
    scope = session.scope()
    session.write(scope, "a", "x")
    found = together(WRITERS, lambda _: session.ok("memory/delete", scope=scope, path="a")["deleted"])
    same(sorted(found), [False] * (WRITERS - 1) + [True], "deletes of one document")
    same([row["version"] for row in session.versions(scope, "a")], [2, 1], "versions after the deletes")


@case("races.one_restore_lands", "portable", profile=FULL)
def one_restore_lands(session: Session) -> None:
    scope = session.scope()
    unit = scope_unit(scope)
    answers = together(4, lambda _: session.ask("store/restore_scope", **unit))
    won = [found for answer in answers if (found := outcome("store/restore_scope", answer, "memory_conflict")) == {}]
    same(len(won), 1, "restores into one scope that succeeded")
    same(len(session.history(scope)), len(unit["versions"]), "rows after the race")
