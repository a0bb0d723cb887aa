"""Knowledge headers: what is one, what one may hold, how one is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.knowledge import header, yaml_subset
from memory.knowledge.header import Header, HeaderInvalid

SHA = "0123456789abcdef" * 4
LARGEST = 2**53 - 1

DOCUMENT = {
    "kind": "document", "scope": "user:me", "path": "notes/a", "version": 3, "sha256": SHA, "actor": "cli:local",
    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00.000001Z", "metadata": {"tags": ["x"]},
}  # fmt: skip
FILE = {"kind": "file", "name": "a.md", "sha256": SHA, "bytes": 0}
BUNDLE = {"kind": "bundle", "bundle_id": SHA, "scope": "user:me", "path": "a", "version": 1, "sha256": SHA}


def written(mapping: dict[str, Any]) -> str:
    """A header by hand, without the writer's judgement."""
    lines = [f"{key}: {header._spelled(value)}\n" for key, value in {"knowledge": 1, **mapping}.items()]
    return "".join(["---\n", *lines, "---\n"])


def refusal(content: str) -> str:
    with pytest.raises(HeaderInvalid) as found:
        header.read(content)
    return str(found.value)


@pytest.mark.parametrize(
    ("content", "mapping", "body"),
    [
        ("---\nknowledge: 1\ntitle: Deploy\n---\nBody\n", {"knowledge": 1, "title": "Deploy"}, "Body\n"),
        ("---\r\nknowledge: 1\r\ntitle: T\r\n---\r\nB\r\n", {"knowledge": 1, "title": "T"}, "B\r\n"),
        ("---\nknowledge: 1\n---", {"knowledge": 1}, ""),
        ("---\nknowledge: 1\n---\r", {"knowledge": 1}, ""),
        ("---\nknowledge: 1\n---\n\n---\nknowledge: 2\n", {"knowledge": 1}, "\n---\nknowledge: 2\n"),
        ("---\nknowledge: 1\ntitle: ---- ---\n---\nB", {"knowledge": 1, "title": "---- ---"}, "B"),
        # Any spelling of the mapping, as long as the key is there.
        ('---\n{"knowledge": 1, "title": "T"}\n---\nB', {"knowledge": 1, "title": "T"}, "B"),
        ("---\n  knowledge : 1\n---\nB", {"knowledge": 1}, "B"),
        ("---\n# comment\n'knowledge': 1\n---\nB", {"knowledge": 1}, "B"),
        ("---\nother: x\nknowledge: 1\n---\nB", {"other": "x", "knowledge": 1}, "B"),
    ],
    ids=ascii,
)
def test_a_header_and_its_body_are_read(content, mapping, body):
    assert header.read(content) == Header(mapping, body)


@pytest.mark.parametrize(
    "content",
    [
        "", "text", "---", "---\n", "---\ntext", "---\n---\n", "---\ntitle: x\n---\nB", "---\nnot: [closed\n---\nB",
        "---\n- knowledge: 1\n---\n", "---\nknowledge\n---\n", "---\nknowledges: 1\n---\n", "---\n knowledge: 1",
        "---\n{knowledge: 1",
        # The fence is the very first line, and no other.
        " ---\nknowledge: 1\n---\n", "\n---\nknowledge: 1\n---\n", "----\nknowledge: 1\n----\n",
        "--- \nknowledge: 1\n---\n",
        "\ufeff---\nknowledge: 1\n---\n", "x\n---\nknowledge: 1\n---\n", "---\rknowledge: 1\r---\r",
        # The line stands behind the closing fence, or inside a value.
        "---\n---\nknowledge: 2\n", "---\ntitle: [\n---\nknowledge: 2\n", "---\ntitle: 'x\nknowledge: 2'\n---\n",
        # Cannot be read, and nothing says it was to be a header.
        '---\n{"knowledge": 1, "a": 1.5}\n---\n', "---\n" + "x" * 70_000 + "\n---\nknowledge: 2\n",
    ],
    ids=lambda content: ascii(content)[:40],
)  # fmt: skip
def test_other_content_has_no_header(content):
    assert header.read(content) is None


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("---\nknowledge: 1\n", "the header is not closed"),
        ("---\nknowledge: 1", "the header is not closed"),
        ("---\nknowledge: 1\n--- \n", "the header is not closed"),
        ("---\nknowledge: 1\n ---\n", "the header is not closed"),
        ("---\nx\nknowledge:", "the header is not closed"),
        ("---\nknowledge: 2\n---\n", "knowledge must be 1"),
        ("---\nknowledge: true\n---\n", "knowledge must be 1"),
        ("---\nknowledge: '1'\n---\n", "knowledge must be 1"),
        ("---\nknowledge:\n---\n", "knowledge must be 1"),
        ('---\n{"knowledge": 2}\n---\n', "knowledge must be 1"),
        ("---\nknowledge: 1.0\n---\n", "line 2: a number must be an integer within 2^53-1, or be quoted"),
        ("---\nknowledge: 1\nknowledge: 1\n---\n", "line 3: a key stands twice"),
        ("---\nknowledge: 1\ntitle: [\n---\n", "line 4: a value cannot start here"),
        ("---\r\nknowledge: 1\r\nx: *y\r\n---\r\n", "line 3: an alias"),
        ("---\nknowledge:1\n---\n", "the header is no mapping"),
        ("---\n- 'x\nknowledge: 1'\n---\n", "the header is no mapping"),
    ],
    ids=ascii,
)
def test_a_header_that_cannot_be_read_is_invalid(content, reason):
    assert refusal(content) == reason


