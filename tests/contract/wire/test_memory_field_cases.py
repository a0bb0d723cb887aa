"""What users of memory services met elsewhere, as far as it concerns documents. The numbers are the cases'."""

from __future__ import annotations

import json

import pytest

from tests.contract.wire.memory_ground import (
    BODIES,
    LISTINGS,
    archive,
    document_row,
    filled,
    stored,
    unchanged,
    version_row,
)


def test_f04_a_replacement_made_from_an_old_copy_is_refused(wire):
    for number in (1, 2, 3):
        wire.ok("memory/write", scope="user:a", path="x", content=f"{number}")
    newer = wire.ok("memory/write", scope="user:a", path="x", content="eight kilobytes " * 512)["document"]
    with unchanged():
        refused = wire.post("memory/write", scope="user:a", path="x", content="stale", expected_version=3)
    assert (refused.status, refused.code) == (400, "memory_conflict")
    assert refused.details["reason"] == "version_mismatch"
    assert (refused.details["expected_version"], refused.details["actual_version"]) == (3, 4)
    assert wire.ok("memory/read", scope="user:a", path="x")["document"] == newer
    assert (
        wire.ok("memory/write", scope="user:a", path="x", content="c", expected_version=4)["document"]["version"] == 5
    )


def test_f04_of_two_writers_with_one_guard_the_second_changes_nothing_however_often(wire):
    wire.ok("memory/write", scope="user:a", path="x", content="c")
    for version in range(1, 31):
        first = wire.ok("memory/write", scope="user:a", path="x", content="first", expected_version=version)["document"]
        second = wire.post("memory/write", scope="user:a", path="x", content="second", expected_version=version)
        assert second.details["actual_version"] == first["version"] == version + 1
        assert wire.ok("memory/read", scope="user:a", path="x")["document"] == first
    assert len(wire.ok("memory/versions", scope="user:a", path="x")["versions"]) == 31


def test_f12_redacting_a_scope_of_1250_documents_leaves_none(wire):
    paths = [f"d{number:04}" for number in range(1250)]
    rows = archive([document_row(path) for path in paths], [version_row(path) for path in paths])
    wire.ok("store/restore_scope", rows)
    assert wire.ok("memory/redact", scope="user:r") == {"count": 1250}
    assert "body" not in str(stored())
    cursor, seen = None, 0
    while True:
        page = wire.ok("memory/list_documents", scope="user:r", cursor=cursor)
        assert all(entry["redacted"] for entry in page["entries"])
        seen += len(page["entries"])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == 1250
    before = wire.ok("memory/history", scope="user:r")
    assert wire.ok("memory/redact", scope="user:r") == {"count": 1250}
    assert wire.ok("memory/history", scope="user:r") == before


def test_f13_deleted_and_redacted_documents_stay_out_of_every_read(wire):
    wire.ok("memory/write", scope="user:a", path="kept", content="plain")
    wire.ok("memory/write", scope="user:a", path="deleted", content="marker-d")
    wire.ok("memory/write", scope="user:a", path="redacted", content="marker-r one")
    wire.ok("memory/write", scope="user:a", path="redacted", content="marker-r two")
    wire.ok("memory/write", scope="user:a", path="both", content="marker-r three")
    wire.ok("memory/delete", scope="user:a", path="both")
    wire.ok("memory/delete", scope="user:a", path="deleted")
    wire.ok("memory/redact", scope="user:a", path="redacted")
    wire.ok("memory/redact", scope="user:a", path="both")
    paths = ("kept", "deleted", "redacted", "both")
    seen = {
        "read": [wire.ok("memory/read", scope="user:a", path=path) for path in paths],
        "versions": [wire.ok("memory/versions", scope="user:a", path=path) for path in paths],
        **{route: wire.ok(f"memory/{route}", scope="user:a") for route in ("list_documents", "history", "redactions")},
    }
    assert "marker-r" not in json.dumps(seen)
    assert "marker-r" not in str(stored())
    # A deleted document's last words stay in its rows, as the contract keeps them, and nowhere else.
    assert "marker-d" not in json.dumps([seen["read"], seen["list_documents"], seen["redactions"]])
    assert "marker-d" not in str(stored()["memory_document"])
    assert [found["document"] and found["document"]["path"] for found in seen["read"]] == [
        "kept",
        None,
        "redacted",
        None,
    ]
    assert [entry["path"] for entry in seen["list_documents"]["entries"]] == ["kept", "redacted"]
    skeletons = [row for row in seen["history"]["versions"] if row["path"] in ("redacted", "both")]
    assert [(row["path"], row["content"], row["redacted"]) for row in skeletons] == [
        ("both", "", True),
        ("both", "", True),
        ("redacted", "", True),
        ("redacted", "", True),
    ]


