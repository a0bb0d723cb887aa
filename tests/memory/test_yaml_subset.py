"""The YAML of knowledge headers: what is read, what is refused."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from memory.knowledge import yaml_subset
from memory.knowledge.scalars import NotAccepted

LARGEST = 2**53 - 1

# What JSON and YAML agree on: no floats, and no integer a header cannot hold.
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=30) | st.sampled_from(
    [
        "",
        " ",
        "null",
        "~",
        "true",
        "1",
        "1.5",
        "-",
        "- a",
        "a: b",
        "# c",
        "a #b",
        "'",
        '"',
        "\n",
        "a\n\n b ",
        "<<",
        "&a",
    ]
)
scalars = st.none() | st.booleans() | st.integers(-LARGEST, LARGEST) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def nesting(value) -> int:
    if isinstance(value, dict | list):
        return 1 + max((nesting(item) for item in (value.values() if isinstance(value, dict) else value)), default=0)
    return 0


def refusal(text: str) -> str:
    with pytest.raises(NotAccepted) as found:
        yaml_subset.read(text)
    return str(found.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment", None),
        ("\n \n\t\n", None),
        ("a: 1", {"a": 1}),
        ("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}),
        ("a: 1\rb: 2", {"a": 1, "b": 2}),
        ("  a: 1\n  b: 2\n", {"a": 1, "b": 2}),
        ("a:\n  b:\n    c: 1\n  d: 2\ne: 3\n", {"a": {"b": {"c": 1}, "d": 2}, "e": 3}),
        ("a:\nb: \nc: # nothing\n", {"a": None, "b": None, "c": None}),
        ("a :  1", {"a": 1}),
        ("a: \t1", {"a": 1}),
        ("\"a b\": 1\n'c': 2", {"a b": 1, "c": 2}),
        ("a b.c/d-e: 1", {"a b.c/d-e": 1}),
        ("a:b: c", {"a:b": "c"}),
        ("-a: b", {"-a": "b"}),
        ("'<<': 1\n'1': 2\n'': 3", {"<<": 1, "1": 2, "": 3}),
        ("- a\n- 1\n-\n- - b\n  - c\n- k: v\n  l: w\n", ["a", 1, None, ["b", "c"], {"k": "v", "l": "w"}]),
        ("a:\n- x\n- y\nb: z", {"a": ["x", "y"], "b": "z"}),
        ("a:\n  - x\n  -\n    y: 1\n", {"a": ["x", {"y": 1}]}),
        ("a:\n  b", {"a": "b"}),
        ("a:\n\n  # comment\n  b", {"a": "b"}),
        ("a: b # comment\nc: d#e", {"a": "b", "c": "d#e"}),
        ("a: 'b' # comment", {"a": "b"}),
        ("# first\n\na: 1\n  # between\nb: 2\n# last", {"a": 1, "b": 2}),
        ("a: one\n  two\n\n  three\nb: 1", {"a": "one two\nthree", "b": 1}),
        ("a: one\n  - two\n  [three", {"a": "one - two [three"}),
        ("a: http://host:80/x?y=#z", {"a": "http://host:80/x?y=#z"}),
        ('a: it\'s "so", [really] {so}', {"a": 'it\'s "so", [really] {so}'}),
        ("a: -\u00a0b", {"a": "-\u00a0b"}),
        ("a: \u00a0b", {"a": "\u00a0b"}),
        ("a: [x, 'y', \"z\", 1, ~, ]", {"a": ["x", "y", "z", 1, None]}),
        ("a: []\nb: {}\nc: [ ]\nd: { }", {"a": [], "b": {}, "c": [], "d": {}}),
        ("a: {b: 1, c, 'd': , \"e\":2, f:g}", {"a": {"b": 1, "c": None, "d": None, "e": 2, "f:g": None}}),
        ("a: {\n  b: [1,\n 2], # comment\n\n  c: one\n    two\n}\nd: 1", {"a": {"b": [1, 2], "c": "one two"}, "d": 1}),
        ('{"knowledge": 1, "a": [{"b": {}}]}', {"knowledge": 1, "a": [{"b": {}}]}),
        ("[a, [b, [c]]]", ["a", ["b", ["c"]]]),
        ("[::a, -b, ?c]", ["::a", "-b", "?c"]),
        ("just text", "just text"),
    ],
    ids=ascii,
)
def test_structures_are_read(text, value):
    assert yaml_subset.read(text) == value
    assert repr(yaml_subset.read(text)) == repr(value)  # 1 is not true.


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("null", None), ("~", None), ("true", True), ("false", False),
        ("0", 0), ("-0", 0), ("7", 7), ("-7", -7), (str(LARGEST), LARGEST), (str(-LARGEST), -LARGEST),
        *((text, text) for text in [
            "Null", "NULL", "True", "FALSE", "yes", "no", "on", "Off", "y", "2026-01-01", "2026-01-01T00:00:00Z",
            "12:30", "12:30:45", "1.2.3", "1 000", "1-2", "--1", "+", ".", "..", "...a", "1a", "0xg",
            "0x", "1e", "e3", "inf", "nan", "NaN", "Infinity", "\u0661", "<<", "=",
        ]),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_what_it_looks_like(plain, value):
    assert repr(yaml_subset.read(f"a: {plain}")) == repr({"a": value})
    assert repr(yaml_subset.read(f"a: {{b: {plain} }}")) == repr({"a": {"b": value}})
    assert yaml_subset.read(f"a: '{plain}'") == {"a": plain}
    assert yaml_subset.read(f'a: "{plain}"') == {"a": plain}


@pytest.mark.parametrize(
    "plain",
    [
        "1.5", "-1.5", "1.", ".5", "-.5", "+5", "+0", "007", "-01", "00", "1e3", "1E3", "1e+3", "1.5e-3", "1_000",
        "0x1F", "0o17", "0b1", "-.inf", "+.INF", ".nan", ".NaN", str(LARGEST + 1), str(-LARGEST - 1), "1" * 5000,
    ],
    ids=lambda plain: plain[:20],
)  # fmt: skip
def test_what_looks_like_another_number_is_refused(plain):
    reason = "a number must be an integer within 2^53-1, or be quoted"
    assert refusal(f"a: {plain}") == f"line 1: {reason}"
    assert refusal(f"x: 1\na: [b, {plain}]") == f"line 2: {reason}"
    assert refusal(f"{plain}: a") == f"line 1: {reason}"
    assert yaml_subset.read(f"a: '{plain}'") == {"a": plain}


@pytest.mark.parametrize(
    ("quoted", "value"),
    [
        ("''", ""), ("''''", "'"), ("'it''s'", "it's"), (r"'\n'", r"\n"), ("'#: [x'", "#: [x"), ("' a '", " a "),
        ('""', ""), ('"a\'b"', "a'b"), ('"#: {x"', "#: {x"), ('" a "', " a "), ('"\t"', "\t"),
        ('"\x7f\x85"', "\x7f\x85"),
        (r'"\0\a\b\t\n\v\f\r\e\ \"\/\\\N\_\L\P"', '\0\a\b\t\n\v\f\r\x1b "/\\\x85\xa0\u2028\u2029'),
        (r'"\x41\u00e9\U0001F600"', "Aé😀"), (r'"\ud83d\ude00"', "😀"), (r'"\u0000"', "\0"),
        ("'one\n  two'", "one two"), ("'one  \n\n\n  two'", "one\n\ntwo"), ('"one\n  two"', "one two"),
        ('"one \n \n two"', "one\ntwo"), ('"one\\\n  two"', "onetwo"), ('"one \\\n  \\ two"', "one  two"),
        ('"one\\ \n two"', "one  two"),
        ('"\n a\n "', " a "), ('"one\\n\n two"', "one\n two"), ('"a\\\n\n b"', "a\nb"),
    ],
    ids=ascii,
)  # fmt: skip
def test_quoted_scalars_are_read(quoted, value):
    assert yaml_subset.read(f"a: {quoted}\nb: 1") == {"a": value, "b": 1}
    assert yaml_subset.read(f"a: [{quoted}, x]") == {"a": [value, "x"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: &x y", "an anchor"),
        ("a: *x", "an alias"),
        ("a: !!str y", "a tag"),
        ("a: !t {}", "a tag"),
        ("!t\na: 1", "a tag"),
        ("a: [&x y]", "an anchor"),
        ("<<: {a: 1}", "a merge key"),
        ("a: {<<: {b: 1}}", "a merge key"),
        ("a: {<< : {b: 1}}", "a merge key"),
        ("a: |\n  text", "a block scalar"),
        ("a: >-\n  text", "a block scalar"),
        ("%YAML 1.2\n", "a directive"),
        ("a: @b", "a value cannot start here"),
        ("a: `b", "a value cannot start here"),
        ("a: 1\na: 1", "a key stands twice"),
        ("a: 1\n'a': 1", "a key stands twice"),
        ("a: {b: 1, \"b\": 2}", "a key stands twice"),
        ('{"\\u0061": 1, a: 2}', "a key stands twice"),
        ("a: 1\n--- \nb: 2", "a second document"),
        ("--- a", "a second document"),
        ("a: 1\n...", "a second document"),
        ("a: 'x\n--- y'", "a second document"),
        ("a:\n\tb: 1", "a tab as indentation"),
        ("a:\n  \tb: 1", "a tab as indentation"),
        ("a: {\n\tb: 1}", "a tab as indentation"),
        ("\ta: 1", "a tab as indentation"),
        ("-\ta: 1", "a tab as indentation"),
        ("? a\n: b", "a value cannot start here"),
        ("1: a", "a key must be a string, or be quoted"),
        ("true: a", "a key must be a string, or be quoted"),
        ("~: a", "a key must be a string, or be quoted"),
        ("{null: a}", "a key must be a string, or be quoted"),
        (": a", "a value cannot start here"),
        ("{: a}", "a value cannot start here"),
        ("a: b: c", "a mapping cannot start inside a value"),
        ("a: b\n  c: d", "a mapping cannot start inside a value"),
        ("a: - b", "a value cannot start here"),
        ("a: 'b' c", "unexpected text after a value"),
        ("a: [b] c", "unexpected text after a value"),
        ("a: 'b'#c", "unexpected text after a value"),
        ("a: 'b': c", "unexpected text after a value"),
        ("a: 'b", "a quote is not closed"),
        ('a: "b\\"', "a quote is not closed"),
        ("a: [b", "expected ',' or ']'"),
        ("a: [", "a value cannot start here"),
        ("a: [b, , c]", "a value cannot start here"),
        ("a: [, b]", "a value cannot start here"),
        ("a: [b: c]", "expected ',' or ']'"),
        ("a: [b}", "expected ',' or ']'"),
        ("a: {b: 1", "expected ',' or '}'"),
        ("a: {b]", "expected ',' or '}'"),
        ("a: ]", "a value cannot start here"),
        ("a: [#b]", "a value cannot start here"),
        ("a: 1\n b: 2", "a mapping cannot start inside a value"),
        ("a: '1'\n b: 2", "unexpected text or indentation"),
        ("a:\n  b: 1\n c: 2", "unexpected text or indentation"),
        (" a: 1\nb: 2", "unexpected text or indentation"),
        ("a: 1\nb", "expected a key"),
        ("a: 1\n- b", "expected a key"),
        ("- a\nb: 1", "unexpected text or indentation"),
        ("- a\n - b\n-c", "unexpected text or indentation"),
        ("a: b # c\n  d", "unexpected text or indentation"),
        (r'a: "\q"', "an unknown escape"),
        (r'a: "\x4"', "an unknown escape"),
        (r'a: "\U00110000"', "an unknown escape"),
        (r'a: "\ud83d"', "half a surrogate pair"),
        (r'a: "\ude00\ud83d"', "half a surrogate pair"),
        ("a: b\x07", "a control character"),
        ("a: 'b\x1f'", "a control character"),
        ("a: b\x7f", "a control character"),
        ("a\x80: b", "a control character"),
    ],
    ids=ascii,
)  # fmt: skip
def test_what_is_outside_the_subset_is_refused_with_its_reason(text, reason):
    assert refusal(text).partition(": ")[2] == reason


def test_a_refusal_names_the_line():
    assert refusal("a: 1\n\nb: {\n  c: &x 1}") == "line 4: an anchor"
    assert refusal("a: 1\n\tb: 2") == "line 2: a tab as indentation"
    with pytest.raises(NotAccepted, match="line 3: an alias"):
        yaml_subset.read("a: 1\nb: *x", first_line=2)


@pytest.mark.parametrize(
    "deep",
    [
        lambda n: "[" * n + "]" * n,
        lambda n: "{a: " * n + "1" + "}" * n,
        lambda n: "- " * n + "1",
        lambda n: "\n".join(" " * level + "a:" for level in range(n)),
        lambda n: "- a: " + "[" * (n - 2) + "]" * (n - 2),
    ],
)
def test_nesting_is_bounded_to_eight(deep):
    assert nesting(yaml_subset.read(deep(8))) == 8
    assert refusal(deep(9)).endswith(": nested deeper than 8")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 60_000, "{" * 60_000, "{a: " * 15_000, "- " * 30_000, '"' * 60_001, "'" * 60_001, "a: '" + "''" * 30_000,
        'a: "' + "\\" * 60_001, "a: [" + "," * 60_000, " :" * 30_000, "? " * 30_000, "a: " + "1" * 60_000,
        'a: "' + " \t" * 30_000, "a: [" + "\n#x" * 20_000, "".join(f"{' ' * n}k{n}:\n" for n in range(300)),
    ],
    ids=lambda text: text[:6],
)  # fmt: skip
def test_hostile_text_is_refused_not_suffered(text):
    assert refusal(text).startswith("line ")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('a: "' + " " * 60_000 + '"', {"a": " " * 60_000}),
        ('a: "x' + " " * 60_000 + '\n y"', {"a": "x y"}),
        ('a: "' + "\n" * 60_000 + '"', {"a": "\n" * 59_999}),
        ("a: x" + "\n" * 60_000 + " y", {"a": "x" + "\n" * 59_999 + "y"}),
        ("a: " + ":" * 60_000 + "b", {"a": ":" * 60_000 + "b"}),
        ("#\n" * 30_000 + "a: 1", {"a": 1}),
        (" " * 60_000 + "a: 1", {"a": 1}),
        ("[" + "1," * 30_000 + "]", [1] * 30_000),
    ],
    ids=lambda value: str(value)[:6],
)
def test_long_text_is_read(text, value):
    assert yaml_subset.read(text) == value


@given(values, st.sampled_from([None, 1, 2]), st.booleans())
def test_every_json_text_is_read(value, indent, escaped):
    text = json.dumps(value, indent=indent, ensure_ascii=escaped)
    if nesting(value) > 8:
        assert refusal(text).endswith(": nested deeper than 8")
    else:
        assert repr(yaml_subset.read(text)) == repr(value)


@given(
    values.filter(lambda value: nesting(value) <= 8),
    st.sampled_from([True, False, None]),
    st.sampled_from([20, 80, 10_000]),
    st.sampled_from([2, 4]),
    st.booleans(),
)
def test_what_another_writer_spells_is_read(value, flow, width, indent, unicode):
    text = yaml.dump(
        value,
        Dumper=Dumper,
        default_flow_style=flow,
        width=width,
        indent=indent,
        allow_unicode=unicode,
        sort_keys=False,
    ).removesuffix("...\n")
    assume("? " not in text)  # It spells long and empty keys that way, which is no part of the subset.
    assert repr(yaml_subset.read(text)) == repr(value)


@given(st.text(st.sampled_from("ab1:-?,[]{}#&*!|>'\"%@\\ \n\t~"), max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        value = yaml_subset.read(text)
    except NotAccepted:
        return
    assert nesting(value) <= 8
    json.dumps(value, allow_nan=False)