@pytest.mark.parametrize(
    "mapping",
    [
        {"title": "x"}, {"title": "é" * 200}, {"title": None}, {"description": "x" * 1024}, {"description": None},
        {"name": 5, "skill": {"format": 1, "dependencies": [], "resources": []}}, {"attributes": {}},
        {"attributes": None}, {"references": []}, {"references": None}, {"sources": []}, {"sources": None},
        {"attributes": {f"k{n}": n for n in range(64)}},
        {"attributes": {"a": "x" * 4096, "b_9": "", "a" * 64: LARGEST}},
        {"attributes": {"a": True, "b": -LARGEST, "c": [], "d": ["x"] * 64}},
        {"attributes": {"governance": {"any": ["thing", {"at": None}]}}}, {"attributes": {"governance": None}},
        {"references": ["notes/deploy", "user:me#notes/contacts"]}, {"references": [f"r{n}" for n in range(64)]},
        {"references": ["a" * 128, "org:x/team:y#a/b.c/-/_"]}, {"sources": [DOCUMENT, FILE, BUNDLE]},
        {"sources": [FILE] * 128}, {"sources": [{**DOCUMENT, "actor": None}]},
        {"sources": [{**DOCUMENT, "version": 0, "metadata": {}}]}, {"mine": {"deep": [None, {"x": 1}]}, "more": "text"},
    ],
    ids=lambda mapping: ascii(mapping)[:60],
)  # fmt: skip
def test_what_keeps_the_limits_is_read(mapping):
    assert header.read(written(mapping) + "B") == Header({"knowledge": 1, **mapping}, "B")


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({"title": ""}, "title must be 1 to 200 characters"),
        ({"title": "x" * 201}, "title must be 1 to 200 characters"),
        ({"title": 7}, "title must be 1 to 200 characters"),
        ({"description": ""}, "description must be 1 to 1024 characters"),
        ({"description": "x" * 1025}, "description must be 1 to 1024 characters"),
        ({"description": ["x"]}, "description must be 1 to 1024 characters"),
        ({"attributes": []}, "attributes must be a mapping"),
        ({"attributes": "x"}, "attributes must be a mapping"),
        ({"attributes": {f"k{n}": n for n in range(65)}}, "more than 64 attributes"),
        *(
            ({"attributes": {name: 1}}, "attribute names must match [a-z][a-z0-9_]{0,63}")
            for name in ["A", "", "1a", "_a", "a-b", "a b", "é", "a\n", "a" * 65]
        ),
        *(
            (
                {"attributes": {"a": value}},
                "attribute a must be a string, an integer, a boolean or a list of strings, within their limits",
            )
            for value in [None, {}, {"b": 1}, [1], ["x", None], [["x"]], "x" * 4097, ["x"] * 65]
        ),
        ({"references": "a"}, "references must be a list"),
        ({"references": {"a": 1}}, "references must be a list"),
        ({"references": [f"r{n}" for n in range(65)]}, "more than 64 references"),
        ({"references": ["a", "b", "a"]}, "a reference stands twice"),
        ({"references": [1]}, "a reference must be a string"),
        ({"sources": {}}, "sources must be a list"),
        ({"sources": [FILE] * 129}, "more than 128 sources"),
        *(
            ({"sources": [FILE, source]}, "a source must be a mapping whose kind is document, file, bundle")
            for source in ["x", None, {}, {"kind": "url"}, {"kind": ["file"]}]
        ),
        ({"sources": [{**FILE, "x": 1}]}, "a file source must hold exactly kind, name, sha256, bytes"),
        ({"sources": [{"kind": "file", "name": "a"}]}, "a file source must hold exactly kind, name, sha256, bytes"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_what_breaks_a_limit_is_invalid(mapping, reason):
    assert refusal(written(mapping)) == reason


@pytest.mark.parametrize(
    "reference",
    [
        "", "/x", "x/", "a//b", "a b", "..", "a/./b", "a#b", "#a", "user:me#", "user:me#a#b", "user:..#a", "é", "a\n",
        "a" * 129,
    ],
)  # fmt: skip
def test_a_reference_outside_its_grammar_is_invalid(reference):
    assert refusal(written({"references": [reference]})).startswith(
        "a reference must be a document path, or a scope, '#' and a path: "
    )


@pytest.mark.parametrize(
    ("source", "key", "value"),
    [
        (DOCUMENT, "scope", "me"), (DOCUMENT, "path", "/x"), (DOCUMENT, "version", "3"), (DOCUMENT, "version", -1),
        (DOCUMENT, "version", True), (DOCUMENT, "sha256", SHA[1:]), (DOCUMENT, "sha256", SHA.upper()),
        (DOCUMENT, "actor", 1), (DOCUMENT, "created_at", "yesterday"), (DOCUMENT, "updated_at", "2026-01-01"),
        (DOCUMENT, "metadata", None), (DOCUMENT, "metadata", []), (FILE, "name", None), (FILE, "sha256", 5),
        (FILE, "bytes", -1), (FILE, "bytes", "0"), (BUNDLE, "bundle_id", "x"), (BUNDLE, "scope", 1),
        (BUNDLE, "path", None), (BUNDLE, "version", False), (BUNDLE, "sha256", ""),
    ],
)  # fmt: skip
def test_a_source_with_a_wrong_value_is_invalid(source, key, value):
    reason = f"a {source['kind']} source holds a wrong {key}"
    assert refusal(written({"sources": [{**source, key: value}]})) == reason


@pytest.mark.parametrize("filler", ["x", "é", "😀"])
def test_a_header_is_bounded_in_bytes_and_a_body_is_not(filler):
    opening, ending = "---\nknowledge: 1\nx: '", "'\n---\n"
    room = 64 * 1024 - len("knowledge: 1\nx: ''\n")
    count, pad = divmod(room, len(filler.encode()))
    value = filler * count + "y" * pad
    found = header.read(f"{opening}{value}{ending}" + filler * 2_000_000)
    assert found == Header({"knowledge": 1, "x": value}, filler * 2_000_000)
    assert refusal(f"{opening}{value}z{ending}") == "the header is longer than 65536 bytes"


@pytest.mark.parametrize(
    ("content", "invalid"),
    [
        ("x" * 5_000_000, False),
        ("x\n---\nknowledge: 2\n" * 200_000, False),
        ("---\n" + "\n---x" * 1_000_000, False),
        ("---\n" + "\nknowledge" * 500_000, False),
        ("---\n" + "[" * 5_000_000, False),
        ("---\n" + "[" * 5_000_000 + "\n---\n", False),
        ("---\n" + "x: 1\n" * 1_000_000 + "---\nknowledge: 2\n", False),
        ("---\n" + "\n---x" * 1_000_000 + "\nknowledge: 1", True),
        ("---\n" + "{" * 5_000_000 + "\nknowledge:\n---\n", True),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_long_document_is_judged_without_being_parsed(monkeypatch, content, invalid):
    parsed: list[str] = []
    monkeypatch.setattr(yaml_subset, "read", lambda text, **_: parsed.append(text))
    if invalid:
        refusal(content)
    else:
        assert header.read(content) is None
    assert parsed == []


def test_a_header_is_written_in_one_order_and_spelling():
    assert header.render(
        {
            "zeta": 1, "alpha": [True, None], "sources": [FILE], "references": ["b", "a"], "allowed-tools": "x",
            "attributes": {"owner": "ops", "count": -1}, "skill": {}, "description": 'Say "é"\n', "name": "n",
            "title": "Ü😀",
            "knowledge": 1, "a b": "\x7f\x9f\u2028\u2029\ufeff\x1f", "null": "~", "1": "", "<<": {}, "extra": None,
        }
    ) == (
        '---\nknowledge: 1\ntitle: "Ü😀"\nname: "n"\ndescription: "Say \\"é\\"\\n"\nskill: {}\n'
        'attributes: {"count": -1, "owner": "ops"}\nreferences: ["b", "a"]\n'
        f'sources: [{{"bytes": 0, "kind": "file", "name": "a.md", "sha256": "{SHA}"}}]\n'
        '"1": ""\n"<<": {}\n"a b": "\\u007f\\u009f\\u2028\\u2029\\ufeff\\u001f"\n'
        'allowed-tools: "x"\nalpha: [true, null]\n'
        '"null": "~"\nzeta: 1\n---\n'
    )  # fmt: skip


def test_nulls_and_empty_lists_are_left_out():
    empty: dict[str, Any] = {"title": None, "attributes": {}, "references": [], "sources": [], "other": None}
    assert header.render({"knowledge": 1, **empty}) == "---\nknowledge: 1\n---\n"
    # Only of the keys that say so, and only at the top.
    kept: dict[str, Any] = {"knowledge": 1, "x": [], "y": {"z": None}}
    assert header.render(kept) == '---\nknowledge: 1\nx: []\ny: {"z": null}\n---\n'


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({}, "knowledge must be 1"),
        ({"title": "x"}, "knowledge must be 1"),
        ({"knowledge": None}, "knowledge must be 1"),
        ({"knowledge": 2}, "knowledge must be 1"),
        ({"knowledge": True}, "knowledge must be 1"),
        ({"knowledge": 1, "title": "x" * 201}, "title must be 1 to 200 characters"),
        ({"knowledge": 1, "x": "y" * 65_536}, "the header is longer than 65536 bytes"),
        ({"knowledge": 1, "x": 1.5}, "line 3: a number must be an integer within 2^53-1, or be quoted"),
        ({"knowledge": 1, "x": [2**53]}, "line 3: a number must be an integer within 2^53-1, or be quoted"),
        ({"knowledge": 1, "x": float("nan")}, "a number is out of range for JSON"),
        ({"knowledge": 1, "x": [[[[[[[[]]]]]]]]}, "line 3: nested deeper than 8"),
    ],
    ids=lambda value: ascii(value)[:60],
)
def test_what_could_not_be_read_again_is_not_written(mapping, reason):
    with pytest.raises(HeaderInvalid) as found:
        header.render(mapping)
    assert str(found.value) == reason


texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
scalars = st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | texts
nested = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
paths = st.lists(st.from_regex(r"[A-Za-z0-9_-]{1,5}", fullmatch=True), min_size=1, max_size=3).map("/".join)
headers = st.fixed_dictionaries(
    {"knowledge": st.just(1)},
    optional={
        "title": texts.filter(bool) | st.none(),
        "description": texts.filter(bool),
        "attributes": st.dictionaries(
            names, texts | st.booleans() | st.integers(-LARGEST, LARGEST) | st.lists(texts, max_size=3), max_size=4
        ),
        "references": st.lists(paths | paths.map("user:me#{}".format), max_size=4, unique=True),
        "sources": st.lists(st.sampled_from([DOCUMENT, FILE, BUNDLE]), max_size=3),
    },
)  # fmt: skip
others = st.dictionaries(texts.filter(lambda key: key not in {"knowledge", *header._ORDER}), nested, max_size=3)


@given(headers, others, st.text(max_size=20), st.randoms())
def test_what_is_written_is_read_again_and_written_the_same(ours, others, body, random):
    mapping = {**ours, **others}
    text = header.render(mapping)
    found = header.read(text + body)
    assert found == Header(
        {k: v for k, v in mapping.items() if v is not None and (k in others or v not in ({}, []))}, body
    )
    keys = list(mapping)
    random.shuffle(keys)
    assert header.render({key: mapping[key] for key in keys}) == header.render(found.mapping) == text


pieces = st.sampled_from(
    [
        "---", "\n", "\r\n", "\n---\n", "knowledge:", " 1", "knowledge: 1\n", "title: x\n", "{", "}", "[", " ", "\t",
        "#", "'", "x", ": ",
    ]
)  # fmt: skip


@given(st.lists(pieces, max_size=14).map(lambda rest: "---\n" + "".join(rest)))
def test_any_content_has_a_header_or_none_or_an_invalid_one(content):
    lines = content.replace("\r\n", "\n").split("\n")
    ends = lines.index("---", 1) if "---" in lines[1:] else len(lines)
    named = any(line.startswith("knowledge:") for line in lines[1:ends])
    try:
        found = header.read(content)
    except HeaderInvalid:
        return
    if found is None:
        return
    assert ends < len(lines)
    assert found.mapping["knowledge"] == 1
    assert content.endswith(found.body)
    assert named or "knowledge" in content