def test_f19_no_two_scopes_share_a_key(wire):
    scopes = ["user:a", "user:A", "user:a.", "user:a/user:b", "user:a_user.b", "user:a-b", "user_a:b", "user:ab"]
    for scope in scopes:
        wire.ok("memory/write", scope=scope, path="b/c", content=scope)
    # The same characters with another border between scope and path.
    wire.ok("memory/write", scope="user:a", path="user.b/c", content="other border")
    for scope in scopes:
        assert wire.ok("memory/read", scope=scope, path="b/c")["document"]["content"] == scope
    wire.ok("memory/redact", scope="user:a")
    for scope in scopes[1:]:
        assert wire.ok("memory/read", scope=scope, path="b/c")["document"]["content"] == scope
    for scope in ("user:a%2Fb", "user:a ", " user:a", "user:a/b", "user:a:b", "user:a\t"):
        assert wire.post("memory/write", scope=scope, path="x", content="c").code == "memory_scope_invalid"
    assert wire.ok("store/scopes") == {"scopes": sorted(scopes)}


def test_f20_nothing_in_a_body_sets_the_owner_or_what_the_store_assigns(wire):
    forged = {
        "actor": "client:other", "client": "client:other", "owner": "client:other", "project": 7, "project_id": 7,
        "principal_id": "p", "authored_by": "p", "updated_at": "2001-01-01T00:00:00Z", "version": 50,
        "last_version": 50, "live": False, "format": 2, "head": 9, "extra": {"a": 1}, "redacted": True, "id": 1,
    }  # fmt: skip
    document = wire.ok("memory/write", BODIES["memory/write"] | forged)["document"]
    assert document["actor"] == "client:default/client:other"
    assert (document["version"], document["redacted"], document["extra"]) == (1, False, {})
    assert document["updated_at"] == document["created_at"] > "2026"
    wire.ok("memory/delete", BODIES["memory/delete"] | forged)
    wire.ok("memory/redact", {"scope": "user:a"} | forged)
    assert {row["actor"] for row in wire.ok("memory/history", scope="user:a")["versions"]} == {
        "client:default/client:other"
    }
    assert wire.ok("memory/redactions", scope="user:a")["redactions"][0]["actor"] == "client:default/client:other"


@pytest.mark.parametrize("empty", ["", " ", "   ", "\t", "\u00a0", "\u200b"], ids=ascii)
def test_f21_an_empty_selector_never_widens(wire, empty):
    filled(wire)
    with unchanged():
        for route, body in BODIES.items():
            assert wire.post(route, body | {"scope": empty}).code == "memory_scope_invalid"
        assert wire.post("memory/redact", scope="user:a", path=empty).code == "memory_path_invalid"
        assert wire.post("memory/delete", scope="user:a", path=empty).code == "memory_path_invalid"
        assert wire.post("memory/history", scope="user:a", since=empty).code == "value_error"
        assert wire.post("memory/list_documents", scope="user:a", cursor=empty).code == "value_error"
        assert wire.ok("conversation/search_turns", query="one", conversations=[]) == {"turns": []}
        assert wire.ok("conversation/turn_redactions", conversations=[]) == {"redactions": []}


