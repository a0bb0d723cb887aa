"""The evaluator of grants, without a database: what a written entry permits, and what cannot be written."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authz import access
from authz.caller import Allowance, Caller
from authz.grants import (
    NOTHING,
    ClientEntry,
    ConversationGrant,
    Grants,
    Permissions,
    ScopeGrant,
    permissions,
)
from neosian_site.core.errors import InvalidValue, NotPermitted

TEAM = "workspace:team"


def refusal(gate, grants, name, allowance=None):
    """What the gate says, or ``None`` where it lets the caller pass."""
    try:
        gate(Caller(1, "client:a", allowance, grants), name)
    except NotPermitted as refused:
        return str(refused)
    return None


def entry(*grants, operator=False):
    return permissions(
        ClientEntry(
            "client:a",
            operator,
            tuple(grant for grant in grants if isinstance(grant, ScopeGrant)),
            tuple(grant for grant in grants if isinstance(grant, ConversationGrant)),
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "workspace:team2",
        "workspace:tea",
        "workspace:team/proj:x",
        "Workspace:team",
        "workspace:Team",
        " workspace:team",
        "workspace:team ",
        "workspace:team\n",
        "workspace:",
        "workspace:*",
        "",
        # Looks the same, and is another letter.
        "workspace:te\u0430m",
    ],
)
def test_a_scope_matches_as_a_whole_string_byte_for_byte(name):
    grants = entry(ScopeGrant(TEAM, read=True, write=True), operator=True)
    for gate, word in ((access.read_scope, "read"), (access.write_scope, "write"), (access.erase_scope, "write")):
        assert refusal(gate, grants, TEAM) is None
        assert refusal(gate, grants, name) == f"this token's grants do not permit {word} on scope {name!r}"


@pytest.mark.parametrize(
    ("name", "covered"),
    [
        ("w-1-", True),
        ("w-1-a", True),
        ("w-1-" + "x" * 124, True),
        ("w-1", False),
        ("w-11", False),
        ("W-1-a", False),
        (" w-1-a", False),
        ("xw-1-a", False),
        ("", False),
    ],
)
def test_a_prefix_is_literal_and_covers_itself(name, covered):
    grants = entry(ConversationGrant(prefix="w-1-", read=True, append=True), operator=True)
    for gate, word in (
        (access.read_conversation, "read"),
        (access.append_conversation, "append"),
        (access.erase_conversation, "append"),
    ):
        wanted = None if covered else f"this token's grants do not permit {word} on conversation {name!r}"
        assert refusal(gate, grants, name) == wanted


def test_a_dot_in_a_prefix_is_a_dot():
    grants = entry(ConversationGrant(prefix="w.1", read=True))
    assert grants.reads_conversation("w.1-a")
    assert not grants.reads_conversation("wx1-a")


def test_an_id_matches_as_a_whole_string():
    grants = entry(ConversationGrant(ids=("w-1", "w-2"), read=True))
    seen = [name for name in ("w-1", "w-2", "w-", "w-12", "w-1-", "W-1", "") if grants.reads_conversation(name)]
    assert seen == ["w-1", "w-2"]


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("write", [False, True])
def test_read_and_write_are_independent(read, write):
    grants = entry(ScopeGrant(TEAM, read, write))
    assert (refusal(access.read_scope, grants, TEAM) is None) is read
    assert (refusal(access.write_scope, grants, TEAM) is None) is write
    assert refusal(access.erase_scope, grants, TEAM) == "this operation needs the operator grant"


@pytest.mark.parametrize("read", [False, True])
@pytest.mark.parametrize("append", [False, True])
@pytest.mark.parametrize("names", [{"prefix": "c"}, {"ids": ("c",)}])
def test_read_and_append_are_independent(read, append, names):
    grants = entry(ConversationGrant(**names, read=read, append=append))
    assert (refusal(access.read_conversation, grants, "c") is None) is read
    assert (refusal(access.append_conversation, grants, "c") is None) is append
    assert refusal(access.erase_conversation, grants, "c") == "this operation needs the operator grant"


def test_permissions_default_to_no():
    grants = entry(ScopeGrant(TEAM), ConversationGrant(prefix="w-"), ConversationGrant(ids=("c",)))
    assert grants == Permissions()
    assert (grants.listed, grants.operator) == (True, False)


def test_a_conversation_gets_the_union_of_all_that_names_it():
    grants = entry(
        ConversationGrant(prefix="w-", read=True),
        ConversationGrant(prefix="w-1-", append=True),
        ConversationGrant(ids=("w-2-a", "x"), append=True),
        ConversationGrant(ids=("x", "y"), read=True),
    )
    names = ("w-1-a", "w-2-a", "w-2-b", "x", "y", "z")
    assert [name for name in names if grants.reads_conversation(name)] == ["w-1-a", "w-2-a", "w-2-b", "x", "y"]
    assert [name for name in names if grants.appends_to(name)] == ["w-1-a", "w-2-a", "x"]


def test_an_operator_still_needs_the_name():
    grants = entry(operator=True)
    assert refusal(access.erase_scope, grants, TEAM) == f"this token's grants do not permit write on scope {TEAM!r}"
    assert refusal(access.read_scope, grants, TEAM) == f"this token's grants do not permit read on scope {TEAM!r}"
    assert refusal(access.erase_conversation, grants, "c") == (
        "this token's grants do not permit append on conversation 'c'"
    )
    access.whole_store(Caller(1, "client:a", None, grants))


def test_erasing_needs_the_operator_and_the_writing_permission():
    reading = entry(ScopeGrant(TEAM, read=True), ConversationGrant(prefix="c", read=True), operator=True)
    assert refusal(access.erase_scope, reading, TEAM) == f"this token's grants do not permit write on scope {TEAM!r}"
    assert refusal(access.erase_conversation, reading, "c") == (
        "this token's grants do not permit append on conversation 'c'"
    )
    writing = entry(ScopeGrant(TEAM, write=True), ConversationGrant(prefix="c", append=True), operator=True)
    assert refusal(access.erase_scope, writing, TEAM) is None
    assert refusal(access.erase_conversation, writing, "c") is None


@pytest.mark.parametrize("operator", [False, True])
@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (None, "this token's grants do not permit read on the whole store"),
        ([], None),
        (["w-1"], None),
        (["w-1", "w-2"], None),
        (["w-1", "x", "y"], "this token's grants do not permit read on conversation 'x'"),
    ],
)
def test_a_list_of_conversations_is_judged_whole(operator, ids, said):
    grants = entry(ConversationGrant(prefix="w-", read=True), operator=operator)
    assert refusal(access.read_conversations, grants, ids) == said


GATES = {
    access.read_scope: TEAM,
    access.write_scope: TEAM,
    access.erase_scope: TEAM,
    access.read_conversation: "c",
    access.append_conversation: "c",
    access.erase_conversation: "c",
    access.read_conversations: [],
}


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.__name__)
def test_who_has_no_entry_may_do_nothing_whatever_the_name(gate):
    for name in (GATES[gate], None) if gate is access.read_conversations else (GATES[gate], "", "!"):
        assert refusal(gate, NOTHING, name) == "this token holds no grants"
        # No entry comes before the allowance.
        assert refusal(gate, NOTHING, name, Allowance(None, None)) == "this token holds no grants"
    assert refusal(lambda caller, _: access.whole_store(caller), NOTHING, None) == "this token holds no grants"


def test_the_allowance_comes_before_the_operator_and_the_name():
    nothing = entry()
    narrow = Allowance("user:", "u-")
    for gate, name, said in (
        (access.read_scope, TEAM, f"scope {TEAM!r}"),
        (access.erase_scope, TEAM, f"scope {TEAM!r}"),
        (access.append_conversation, "c", "conversation 'c'"),
        (access.erase_conversation, "c", "conversation 'c'"),
        (access.read_conversations, None, "the whole store"),
        (access.read_conversations, ["c"], "conversation 'c'"),
    ):
        assert refusal(gate, nothing, name, narrow) == f"this token's allowance does not reach {said}"
    # Inside the allowance the grants decide.
    assert refusal(access.erase_scope, nothing, "user:a", narrow) == "this operation needs the operator grant"
    assert refusal(access.read_scope, nothing, "user:a", narrow) == (
        "this token's grants do not permit read on scope 'user:a'"
    )


def test_an_operators_allowance_closes_the_whole_store_to_it():
    operator = entry(operator=True)
    for narrow in (Allowance("", None), Allowance("", ""), Allowance(None, "")):
        with pytest.raises(NotPermitted, match="allowance does not reach the whole store"):
            access.whole_store(Caller(1, "client:a", narrow, operator))


def test_mounts_are_refused_to_everyone_under_grants():
    message = "grants are enabled: /mcp is not served, use a local stdio bridge"
    for grants in (NOTHING, entry(), entry(operator=True)):
        for allowance in (None, Allowance("", "")):
            with pytest.raises(NotPermitted) as refused:
                access.mounted_memory(Caller(1, "client:a", allowance, grants))
            assert str(refused.value) == message


@pytest.mark.parametrize("operator", [False, True])
def test_no_empty_grant_opens_anything(operator):
    # ``str.startswith`` of no prefix is false, of an empty one true; the latter cannot be written.
    assert not any(entry(operator=operator).reads_conversation(name) for name in ("", "c"))
    assert not any(entry(operator=operator).appends_to(name) for name in ("", "c"))


REFUSED = [
    (lambda: ScopeGrant("team"), "scope 'team': must match <type>:<id>[/<type>:<id>...]"),
    (lambda: ScopeGrant(""), "scope '': must match <type>:<id>[/<type>:<id>...]"),
    (lambda: ScopeGrant("workspace:*"), "scope 'workspace:*': must match <type>:<id>[/<type>:<id>...]"),
    (lambda: ScopeGrant("workspace:team\n"), "scope 'workspace:team\\n': must match <type>:<id>[/<type>:<id>...]"),
    (lambda: ScopeGrant("user:.."), "scope 'user:..': id '..' is reserved"),
    (lambda: ScopeGrant("/".join(["a:b"] * 9)), "scope 'a:b/a:b/a:b/a:b/a:b/a:b/a:b/a:b/a:b': more than 8 segments"),
    (ConversationGrant, "give exactly one of prefix and ids"),
    (lambda: ConversationGrant(prefix="a", ids=("b",)), "give exactly one of prefix and ids"),
    (lambda: ConversationGrant(prefix="a", ids=()), "give exactly one of prefix and ids"),
    (lambda: ConversationGrant(ids=()), "ids must name at least one conversation"),
    (lambda: ConversationGrant(prefix=""), "prefix '': must be 1 to 128 of [A-Za-z0-9_.-]"),
    (lambda: ConversationGrant(prefix="w/"), "prefix 'w/': must be 1 to 128 of [A-Za-z0-9_.-]"),
    (lambda: ConversationGrant(prefix="x" * 129), f"prefix '{'x' * 129}': must be 1 to 128 of [A-Za-z0-9_.-]"),
    (lambda: ConversationGrant(ids=("a", "..")), "id '..': id '..' is reserved"),
    (lambda: ConversationGrant(ids=("a b",)), "id 'a b': must match [A-Za-z0-9_.-]{1,128}, one flat segment"),
    (lambda: ConversationGrant(ids=("a", "b", "a")), "an id stands twice in one list"),
    (
        lambda: ClientEntry("client:a", scopes=(ScopeGrant(TEAM), ScopeGrant("user:a"), ScopeGrant(TEAM, True))),
        f"scope {TEAM!r} stands twice for one client",
    ),
    (
        lambda: ClientEntry("client:a", conversations=(ConversationGrant("p"), ConversationGrant("p", read=True))),
        "prefix 'p' stands twice for one client",
    ),
]


@pytest.mark.parametrize(("make", "said"), REFUSED, ids=[said[:50] for _, said in REFUSED])
def test_what_no_grant_can_be_is_refused_when_it_is_made(make, said):
    with pytest.raises(InvalidValue) as refused:
        make()
    assert str(refused.value) == said


def test_what_looks_like_a_repetition_and_is_none():
    ClientEntry(
        "client:a",
        scopes=(ScopeGrant("user:a"), ScopeGrant("user:A"), ScopeGrant("user:a/x:y")),
        conversations=(
            ConversationGrant("p"),
            ConversationGrant("P"),
            ConversationGrant("p-"),
            ConversationGrant(ids=("p",)),
            ConversationGrant(ids=("p", "q")),
        ),
    )
    # A prefix may be what no whole id is.
    assert ConversationGrant(prefix="..").prefix == ".."


def test_clients_are_looked_up_by_their_whole_actor():
    mine = entry(operator=True)
    grants = Grants({"client:a": mine})
    assert grants.of("client:a") is mine
    for stranger in ("client:A", "client:a/b:c", "client:", ""):
        assert grants.of(stranger) is NOTHING
    assert Grants().of("client:a") is NOTHING


names = st.text("ab-", min_size=1, max_size=3)
conversation_grants = st.one_of(
    st.builds(ConversationGrant, prefix=names, ids=st.none(), read=st.booleans(), append=st.booleans()),
    st.builds(
        ConversationGrant,
        prefix=st.none(),
        ids=st.lists(names, min_size=1, max_size=3, unique=True).map(tuple),
        read=st.booleans(),
        append=st.booleans(),
    ),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(conversation_grants, max_size=4, unique_by=lambda grant: grant.prefix or grant.ids),
    st.lists(names, max_size=4),
)
def test_a_permission_is_given_by_at_least_one_written_line(written, asked):
    grants = permissions(ClientEntry("client:a", conversations=tuple(written)))

    def named(grant, name):
        return name.startswith(grant.prefix) if grant.ids is None else name in grant.ids

    for name in asked:
        assert grants.reads_conversation(name) == any(grant.read and named(grant, name) for grant in written)
        assert grants.appends_to(name) == any(grant.append and named(grant, name) for grant in written)
