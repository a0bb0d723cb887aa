from __future__ import annotations

import json
import random

import pytest

from tests.contract.wire.memory_ground import (
    archive,
    document_row,
    filled,
    moment,
    redaction_row,
    stored,
    unchanged,
    version_row,
)

GOOD = archive([document_row("good")], [version_row("good")], [redaction_row("good")])
ROWS = {"documents": document_row, "versions": version_row, "redactions": redaction_row}
REQUIRED = {
    "documents": ["scope", "path", "content", "version", "created_at", "updated_at", "actor", "redacted"],
    "versions": ["path", "version", "action", "content", "actor", "created_at", "redacted"],
    "redactions": ["path", "actor", "created_at", "count"],
}
NULLABLE = {("documents", "actor"), ("versions", "actor"), ("redactions", "actor"), ("redactions", "path")}


def with_bad(kind, row):
    """The good archive with one bad row at the end of one of its lists."""
    return GOOD | {kind: [*GOOD[kind], row]}


def refused_whole(wire, body, code="value_error"):
    with unchanged():
        refused = wire.post("store/restore_scope", body)
    assert (refused.status, refused.code) == (400, code), refused.body
    assert stored()["memory_scope"] == []
    return refused


# What is kept


def test_everything_comes_back_verbatim(wire):
    documents = [
        document_row(
            "a", content="é\r\n", version=3, actor=None, extra={"z": {"b": 1, "a": [1, 2.5, None, "é"]}, "a": ""}
        ),
        document_row("b/c", content="", version=2, redacted=True, actor="client:y"),
    ]
    versions = [
        version_row("a", 1, created_at=moment(1)),
        version_row("a", 3, created_at=moment(3), actor=None),
        version_row("b/c", 2, created_at=moment(4), content="", redacted=True),
        version_row("gone", 4, created_at=moment(5), action="deleted", content="last words"),
    ]
    redactions = [
        redaction_row("b/c", created_at=moment(6)),
        redaction_row(None, created_at=moment(7), count=2, actor=None),
    ]
    assert wire.ok("store/restore_scope", archive(documents, versions, redactions)) == {}
    for row in documents:
        assert wire.ok("memory/read", scope="user:r", path=row["path"])["document"] == row
    listed = wire.ok("memory/list_documents", scope="user:r")["entries"]
    assert listed == [
        {key: row[key] for key in ("path", "version", "created_at", "updated_at", "redacted")} for row in documents
    ]
    assert wire.ok("memory/history", scope="user:r")["versions"] == versions[::-1]
    assert wire.ok("memory/versions", scope="user:r", path="a")["versions"] == [versions[1], versions[0]]
    assert wire.ok("memory/versions", scope="user:r", path="gone")["versions"] == [versions[3]]
    assert wire.ok("memory/redactions", scope="user:r")["redactions"] == redactions[::-1]


def test_extra_keeps_its_key_order_and_spelling(wire):
    extra = '{"z":1,"a":{"y":[],"b":null},"_":-0.0,"big":123456789012345678901234567890,"é\\"":"\\\\u0000"}'
    body = json.dumps(archive([document_row(extra={"mark": 1})])).replace('{"mark": 1}', extra)
    assert wire.raw("POST", "/v1/store/restore_scope", body.encode()).status == 200
    answer = wire.post("memory/read", scope="user:r", path="x").body.decode()
    assert answer.endswith(f'"extra":{extra}}}}}')


def test_extra_may_use_the_names_of_fields(wire):
    extra = {"version": 99, "neosian_format": 2, "content": "no", "redacted": True}
    wire.ok("store/restore_scope", archive([document_row(extra=extra)]))
    assert wire.ok("memory/read", scope="user:r", path="x")["document"] == document_row(extra=extra)


