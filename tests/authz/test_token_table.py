from __future__ import annotations

import traceback

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authz.caller import Allowance
from authz.token_table import TableEntry, TableRefused, parse
from neosian_site.checks import callers_can_be_told_apart

SECRET = "s3cr3t-v4lue"


def entry(actor: str, token: str, scope: str | None = None, conversation: str | None = None) -> TableEntry:
    return TableEntry(actor, token, Allowance(scope, conversation))


ACCEPTED = {
    "plain": [TableEntry("client:default", "plain", None)],
    "one, two": [TableEntry("client:default", "one, two", None)],
    " ": [TableEntry("client:default", " ", None)],
    "a:b@c+d": [TableEntry("client:default", "a:b@c+d", None)],
    "client:a=t": [TableEntry("client:a", "t", None)],
    "client:a=t,client:b=u": [TableEntry("client:a", "t", None), TableEntry("client:b", "u", None)],
    "client:a=t=u==": [TableEntry("client:a", "t=u==", None)],
    "client:a= t @+ ": [TableEntry("client:a", " t @+ ", None)],
    "client:a/b:c=t": [TableEntry("client:a/b:c", "t", None)],
    "client:a#3=t": [TableEntry("client:a#3", "t", None)],
    "client:a#10=t": [TableEntry("client:a#10", "t", None)],
    "a1_-:A.b_-9=t": [TableEntry("a1_-:A.b_-9", "t", None)],
    "client:...=t": [TableEntry("client:...", "t", None)],
    "client:a=ü鍵": [TableEntry("client:a", "ü鍵", None)],
    # Only a scope prefix closes every conversation, only an id prefix leaves every scope open.
    "client:a@user:x=t": [entry("client:a", "t", "user:x", None)],
    "client:a+x-=t": [entry("client:a", "t", "", "x-")],
    "client:a@user:x+x-=t": [entry("client:a", "t", "user:x", "x-")],
    # The first "+" ends the scope half: an "@" behind it belongs to the id prefix.
    "client:a+x-@user:x=t": [entry("client:a", "t", "", "x-@user:x")],
    "client:a+x+y=t": [entry("client:a", "t", "", "x+y")],
    "client:a@x@y=t": [entry("client:a", "t", "x@y", None)],
    "client:a@*=t": [entry("client:a", "t", "*", None)],
    "client:a@ =t": [entry("client:a", "t", " ", None)],
    "client:a=t,client:A=u": [TableEntry("client:a", "t", None), TableEntry("client:A", "u", None)],
    "client:a=t,client:b=T": [TableEntry("client:a", "t", None), TableEntry("client:b", "T", None)],
    "/".join(["k:i"] * 8) + "=t": [TableEntry("/".join(["k:i"] * 8), "t", None)],
    "k" * 32 + ":" + "i" * 128 + "=t": [TableEntry("k" * 32 + ":" + "i" * 128, "t", None)],
}


@pytest.mark.parametrize("value", ACCEPTED, ids=lambda value: value[:30])
def test_a_table_is_read_in_order(value):
    assert parse(value) == tuple(ACCEPTED[value])


# Each refused table, and the place of the entry that is named.
REFUSED = {
    f"client:a={SECRET},": 2,
    f"client:a={SECRET},,client:b=u": 2,
    f",client:a={SECRET}": 1,
    f"client:a=t,{SECRET}": 2,
    f"{SECRET},client:a=t": 1,
    "client:a=": 1,
    f"client:a={SECRET},client:b=": 2,
    f"={SECRET}": 1,
    f"@user:x={SECRET}": 1,
    f"a={SECRET}": 1,
    f"Client:a={SECRET}": 1,
    f"client:a b={SECRET}": 1,
    f" client:a={SECRET}": 1,
    f"client:a ={SECRET}": 1,
    f"client:a={SECRET}, client:b=u": 2,
    f"client:a={SECRET}\n,client:b\n=u": 2,
    f"client:a\n={SECRET}": 1,
    f"client:={SECRET}": 1,
    f":a={SECRET}": 1,
    f"1client:a={SECRET}": 1,
    f"client:.={SECRET}": 1,
    f"client:..={SECRET}": 1,
    f"client:..#1={SECRET}": 1,
    f"client:../b:c={SECRET}": 1,
    f"client:a/={SECRET}": 1,
    f"/client:a={SECRET}": 1,
    f"client:a//b:c={SECRET}": 1,
    f"client:a/b={SECRET}": 1,
    f"client:a#0={SECRET}": 1,
    f"client:a#01={SECRET}": 1,
    f"client:a#={SECRET}": 1,
    f"client:a#x={SECRET}": 1,
    f"client:a#1#2={SECRET}": 1,
    f"client:a#1/b:c={SECRET}": 1,
    f"client:ü={SECRET}": 1,
    f"client:a\uff11={SECRET}": 1,
    f"client:a\0={SECRET}": 1,
    "/".join(["k:i"] * 9) + f"={SECRET}": 1,
    "k" * 33 + f":i={SECRET}": 1,
    "k:" + "i" * 129 + f"={SECRET}": 1,
    "/".join(["k:" + "i" * 126] * 4) + f"#1={SECRET}": 1,
    f"client:a={SECRET},client:b={SECRET}": 2,
    f"client:a=t,client:a={SECRET}": 2,
    f"client:a={SECRET},client:a@user:x=u": 2,
    f"client:a={SECRET},client:b=u,client:a+x=v": 3,
    f"client:a@={SECRET}": 1,
    f"client:a+={SECRET}": 1,
    f"client:a@+={SECRET}": 1,
    f"client:a@+x={SECRET}": 1,
    f"client:a@user:x+={SECRET}": 1,
    # A bare token that holds "=" is read as an entry.
    f"{SECRET}=": 1,
    f"{SECRET}==": 1,
    f"{SECRET}={SECRET}": 1,
    f"x,{SECRET}==": 1,
}