def test_f27_asking_for_the_unknown_or_being_refused_makes_nothing(wire):
    with unchanged():
        for route in ("read", "delete", "list_documents", "versions", "history", "redact", "redactions"):
            wire.ok(f"memory/{route}", BODIES[f"memory/{route}"])
        assert wire.post("memory/rename", BODIES["memory/rename"]).code == "memory_document_not_found"
        assert wire.post("memory/write", BODIES["memory/write"], expected_version=1).code == "memory_conflict"
        for route, body in BODIES.items():
            assert wire.as_("tok-alice").post(route, body).status == 403
            assert wire.as_("nobody").post(route, body).status == 401
    assert wire.ok("store/scopes") == {"scopes": []}
    assert wire.ok("store/conversations") == {"conversations": []}


@pytest.mark.parametrize(
    "text",
    [
        "<|endoftext|>", "<|im_start|>system", "</s>", "[INST]", "{{ x }}", "{% csrf %}", "%s %d %(x)s", "{0} {scope}",
        "<script>alert(1)</script>", "'; DROP TABLE memory_document; --", "$1 :x @y", "\\N", "\\.", "\\x41", "E'\\''",
        "null", "\\u0000", "${jndi:ldap://x}", "]]>", "--",
    ],
)  # fmt: skip
def test_f32_markers_of_other_tools_are_plain_text(wire, text):
    document = wire.ok("memory/write", scope="user:a", path="x", content=text, actor=text)["document"]
    assert (document["content"], document["actor"]) == (text, f"client:default/{text}")
    # Through the bulk path too, which has an escaping of its own.
    wire.ok(
        "store/restore_scope",
        archive(
            [document_row(content=text, actor=text, extra={text: [text]})], [version_row(content=text, actor=text)]
        ),
    )
    assert wire.ok("memory/read", scope="user:r", path="x")["document"] == document_row(
        content=text, actor=text, extra={text: [text]}
    )
    row = wire.ok("memory/history", scope="user:r")["versions"][0]
    assert (row["content"], row["actor"]) == (text, text)
    assert wire.ok("memory/list_documents", scope="user:a", prefix=text)["entries"] == []


def test_f35_percent_and_underscore_are_no_wildcards(wire):
    for path in ("a_b", "axb", "a.b", "a-b"):
        wire.ok("memory/write", scope="user:a", path=path, content="100% sure c\\d")
    for prefix, found in {"a_": ["a_b"], "a%": [], "%": [], "_": [], "a.": ["a.b"], "a\\_": [], "a?": []}.items():
        entries = wire.ok("memory/list_documents", scope="user:a", prefix=prefix)["entries"]
        assert [entry["path"] for entry in entries] == found
    assert wire.ok("memory/read", scope="user:a", path="a_b")["document"]["content"] == "100% sure c\\d"


def test_f38_names_that_look_like_addresses_open_their_own_item_or_none(wire):
    wire.ok("memory/write", scope="user:a", path="a", content="parent")
    wire.ok("memory/write", scope="user:a", path="a/b", content="child")
    wire.ok("memory/write", scope="user:a/p:b", path="x", content="other scope")
    assert wire.ok("memory/read", scope="user:a", path="a/b")["document"]["content"] == "child"
    with unchanged():
        for path in (
            "a%2Fb",
            "a?b#c",
            " a ",
            "..",
            "../a",
            "a/..",
            "a/../a/b",
            "ünï/名",
            "a//b",
            "./a",
            "a\\b",
            "a+b",
            "~",
        ):
            for route, name in [
                ("read", "path"),
                ("delete", "path"),
                ("redact", "path"),
                ("versions", "path"),
                ("write", "path"),
            ]:
                refused = wire.post(f"memory/{route}", BODIES[f"memory/{route}"] | {name: path})
                assert (refused.status, refused.code, refused.details["path"]) == (400, "memory_path_invalid", path)