@pytest.mark.parametrize("extra", [None, {}])
def test_extra_may_be_empty_null_or_absent(wire, extra):
    absent = {key: value for key, value in document_row("b").items() if key != "extra"}
    wire.ok("store/restore_scope", archive([document_row("a", extra=extra), absent]))
    for path in ("a", "b"):
        assert wire.ok("memory/read", scope="user:r", path=path)["document"]["extra"] == {}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2026-03-01T15:30:05+05:30", "2026-03-01T10:00:05Z"),
        ("2026-03-01T10:00:05.100Z", "2026-03-01T10:00:05.100000Z"),
        ("2026-03-01T10:00:05.123456789Z", "2026-03-01T10:00:05.123456Z"),
        ("2026-03-01T10:00:05.000000Z", "2026-03-01T10:00:05Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("0999-06-01T00:00:00Z", "0999-06-01T00:00:00Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
    ],
)
def test_times_are_normalised_to_utc(wire, given, kept):
    wire.ok(
        "store/restore_scope",
        archive(
            [document_row(created_at=given, updated_at=given)],
            [version_row(created_at=given)],
            [redaction_row(created_at=given)],
        ),
    )
    document = wire.ok("memory/read", scope="user:r", path="x")["document"]
    assert (document["created_at"], document["updated_at"]) == (kept, kept)
    assert wire.ok("memory/list_documents", scope="user:r")["entries"][0]["updated_at"] == kept
    for route, key in (("history", "versions"), ("redactions", "redactions")):
        assert wire.ok(f"memory/{route}", scope="user:r")[key][0]["created_at"] == kept
        assert len(wire.ok(f"memory/{route}", scope="user:r", since=kept)[key]) == 1


def test_unknown_keys_of_rows_are_dropped(wire):
    more = {"neosian_format": 7, "scope ": 1, "extra2": {}, "é": None}
    rows = archive([document_row() | more], [version_row() | more | {"scope": 5}], [redaction_row() | more])
    wire.ok("store/restore_scope", rows)
    assert wire.ok("memory/read", scope="user:r", path="x")["document"] == document_row()
    assert wire.ok("memory/history", scope="user:r")["versions"] == [version_row()]
    assert wire.ok("memory/redactions", scope="user:r")["redactions"] == [redaction_row()]


def test_what_only_looks_inconsistent_is_accepted_verbatim(wire):
    documents = [
        document_row("above", version=9),
        document_row("below", version=1, created_at=moment(50), updated_at=moment(2)),
        document_row("after-delete", version=2),
    ]
    versions = [
        version_row("above", 3, created_at=moment(3)),
        version_row("below", 7, created_at=moment(7)),
        version_row("below", 5, created_at=moment(5), action="created"),
        version_row("after-delete", 2, created_at=moment(2), action="deleted"),
        version_row("alone", 4, created_at=moment(4)),
    ]
    redactions = [
        redaction_row("never", count=0, created_at=moment(3)),
        redaction_row(None, count=-5, created_at=moment(2)),
        redaction_row("x/y", count=2**31 - 1, created_at=moment(1)),
    ]
    random.shuffle(documents)
    random.shuffle(versions)
    wire.ok("store/restore_scope", archive(documents, versions, redactions))
    for row in documents:
        assert wire.ok("memory/read", scope="user:r", path=row["path"])["document"] == row
    history = wire.ok("memory/history", scope="user:r")["versions"]
    assert history == sorted(versions, key=lambda row: row["created_at"], reverse=True)
    assert wire.ok("memory/redactions", scope="user:r")["redactions"] == redactions


# Numbers go on


@pytest.mark.parametrize(
    ("documents", "versions", "number", "action"),
    [
        ([document_row(version=3)], [version_row("x", 1), version_row("x", 3)], 4, "modified"),
        ([document_row(version=7)], [], 8, "modified"),
        ([], [version_row("x", 7), version_row("x", 2)], 8, "created"),
        ([document_row(version=2)], [version_row("x", 9)], 10, "modified"),
        ([document_row(version=9)], [version_row("x", 2)], 10, "modified"),
        ([document_row("other", version=50)], [version_row("other", 60)], 1, "created"),
        ([document_row(version=2**31 - 1)], [], 2**31, "modified"),
    ],
)
def test_the_next_write_takes_the_number_after_the_highest_known(wire, documents, versions, number, action):
    wire.ok("store/restore_scope", archive(documents, versions))
    assert wire.ok("memory/write", scope="user:r", path="x", content="c")["document"]["version"] == number
    newest = wire.ok("memory/versions", scope="user:r", path="x")["versions"][0]
    assert (newest["version"], newest["action"]) == (number, action)
    assert wire.ok("memory/write", scope="user:r", path="x", content="c")["document"]["version"] == number + 1
    assert wire.ok("memory/versions", scope="user:r", path="x")["versions"][0]["action"] == "modified"


def test_a_restored_documents_creation_time_survives_the_next_write(wire):
    wire.ok("store/restore_scope", archive([document_row(version=3, extra={"k": 1})]))
    document = wire.ok("memory/write", scope="user:r", path="x", content="c")["document"]
    assert (document["created_at"], document["extra"]) == (moment(0), {"k": 1})


