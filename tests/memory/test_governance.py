"""Governance of documents: the block's rules, the digest, the states, the policies, the published schema."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neosian_site
from memory.knowledge import header, yaml_subset
from memory.knowledge.governance import Governance, admits, approval_digest, block_fault, judge

SCHEMA = json.loads((Path(neosian_site.__file__).parent / "contracts" / "governance.schema.json").read_text("utf-8"))
SCHEMA_JUDGE = jsonschema.Draft202012Validator(SCHEMA)

START, END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
TICK = timedelta(microseconds=1)
SHA = "0123456789abcdef" * 4
BODY = "1. Tag it.\n"
APPROVAL = {"by": "rita", "at": "2026-01-01T00:00:00Z", "digest": SHA}
DRAFT = {"format": 1, "state": "draft"}
APPROVED = {"format": 1, "state": "approved", "approval": APPROVAL}
SUPERSEDED = {"format": 1, "state": "superseded"}

# SG-20's document and the window that its digest covers.
RELEASE: dict[str, Any] = {
    "knowledge": 1,
    "title": "Release",
    "attributes": {"owner": "ops"},
    "references": ["notes/ci"],
}
RELEASE_DIGEST = "be2d4efdf178ce81af4c60a155d95718df19e8c524655d3e507f2f67ead91438"
RELEASE_TEXT = (
    '---\nknowledge: 1\ntitle: "Release"\nattributes: {"governance": {"approval": {"at": "2026-01-01T00:00:00Z", '
    f'"by": "r", "digest": "{RELEASE_DIGEST}"}}, "effective_at": "2026-01-01T00:00:00Z", '
    '"expires_at": "2027-01-01T00:00:00Z", "format": 1, "state": "approved"}, "owner": "ops"}\n'
    'references: ["notes/ci"]\n---\n1. Tag it.\n'
)


def document(block: Any, body: str = BODY, **keys: Any) -> str:
    return header.render({"knowledge": 1, "attributes": {"governance": block}, **keys}) + body


def approved(mapping: dict[str, Any], body: str, **window: str) -> str:
    """A document whose approval fits what it holds."""
    bounds = [datetime.fromisoformat(window[key]) if key in window else None for key in ("effective_at", "expires_at")]
    digest = approval_digest(mapping, body, *bounds)
    block = {**APPROVED, "approval": {**APPROVAL, "digest": digest}, **window}
    return header.render({**mapping, "attributes": {**mapping.get("attributes", {}), "governance": block}}) + body


def broken(block: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """``block`` with keys set, or taken away where the value is ``...``."""
    return {key: value for key, value in {**block, **changes}.items() if value is not ...}


# The digest


def test_the_digest_covers_header_body_and_window():
    assert approval_digest(RELEASE, BODY, START, END) == RELEASE_DIGEST
    assert (
        approval_digest(RELEASE, "1. Tag it!\n", START, END)
        == "eacb18ce16f838a0507808cdb610dff9524dc62a37a2e434e5a47439effbfb44"
    )


def test_the_digest_does_not_cover_sources_or_the_block_itself():
    digest = "b45cd7270ec76def57378858bd87fb6ae24d82d4fda03ac2712ebf609de86aa0"
    plain: dict[str, Any] = {"knowledge": 1, "title": "Release"}
    source = {"kind": "file", "name": "x", "sha256": SHA, "bytes": 1}
    assert approval_digest(plain, BODY, None, None) == digest
    assert approval_digest({**plain, "sources": [source]}, BODY, None, None) == digest
    assert approval_digest({**plain, "attributes": {}}, BODY, None, None) == digest
    assert approval_digest({**plain, "attributes": {"governance": APPROVED}}, BODY, None, None) == digest


@pytest.mark.parametrize(
    ("effective_at", "expires_at", "digest"),
    [
        (None, None, "69d3dc2ef777aa5ea70b7b2e0dec936bb6d2c990d082ab35ae43bf807ff3fb6e"),
        ("2001-01-01T05:30:00+05:30", None, "e4fc7b964017cbbdcc2c1bd4d137b203f9d300dc7e66ad4f7016fba524b80bcf"),
        (None, "2998-12-31T16:00:00-08:00", "c9f93c7fdd50c67936ed0559272f8a749d77ff471676c0de4057238abef73622"),
        # Zeros at the end of a fraction do not enter.
        (
            "2001-01-01T00:00:00.000Z",
            "2999-01-01T00:00:00.120000Z",
            "31b6fdfce1a9ef22192d467e099357aa511209f85f9896dc7796d288b2e70097",
        ),
    ],
)
def test_times_enter_the_digest_in_one_spelling(effective_at, expires_at, digest):
    bounds = {"effective_at": effective_at, "expires_at": expires_at}
    block = {**APPROVED, "approval": {**APPROVAL, "digest": digest}} | {k: v for k, v in bounds.items() if v}
    assert judge(document(block, "needle\n", title="T")).state == "approved"


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Release 2"}, {"title": ...}, {"description": "x"}, {"references": []}, {"references": ["notes/cd"]},
        {"attributes": {"owner": "dev"}}, {"attributes": {"owner": "ops", "more": 1}}, {"attributes": {}},
        {"skill": {}},
        {"mine": "x"}, {"title": None},
    ],
    ids=str,
)  # fmt: skip
def test_every_key_of_the_header_is_covered(change):
    assert approval_digest(broken(RELEASE, **change), BODY, START, END) != RELEASE_DIGEST


# The states


@pytest.mark.parametrize(
    ("moment", "state"),
    [
        (START - TICK, "scheduled"),
        (START, "approved"),
        (END - timedelta(seconds=1), "approved"),
        (END - TICK, "approved"),
        (END, "expired"),
        (END.replace(year=9999), "expired"),
    ],
)
def test_an_approval_holds_from_its_start_to_before_its_end(moment, state):
    assert judge(RELEASE_TEXT) == Governance("approved", START, END)
    assert judge(RELEASE_TEXT).state_at(moment) == state


@pytest.mark.parametrize(
    "content",
    [
        "", "text", "---\ntext", "---\ntitle: x\n---\nB", '---\nknowledge: 1\ntitle: "T"\n---\nB',
        '---\nknowledge: 1\nattributes: {"owner": "ops"}\n---\nB', "---\nknowledge: 1\nattributes:\n---\nB",
        "---\ngovernance: {format: 1, state: draft}\n---\nB",
        "---\nknowledge: 1\ngovernance: {format: 1, state: draft}\n---\nB",
        "---\nattributes: {governance: {format: 1, state: draft}}\n---\nB",
        "text\n---\nknowledge: 1\nattributes: {governance: draft}\n---\n",
    ],
    ids=ascii,
)  # fmt: skip
def test_what_has_no_block_is_unmanaged(content):
    assert judge(content) == Governance("unmanaged")


@pytest.mark.parametrize(
    "content",
    [
        "---\nknowledge: 2\n---\nB",
        "---\nknowledge: 1\ntitle: [\n---\nB",
        "---\nknowledge: 1\nB without an end",
        "---\nknowledge: 1\ntitle: ''\n---\nB",
        '---\nknowledge: 1\nattributes: {"a": 1.5}\n---\nB',
        "---\nknowledge: 1\nattributes: {governance: {format: 1, state: draft}, A: 1}\n---\nB",
    ],
    ids=ascii,
)
def test_a_broken_header_is_invalid(content):
    assert judge(content) == Governance("invalid")


def test_a_header_in_any_spelling_carries_the_block():
    spelled = "---\nknowledge: 1\nattributes:\n  governance:\n    format: 1\n    state: draft # for now\n---\nB"
    assert judge(spelled) == Governance("draft")
    assert (
        judge("---\r\n{knowledge: 1, attributes: {governance: {state: 'draft', format: 1}}}\r\n---\r\nB").state
        == "draft"
    )


def test_the_first_row_of_the_table_that_fits_is_the_state():
    moments = (START - TICK, START, END)
    past = {"effective_at": "2001-01-01T00:00:00Z", "expires_at": "2002-01-01T00:00:00Z"}
    for block, state in [
        # A wrong digest or a past window does not matter before its row.
        ({**DRAFT, **past}, "draft"),
        ({**SUPERSEDED, **past}, "superseded"),
        ({**SUPERSEDED, "approval": APPROVAL}, "superseded"),
        ({**APPROVED, **past}, "stale"),
        ({**APPROVED, "state": "draft"}, "invalid"),
        ({**DRAFT, "format": 2}, "invalid"),
    ]:
        governed = judge(document(block))
        assert governed == Governance(state)
        assert [governed.state_at(moment) for moment in moments] == [state] * 3


def test_an_edit_makes_stale_and_its_undoing_approves_again():
    text = approved({"knowledge": 1, "title": "T"}, "needle\n")
    assert judge(text) == Governance("approved")
    assert judge(text + "more\n") == Governance("stale")
    assert judge(text.replace("needle", "noodle")) == Governance("stale")
    assert judge(text.replace('"T"', '"T2"')) == Governance("stale")
    assert judge(text.replace('"format": 1', '"format": 1, "expires_at": "2999-01-01T00:00:00Z"')) == Governance(
        "stale"
    )
    assert judge(text.replace("needle", "noodle").replace("noodle", "needle")) == Governance("approved")


def test_provenance_reviewer_and_spelling_are_not_covered():
    text = approved({"knowledge": 1, "title": "T"}, "needle\n")
    source = f'sources: [{{"bytes": 3, "kind": "file", "name": "a.md", "sha256": "{SHA}"}}]\n'
    assert judge(text.replace("---\nneedle", source + "---\nneedle")).state == "approved"
    assert (
        judge(text.replace("rita", "sam").replace("2026-01-01T00:00:00Z", "2024-05-05T05:05:05+02:00")).state
        == "approved"
    )
    assert judge(text.replace('title: "T"', "title:   T   # the title")).state == "approved"


@pytest.mark.parametrize(
    "body", ["", "x" * 3_000_000, "é\r\n\x7f\u2028😀", "---\nknowledge: 2\n---\n"], ids=lambda body: ascii(body[:9])
)
def test_any_body_can_be_approved_whatever_its_length(body):
    assert judge(approved({"knowledge": 1}, body)) == Governance("approved")
    assert judge(approved({"knowledge": 1}, body) + "x") == Governance("stale")


def test_a_bound_on_one_side_leaves_the_other_open():
    from_start = judge(approved({"knowledge": 1}, BODY, effective_at="2026-01-01T00:00:00+00:00"))
    to_end = judge(approved({"knowledge": 1}, BODY, expires_at="2027-01-01T01:00:00+01:00"))
    assert (from_start, to_end) == (Governance("approved", START), Governance("approved", None, END))
    moments = (START - TICK, START, END - TICK, END)
    assert [from_start.state_at(moment) for moment in moments] == ["scheduled", "approved", "approved", "approved"]
    assert [to_end.state_at(moment) for moment in moments] == ["approved", "approved", "approved", "expired"]


def test_a_document_without_a_fence_is_never_parsed(monkeypatch):
    monkeypatch.delattr(yaml_subset, "read")
    monkeypatch.delattr(header, "_CLOSING")
    assert judge("x\n---\nknowledge: 1\n---\n" * 100_000) == Governance("unmanaged")


@given(st.text() | st.text().map("---\nknowledge: 1\n{}".format) | st.text().map("---\n{}\n---\n".format))
def test_any_text_has_a_state(content):
    assert judge(content).state in {"unmanaged", "invalid"}


# The policies


@pytest.mark.parametrize(
    ("content", "admitted"),
    [
        ("text", ["all", "effective"]),
        (RELEASE_TEXT, ["all", "effective", "approved"]),
        (RELEASE_TEXT + "x", ["all"]),
        (document(DRAFT), ["all"]),
        (document(SUPERSEDED), ["all"]),
        (document({}), ["all"]),
        (approved({"knowledge": 1}, BODY, effective_at="2026-06-01T00:00:00Z"), ["all"]),
        (approved({"knowledge": 1}, BODY, expires_at="2026-01-01T00:00:00Z"), ["all"]),
    ],
    ids=["unmanaged", "approved", "stale", "draft", "superseded", "invalid", "scheduled", "expired"],
)
def test_a_policy_lets_its_states_through(content, admitted):
    assert [policy for policy in ("all", "effective", "approved") if admits(policy, judge(content), START)] == admitted


def test_the_window_is_judged_at_the_instant_asked_for():
    governed = judge(RELEASE_TEXT)
    for policy in ("effective", "approved"):
        assert [admits(policy, governed, moment) for moment in (START - TICK, START, END - TICK, END)] == [
            False, True, True, False,
        ]  # fmt: skip


def test_an_unknown_policy_is_no_selection():
    with pytest.raises(KeyError):
        admits("none", Governance("approved"), START)


# The block


@pytest.mark.parametrize(
    "block",
    [
        DRAFT, APPROVED, SUPERSEDED, {**DRAFT, "effective_at": "2026-01-01T00:00:00Z"},
        {**APPROVED, "effective_at": "2026-01-01T00:00:00Z", "expires_at": "2026-01-01T00:00:00.000001Z"},
        {**APPROVED, "effective_at": "2026-01-01T00:00:00+00:01", "expires_at": "2026-01-01T00:00:00Z"},
        {**APPROVED, "approval": {**APPROVAL, "by": "é" * 256, "note": "😀" * 1000}},
        {**APPROVED, "approval": {**APPROVAL, "by": " ", "note": " "}}, {**SUPERSEDED, "approval": APPROVAL},
        {**SUPERSEDED, "superseded_by": "notes/b"}, {**SUPERSEDED, "superseded_by": "user:me/team:x#notes/b"},
        {**SUPERSEDED, "superseded_by": "/".join(["a" * 30] * 16), "approval": APPROVAL,
        "expires_at": "2026-01-01T00:00:00Z"},
    ],
    ids=lambda block: ascii(block)[:70],
)  # fmt: skip
def test_a_block_that_keeps_the_rules_has_no_fault(block):
    assert block_fault(block) is None
    assert SCHEMA_JUDGE.is_valid(block)
    assert judge(document(block)).state == ("stale" if block["state"] == "approved" else block["state"])


def with_approval(**changes: Any) -> dict[str, Any]:
    return {**APPROVED, "approval": broken(APPROVAL, **changes)}


WRONG_KEYS = (
    "governance must hold format, state and no key outside "
    "approval, effective_at, expires_at, format, state, superseded_by"
)


@pytest.mark.parametrize(
    ("block", "fault"),
    [
        *((value, "governance must be an object") for value in [None, "approved", [], ["draft"], 1, True]),
        *(
            (block, WRONG_KEYS)
            for block in [
                {},
                broken(APPROVED, state=...),
                broken(APPROVED, format=...),
                {**APPROVED, "reviewed": True},
                {**DRAFT, "Approval": APPROVAL},
            ]
        ),
        *(({**APPROVED, "format": value}, "format must be 1") for value in [0, 2, "1", True, None, [1]]),
        *(
            ({**APPROVED, "state": value}, "state must be draft, approved or superseded")
            for value in ["final", "Approved", "", None, 1, ["draft"], {}, "unmanaged", "stale"]
        ),
        *(
            ({**APPROVED, "effective_at": value}, "effective_at must be a timestamp with an offset")
            for value in [None, 1, "", {}]
        ),
        *(
            ({**DRAFT, "expires_at": value}, "expires_at must be a timestamp with an offset")
            for value in [None, "2026-01-01"]
        ),
        *(
            ({**APPROVED, "effective_at": start, "expires_at": end}, "effective_at must be before expires_at")
            for start, end in [
                ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
                ("2026-01-01T00:00:00Z", "2026-01-01T00:59:59+01:00"),
                ("2999-01-01T00:00:00Z", "2001-01-01T00:00:00Z"),
                ("2026-01-01T00:00:00.1Z", "2026-01-01T00:00:00.100Z"),
            ]
        ),
        ({**DRAFT, "superseded_by": "notes/x"}, "superseded_by needs the state superseded"),
        ({**APPROVED, "superseded_by": "notes/x"}, "superseded_by needs the state superseded"),
        ({**SUPERSEDED, "superseded_by": None}, "a reference must be a string"),
        ({**SUPERSEDED, "superseded_by": ["a"]}, "a reference must be a string"),
        ({**DRAFT, "approval": APPROVAL}, "a draft has no approval"),
        ({**DRAFT, "approval": None}, "a draft has no approval"),
        (broken(APPROVED, approval=...), "approved needs an approval"),
        *(({**APPROVED, "approval": value}, "approval must be an object") for value in [None, "rita", [], True]),
        ({**SUPERSEDED, "approval": None}, "approval must be an object"),
        *(
            (block, "approval must hold at, by, digest and at most a note")
            for block in [
                with_approval(by=...),
                with_approval(at=...),
                with_approval(digest=...),
                with_approval(z=1),
                {**SUPERSEDED, "approval": {}},
            ]
        ),
        *((with_approval(by=value), "by must be 1 to 256 characters") for value in ["", "x" * 257, None, 1, ["rita"]]),
        *((with_approval(at=value), "at must be a timestamp with an offset") for value in ["yesterday", None, 0]),
        *(
            (with_approval(digest=value), "digest must be 64 lower-case hexadecimal digits")
            for value in ["", "ab", SHA.upper(), SHA + "0", SHA[:-1] + "g", SHA + "\n", None, 0]
        ),
        *((with_approval(note=value), "note must be 1 to 1000 characters") for value in ["", "x" * 1001, None, 1]),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_one_broken_rule_makes_the_block_invalid(block, fault):
    assert block_fault(block) == fault
    assert SCHEMA_JUDGE.is_valid(block) is (fault == "effective_at must be before expires_at")
    assert judge(document(block)) == Governance("invalid")


@pytest.mark.parametrize(
    "reference",
    [
        "", "/x", "x/", "a//b", "a b", ".", "..", "a/..", "a/./b", "a#b", "#a", "user:me#", "user:me#/a", "user:me#a#b",
        "user:.#a", "me#a", "User:me#a", "user:me/#a", "é", "a\n", "user:me#a\n", "a" * 129, "/".join(["a"] * 17),
        "/".join(["a" * 100] * 6), "/".join(["u:a"] * 9) + "#a", "/".join(["u:" + "a" * 100] * 6) + "#a", "notes/x ",
    ],
    ids=lambda reference: ascii(reference)[:30],
)  # fmt: skip
def test_a_successor_is_a_reference(reference):
    block = {**SUPERSEDED, "superseded_by": reference}
    assert str(block_fault(block)).startswith("a reference must be a document path, or a scope, '#' and a path: ")
    assert not SCHEMA_JUDGE.is_valid(block)
    assert judge(document(block)) == Governance("invalid")


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-01T00:00:00Z", START),
        ("2026-01-01T05:30:00+05:30", START),
        ("2025-12-31T16:00:00-08:00", START),
        ("2026-01-01T00:00:00-00:00", START),
        ("2026-01-01T23:59:00+23:59", START),
        ("2026-01-01T00:00:00.1Z", START + timedelta(milliseconds=100)),
        ("2026-01-01T00:00:00.000001Z", START + TICK),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00:00-01:00", datetime(1, 1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    ],
)
def test_a_timestamp_is_an_instant_in_utc(text, moment):
    assert SCHEMA_JUDGE.is_valid({**DRAFT, "effective_at": text})
    governed = judge(approved({"knowledge": 1}, BODY, effective_at=text))
    assert governed == Governance("approved", moment)
    assert governed.effective_at is not None
    assert governed.effective_at.utcoffset() == timedelta()


# Well spelled, but no instants: the two things about a timestamp that the schema cannot say.
UNREAL = [
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00+00:01",
    "9999-12-31T23:59:59-00:01",
]
MISSPELLED = [
    "", "now", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01t00:00:00Z", "2026-01-01T00:00:00z",
    "2026-01-01 00:00:00Z", "2026-01-01T00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00.1234567Z",
    "2026-01-01T00:00:00,1Z", "2026-01-01T00:00:60Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
    "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-00T00:00:00Z",
    "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+01", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00+00:60",
    "2026-01-01T00:00:00+01:00:00", "26-01-01T00:00:00Z", "12026-01-01T00:00:00Z", "20260101T000000Z",
    "2026-W01-1T00:00:00Z", " 2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z\n", "2026-01-01T00:00:00Z ",
    "\u0662026-01-01T00:00:00Z", "2026-1-1T00:00:00Z",
]  # fmt: skip


@pytest.mark.parametrize("text", MISSPELLED + UNREAL, ids=ascii)
@pytest.mark.parametrize("key", ["effective_at", "expires_at", "at"])
def test_anything_else_is_no_timestamp(key, text):
    block = with_approval(at=text) if key == "at" else {**APPROVED, key: text}
    assert block_fault(block) == f"{key} must be a timestamp with an offset"
    assert SCHEMA_JUDGE.is_valid(block) is (text in UNREAL)
    assert judge(document(block)) == Governance("invalid")


# The published schema


def test_the_schema_is_one_and_names_itself_by_no_address():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"] == "urn:neosian-site:contract:governance:1"


def test_the_schema_prints_the_states_the_policies_follow():
    at = {"unmanaged": "text", "approved": RELEASE_TEXT, "stale": RELEASE_TEXT + "x", "invalid": document({})}
    at |= {
        "draft": document(DRAFT),
        "superseded": document(SUPERSEDED),
        "scheduled": RELEASE_TEXT,
        "expired": RELEASE_TEXT,
    }
    moments = {"scheduled": START - TICK, "expired": END}
    rows = SCHEMA["x-states"]
    assert [row["state"] for row in rows] == [
        "unmanaged", "invalid", "invalid", "draft", "superseded", "stale", "scheduled", "expired", "approved",
    ]  # fmt: skip
    for row in rows:
        assert row.keys() == {"condition", "state", "effective", "approved"}
        governed, moment = judge(at[row["state"]]), moments.get(row["state"], START)
        assert governed.state_at(moment) == row["state"]
        for policy in ("effective", "approved"):
            assert row[policy] == ("in" if admits(policy, governed, moment) else "out")


odd = st.sampled_from([None, True, 0, 1, 2, "", "x", [], {}, SHA, "draft", "approved", "superseded"])
timestamps = st.sampled_from(["2026-01-01T00:00:00Z", "2026-06-01T00:00:00.5+02:00", *UNREAL, *MISSPELLED])
references = st.sampled_from(["notes/a", "user:me#a", "..", "a/..", "a#b", "/a", "a\n", "x" * 513])
approvals = st.fixed_dictionaries(
    {"by": st.sampled_from(["r", "r" * 256, "r" * 257]), "at": timestamps, "digest": st.sampled_from([SHA, SHA[1:]])},
    optional={"note": st.sampled_from(["n", "n" * 1000, "n" * 1001])},
)
blocks = st.fixed_dictionaries(
    {"format": st.just(1), "state": st.sampled_from(["draft", "approved", "superseded"])},
    optional={
        "effective_at": timestamps, "expires_at": timestamps, "superseded_by": references,
        "approval": st.just(APPROVAL) | approvals,
    },
)  # fmt: skip


@given(blocks, st.dictionaries(st.sampled_from(["format", "state", "effective_at", "approval", "x"]), odd, max_size=1))
def test_the_schema_and_the_judge_agree(block, changes):
    block = {**block, **changes}
    fault = block_fault(block)
    if SCHEMA_JUDGE.is_valid(block):
        unreal = {block.get("effective_at"), block.get("expires_at"), block.get("approval", {}).get("at")} & set(UNREAL)
        assert fault is None or fault == "effective_at must be before expires_at" or unreal
    else:
        assert fault is not None
    assert (judge(document(block)).state == "invalid") is (fault is not None)