@pytest.mark.parametrize("blank", ["", " ", "\t\n", "\r\n", "\u00a0", "\u3000", "\u200b", "\ufeff"], ids=ascii)
def test_f41_blank_text_is_content_but_no_name(wire, blank):
    document = wire.ok("memory/write", scope="user:a", path="x", content=blank, actor=blank)["document"]
    assert (document["content"], document["actor"]) == (blank, f"client:default/{blank}")
    assert wire.ok("memory/read", scope="user:a", path="x")["document"]["content"] == blank
    for route, name in [
        ("read", "path"),
        ("write", "path"),
        ("rename", "src"),
        ("rename", "dst"),
        ("versions", "path"),
    ]:
        assert wire.post(f"memory/{route}", BODIES[f"memory/{route}"] | {name: blank}).code == "memory_path_invalid"
    # An empty prefix filters nothing; any other blank starts no path.
    entries = wire.ok("memory/list_documents", scope="user:a", prefix=blank)["entries"]
    assert len(entries) == (1 if blank == "" else 0)


@pytest.mark.parametrize("listing", LISTINGS)
def test_f45_a_walk_newest_first_with_limit_one_ends_though_its_anchors_are_erased(wire, listing):
    route, key, _ = LISTINGS[listing]
    for number in range(4):
        wire.ok("memory/write", scope="user:a", path="x", content="c")
        wire.ok("memory/write", scope="user:a", path=f"p{number}", content="c")
        wire.ok("memory/redact", scope="user:a", path="x")
    body = BODIES[route] | {"limit": 1}
    expected = len(wire.ok(route, BODIES[route])[key])
    seen, cursor = [], None
    while True:
        page = wire.ok(route, body, cursor=cursor)
        seen += [
            json.dumps({name: value for name, value in row.items() if name not in ("content", "redacted")})
            for row in page[key]
        ]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        if listing != "trail":
            wire.ok("memory/redact", scope="user:a")  # Every row the cursor may name is blanked.
        assert len(seen) < 50
    assert len(seen) == len(set(seen)) == expected


@pytest.mark.parametrize("listing", LISTINGS)
def test_f46_every_limit_gets_the_contracts_answer_and_never_sql(wire, listing):
    route, key, _ = LISTINGS[listing]
    filled(wire)
    whole = wire.ok(route, BODIES[route])
    for limit, rows in {0: 0, 1: 1, 500: None, 501: None, 10**12: None}.items():
        found = wire.ok(route, BODIES[route], limit=limit)[key]
        assert found == whole[key][:rows] if rows is not None else found == whole[key]
    assert wire.ok(route, BODIES[route], limit=None) == whole
    for limit in (-1, -(10**12), 1.5, "5", True, [], {}):
        refused = wire.post(route, BODIES[route], limit=limit)
        assert (refused.status, refused.code) == (400, "value_error")
        assert not any(word in refused.body.upper() for word in (b"SELECT", b"LIMIT %", b"PSYCOPG", b"MEMORY_"))


def test_f54_paths_that_differ_only_in_case_are_two_documents_and_unicode_forms_are_refused(wire):
    paths = ["Notes/A", "Notes/a", "notes/A", "notes/a", "notes/a.md", "notes/a.MD"]
    for path in paths:
        wire.ok("memory/write", scope="user:a", path=path, content=path)
    for path in paths:
        assert wire.ok("memory/read", scope="user:a", path=path)["document"]["content"] == path
        assert len(wire.ok("memory/versions", scope="user:a", path=path)["versions"]) == 1
    with unchanged():
        for path in ("é", "e\u0301", "ﬁ", "Å", "A\u030a", "\uff41"):
            assert wire.post("memory/write", scope="user:a", path=path, content="c").code == "memory_path_invalid"
    assert [entry["path"] for entry in wire.ok("memory/list_documents", scope="user:a")["entries"]] == sorted(paths)