def test_a_guard_is_compared_with_the_live_documents_own_number(wire):
    wire.ok("store/restore_scope", archive([document_row(version=2)], [version_row("x", 9)]))
    with unchanged():
        refused = wire.post("memory/write", scope="user:r", path="x", content="c", expected_version=9)
    assert (refused.code, refused.details["actual_version"]) == ("memory_conflict", 2)
    document = wire.ok("memory/write", scope="user:r", path="x", content="c", expected_version=2)["document"]
    assert document["version"] == 10


def test_a_guard_on_rows_without_a_document_is_absent(wire):
    wire.ok("store/restore_scope", archive(versions=[version_row("x", 4)]))
    refused = wire.post("memory/write", scope="user:r", path="x", content="c", expected_version=4)
    assert refused.details["reason"] == "document_absent"
    assert wire.ok("memory/read", scope="user:r", path="x") == {"document": None}
    assert wire.ok("memory/list_documents", scope="user:r")["entries"] == []
    assert wire.ok("memory/delete", scope="user:r", path="x") == {"deleted": False}


def test_deleting_a_restored_document_takes_the_number_after_the_highest(wire):
    wire.ok("store/restore_scope", archive([document_row(version=2, content="body")], [version_row("x", 9)]))
    wire.ok("memory/delete", scope="user:r", path="x")
    row = wire.ok("memory/versions", scope="user:r", path="x")["versions"][0]
    assert (row["version"], row["action"], row["content"]) == (10, "deleted", "body")


def test_a_redaction_reaches_restored_rows_and_adds_to_the_restored_trail(wire):
    wire.ok(
        "store/restore_scope",
        archive([document_row("a")], [version_row("b", 2)], [redaction_row(count=number) for number in range(5)]),
    )
    assert wire.ok("memory/redact", scope="user:r") == {"count": 2}
    counts = [act["count"] for act in wire.ok("memory/redactions", scope="user:r")["redactions"]]
    assert counts == [2, 4, 3, 2, 1, 0]
    assert "body" not in str(stored())


# The target must be empty


def occupants():
    return {
        "live document": lambda wire: wire.ok("memory/write", scope="user:r", path="x", content="c"),
        "deleted document": lambda wire: (
            wire.ok("memory/write", scope="user:r", path="x", content="c"),
            wire.ok("memory/delete", scope="user:r", path="x"),
        ),
        "redacted document": lambda wire: (
            wire.ok("memory/write", scope="user:r", path="x", content="c"),
            wire.ok("memory/redact", scope="user:r"),
        ),
        "restored document": lambda wire: wire.ok("store/restore_scope", archive([document_row()])),
        "restored row": lambda wire: wire.ok("store/restore_scope", archive(versions=[version_row()])),
        "restored trail": lambda wire: wire.ok("store/restore_scope", archive(redactions=[redaction_row()])),
    }


@pytest.mark.parametrize("occupant", occupants())
@pytest.mark.parametrize("rows", [GOOD, archive()], ids=["good", "empty"])
def test_an_occupied_scope_is_refused_and_keeps_what_it_has(wire, occupant, rows):
    occupants()[occupant](wire)
    with unchanged():
        refused = wire.post("store/restore_scope", rows)
    assert (refused.status, refused.code) == (400, "memory_conflict")
    assert refused.details == {
        "scope": "user:r",
        "path": None,
        "reason": "target_occupied",
        "expected_version": None,
        "actual_version": None,
    }
    assert refused.message == "Memory conflict in scope 'user:r': target_occupied"


def test_a_bad_row_is_refused_before_the_target_is_looked_at(wire):
    filled(wire, "user:r")
    with unchanged():
        assert wire.post("store/restore_scope", with_bad("documents", document_row(version=0))).code == "value_error"
        assert wire.post("store/restore_scope", with_bad("versions", version_row(".."))).code == "memory_path_invalid"


@pytest.mark.parametrize("other", ["user:r/p:x", "user:r2", "user:R", "user:rr"])
def test_parent_child_and_look_alike_scopes_do_not_matter(wire, other):
    filled(wire, other)
    before = wire.ok("memory/history", scope=other)
    wire.ok("store/restore_scope", GOOD)
    assert wire.ok("memory/history", scope=other) == before
    assert wire.ok("store/scopes") == {"scopes": sorted(["user:r", other])}