@pytest.mark.parametrize("value", REFUSED, ids=lambda value: ascii(value)[:40])
def test_a_table_that_cannot_be_read_names_the_entrys_place_and_never_a_token(value):
    with pytest.raises(TableRefused) as refused:
        parse(value)
    assert str(refused.value).startswith(f"NEOSIAN_SERVE_TOKEN entry {REFUSED[value]}: ")
    # Neither the message nor what a log would print of the failure.
    assert SECRET not in "".join(traceback.format_exception_only(refused.value))
    assert refused.value.__cause__ is None


def test_an_empty_table_is_refused():
    with pytest.raises(TableRefused, match="NEOSIAN_SERVE_TOKEN is empty"):
        parse("")


@given(st.text())
def test_any_value_is_a_table_or_refused(value):
    try:
        entries = parse(value)
    except TableRefused:
        return
    assert len(entries) >= 1
    assert len({found.actor for found in entries}) == len({found.token for found in entries}) == len(entries)
    assert all(found.token for found in entries)


actors = st.from_regex(r"[a-z][a-z0-9_-]{0,5}:[A-Za-z0-9_-]{1,5}(?:/[a-z]:[a-z]){0,2}(?:#[1-9])?", fullmatch=True)
prefixes = st.none() | st.text(st.characters(exclude_characters=",=+@"), min_size=1)
secrets = st.text(st.characters(exclude_characters=","), min_size=1)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(actors, prefixes, prefixes, secrets), unique_by=(lambda e: e[0], lambda e: e[3]), min_size=1))
def test_what_is_written_by_the_grammar_is_read_back(written):
    value = ",".join(
        actor + ("" if scope is None else f"@{scope}") + ("" if ids is None else f"+{ids}") + f"={token}"
        for actor, scope, ids, token in written
    )
    assert parse(value) == tuple(
        TableEntry(
            actor,
            token,
            None if scope is None and ids is None else Allowance("" if scope is None else scope, ids),
        )
        for actor, scope, ids, token in written
    )


@pytest.mark.parametrize(("value", "errors"), [(None, 0), ("plain", 0), ("client:a=t", 0), ("", 1), (f"{SECRET}==", 1)])
def test_the_system_check_refuses_what_cannot_be_read(settings, value, errors):
    settings.NEOSIAN_SERVE_TOKEN = value
    found = callers_can_be_told_apart()
    assert [message.id for message in found] == ["neosian.E001"] * errors
    assert SECRET not in "".join(str(message) for message in found)


@pytest.mark.parametrize(
    ("allowance", "scope", "conversation"),
    [
        (Allowance("user:a", "a-"), True, True),
        (Allowance("user:b", "b-"), False, False),
        (Allowance(None, None), False, False),
        (Allowance("", ""), True, True),
        (Allowance("user:a/", None), False, False),
        (Allowance("User:a", "A-"), False, False),
        (Allowance(None, "a"), False, True),
        (Allowance("u", None), True, False),
    ],
)
def test_an_allowance_covers_what_begins_with_its_prefix(allowance, scope, conversation):
    assert allowance.covers_scope("user:a") is scope
    assert allowance.covers_conversation("a-1") is conversation