def test_reads_and_acts_that_match_nothing_leave_a_scope_empty(wire):
    wire.ok("memory/redact", scope="user:r")
    wire.ok("memory/delete", scope="user:r", path="x")
    wire.ok("memory/history", scope="user:r")
    wire.post("memory/write", scope="user:r", path="x", content="c", expected_version=1)
    assert wire.ok("store/restore_scope", GOOD) == {}


def test_an_empty_archive_into_an_empty_scope_makes_nothing(wire):
    with unchanged():
        assert wire.ok("store/restore_scope", archive()) == {}
    assert wire.ok("store/restore_scope", GOOD) == {}


# Refusals: the body


@pytest.mark.parametrize("name", ["scope", "documents", "versions", "redactions"])
@pytest.mark.parametrize("null", [True, False])
def test_a_missing_part_is_refused_by_name(wire, name, null):
    body = {key: value for key, value in GOOD.items() if key != name} | ({name: None} if null else {})
    refused = refused_whole(wire, body)
    assert refused.message == f"missing parameter: '{name}'"


@pytest.mark.parametrize("kind", ROWS)
def test_a_part_that_is_no_list_of_objects_is_refused_by_name(wire, kind):
    for value in (1, 1.5, "x", True, {}, {"a": 1}, [1], [None], ["x"], [[]], [GOOD[kind][0], 1]):
        refused = refused_whole(wire, GOOD | {kind: value})
        assert refused.message == f"parameter '{kind}' must be a list of objects", value


@pytest.mark.parametrize("scope", ["", "user", "user:..", "user:r ", "User:r", "u:\x00", "u:\ud800"], ids=ascii)
def test_a_bad_scope_is_refused(wire, scope):
    rows = GOOD | {"scope": scope, "documents": [document_row(scope=scope)]}
    refused_whole(wire, rows, "memory_scope_invalid")
    refused_whole(wire, archive(scope=scope), "memory_scope_invalid")


def test_a_scope_of_another_type_is_refused(wire):
    for scope in (1, True, [], {}):
        assert refused_whole(wire, GOOD | {"scope": scope}).message == "parameter 'scope' must be a string"


def test_a_mistyped_row_is_refused_before_a_bad_scope(wire):
    assert refused_whole(wire, GOOD | {"scope": "bad", "redactions": 5}).message.startswith("parameter 'redactions'")
    assert refused_whole(wire, with_bad("versions", version_row(version="1")) | {"scope": "bad"}).code == "value_error"


# Refusals: one bad row restores nothing


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in REQUIRED.items() for key in keys])
def test_a_row_without_a_required_key_is_refused_by_name(wire, kind, key):
    row = {name: value for name, value in ROWS[kind]().items() if name != key}
    assert refused_whole(wire, with_bad(kind, row)).message == f"malformed request: '{key}'"


@pytest.mark.parametrize(
    ("kind", "key"), [(kind, key) for kind, keys in REQUIRED.items() for key in keys if (kind, key) not in NULLABLE]
)
def test_a_row_with_a_null_where_a_value_belongs_is_refused(wire, kind, key):
    refused_whole(wire, with_bad(kind, ROWS[kind](**{key: None})))


WRONG = {
    "scope": [1, True, [], {}, 1.5],
    "path": [1, True, [], {}, 1.5],
    "content": [1, True, [], {}, 1.5, ["x"]],
    "action": [1, True, [], {}, "", "renamed", "Created", "created ", "create", "modified\n"],
    "actor": [1, True, [], {}, 1.5, ["x"]],
    "redacted": [0, 1, "false", "true", "", [], {}, 0.0],
    "version": [0, -1, -(2**31), "1", "", True, False, 1.0, 1.5, [], {}, 2**31, 2**32, 2**63, 10**30],
    "count": ["3", "", True, False, 1.0, 1.9, [], {}, 2**31, -(2**31) - 1, 2**63, 10**30],
}
TIMES = [
    0, 1772359205, 1.5, True, [], {}, "", " ", "2026-03-01", "2026-03-01T10:00:00", "2026-03-01T10:00:00 UTC", "now",
    "infinity", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T23:59:60Z",
    "2026-03-01t10:00:00Z", "2026-03-01T10:00:00z", " 2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z ",
    "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "2026-03-01T10:00:00Z\x00", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "key"), [(kind, key) for kind, keys in REQUIRED.items() for key in keys])
def test_a_row_with_a_value_of_another_type_or_range_is_refused(wire, kind, key):
    for value in TIMES if key.endswith("_at") else WRONG[key]:
        refused_whole(wire, with_bad(kind, ROWS[kind](**{key: value})))


@pytest.mark.parametrize("kind", ROWS)
def test_a_row_with_a_path_outside_the_grammar_is_refused(wire, kind):
    for path in (
        "",
        " ",
        "..",
        "a/../b",
        "/a",
        "a/",
        "a//b",
        "a b",
        "é",
        "a\x00",
        "a\ud800",
        "x" * 129,
        "x" * 513,
        "a\n",
    ):
        refused = refused_whole(wire, with_bad(kind, ROWS[kind](path)), "memory_path_invalid")
        assert refused.details["path"] == path.encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("documents", "content"),
        ("documents", "actor"),
        ("versions", "content"),
        ("versions", "actor"),
        ("redactions", "actor"),
    ],
)
def test_a_row_with_text_no_store_can_give_back_is_refused(wire, kind, key):
    for text in ("\x00", "a\x00b", "\ud83d", "\udc00\ud83d"):
        refused_whole(wire, with_bad(kind, ROWS[kind](**{key: text})))


@pytest.mark.parametrize(
    "extra",
    [[], [1], "x", "{}", "", 0, 1, 1.5, True, False, {"k": "\x00"}, {"\x00": 1}, {"k": ["\ud800"]}, {"\udc00": {}}],
    ids=ascii,
)
def test_an_extra_that_is_no_storable_object_is_refused(wire, extra):
    refused_whole(wire, with_bad("documents", document_row(extra=extra)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_an_extra_with_a_number_beyond_json_is_refused(wire, number):
    body = json.dumps(with_bad("documents", document_row(extra={"n": "mark"}))).replace('"mark"', number)
    with unchanged():
        refused = wire.raw("POST", "/v1/store/restore_scope", body.encode())
    assert (refused.status, refused.code) == (400, "value_error")


@pytest.mark.parametrize(
    "scope", ["", "user:other", "user:r/p:x", "user:R", "user:r ", "user:\ud800", "user:r\x00"], ids=ascii
)
def test_a_document_of_another_scope_is_refused(wire, scope):
    refused_whole(wire, with_bad("documents", document_row(scope=scope)))


def test_two_documents_on_one_path_are_refused(wire):
    refused_whole(wire, with_bad("documents", document_row("good", version=2)))


def test_two_rows_of_one_number_are_refused(wire):
    refused_whole(wire, with_bad("versions", version_row("good", 1, action="deleted")))


def test_a_redacted_document_with_content_is_refused(wire):
    refused_whole(wire, with_bad("documents", document_row(redacted=True, content=" ")))


def test_a_redacted_row_with_content_is_refused(wire):
    refused_whole(wire, with_bad("versions", version_row(redacted=True, content="c")))


@pytest.mark.parametrize("position", [0, 1, 2])
def test_the_place_of_the_bad_row_does_not_matter(wire, position):
    rows = [version_row("a"), version_row("b")]
    rows.insert(position, version_row("c", 0))
    refused_whole(wire, archive(versions=rows))


def test_a_refused_restore_can_be_repeated_with_good_rows(wire):
    refused_whole(wire, with_bad("redactions", redaction_row(count="3")))
    assert wire.ok("store/restore_scope", GOOD) == {}
    assert len(wire.ok("memory/history", scope="user:r")["versions"]) == 1


@pytest.mark.parametrize("token", ["tok-alice", "tok-reader", "tok-conv"])
@pytest.mark.parametrize("body", [GOOD, archive(scope="user:alice"), {}, {"scope": 5}])
def test_a_constrained_token_is_refused_whatever_its_body(wire, token, body):
    with unchanged():
        refused = wire.as_(token).post("store/restore_scope", body)
    assert (refused.status, refused.code, refused.details) == (403, "forbidden", {})


def test_thousands_of_rows_land_at_once(wire):
    documents = [document_row(f"d{number:04}") for number in range(1205)]
    versions = [version_row(f"d{number:04}") for number in range(1205)]
    wire.ok("store/restore_scope", archive(documents, versions))
    assert {table: len(rows) for table, rows in stored().items()} == {
        "memory_scope": 1,
        "memory_document": 1205,
        "memory_documentversion": 1205,
        "memory_redaction": 0,
    }
