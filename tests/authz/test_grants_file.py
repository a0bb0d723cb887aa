"""Grants as a file: every refusal with its place, the bound, and that what is written is read back."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from authz import grants_file, startup, tokens
from authz.grants import NOTHING, ClientEntry, ConversationGrant, Permissions, ScopeGrant
from authz.grants_file import MAX_BYTES, GrantsRefused
from authz.token_table import TableRefused
from neosian_site.checks import callers_can_be_told_apart

SECRET = "S3cr3t/v4lue"
CLIENT = '[[clients]]\nactor = "client:a"\n'
HEAD = f"grant_format = 1\n{CLIENT}"
SCOPE = "[[clients.scopes]]\n"
TALK = "[[clients.conversations]]\n"
IN_SCOPE = f"{HEAD}{SCOPE}"
IN_TALK = f"{HEAD}{TALK}"
ONE = "clients entry 1: "
ONE_SCOPE = f"{ONE}scopes entry 1: "
ONE_TALK = f"{ONE}conversations entry 1: "
NO_SCOPE = "must match <type>:<id>[/<type>:<id>...]"
NO_ID = "must match [A-Za-z0-9_.-]{1,128}, one flat segment"
NO_PREFIX = "must be 1 to 128 of [A-Za-z0-9_.-]"
NO_ACTOR = "actor must be kind:id segments joined by '/', for example client:alice"

FULL = f"""
grant_format = 1

[[clients]]
actor = "client:a"
operator = true
{SCOPE}scope = "workspace:team"
read = true
{SCOPE}scope = "workspace:team/user:b"
write = true
{TALK}prefix = "w-1-"
read = true
append = false
{TALK}ids = ["c", "d"]
append = true

[[clients]]
actor = "client:b"
"""


def test_a_file_is_read_in_its_order():
    assert grants_file.parse(FULL.encode()) == (
        ClientEntry(
            "client:a",
            True,
            (ScopeGrant("workspace:team", read=True), ScopeGrant("workspace:team/user:b", write=True)),
            (ConversationGrant("w-1-", read=True), ConversationGrant(ids=("c", "d"), append=True)),
        ),
        ClientEntry("client:b"),
    )


@pytest.mark.parametrize(
    "text",
    [
        "grant_format = 1",
        "# only a comment\ngrant_format = 1\nclients = []\n",
        "grant_format = 0x1\r\n",
    ],
)
def test_a_file_without_clients_is_good_and_denies_everyone(text, tmp_path):
    path = written(tmp_path, text)
    assert grants_file.load(path, {"client:a"}).of("client:a") is NOTHING


def test_inline_tables_are_tables():
    text = """grant_format = 1\nclients = [{actor = "client:a", scopes = [{scope = "user:a", read = true}]}]"""
    assert grants_file.parse(text.encode()) == (ClientEntry("client:a", scopes=(ScopeGrant("user:a", read=True),)),)


def test_one_scope_or_prefix_may_stand_for_two_clients():
    second = CLIENT.replace("client:a", "client:b")
    both = f'{SCOPE}scope = "user:a"\n{TALK}prefix = "p"\n'
    assert [entry.actor for entry in grants_file.parse(f"{HEAD}{both}{second}{both}".encode())] == [
        "client:a",
        "client:b",
    ]


# The file, and what is said of it.
REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "grant_format is missing; write grant_format = 1"),
    "no TOML": ("grant_format = 1\n[[clients]\n", "not a TOML file in UTF-8"),
    "a line of the token table": (f"client:a={SECRET}\n", "not a TOML file in UTF-8"),
    "a key twice": ("grant_format = 1\ngrant_format = 1\n", "not a TOML file in UTF-8"),
    "no UTF-8": (b"grant_format = 1\n# \xff\n", "not a TOML file in UTF-8"),
    "UTF-16": ("grant_format = 1\n".encode("utf-16"), "not a TOML file in UTF-8"),
    "a NUL": (b"grant_format = 1\n\0", "not a TOML file in UTF-8"),
    "too deep": ("grant_format = 1\nclients = " + "[" * 5000 + "]" * 5000, "not a TOML file in UTF-8"),
    "too many digits": (f"grant_format = {'1' * 5000}\n", "not a TOML file in UTF-8"),
    "no format": (CLIENT, "grant_format is missing; write grant_format = 1"),
    "format 2": ("grant_format = 2", "grant_format must be the integer 1"),
    "format 0": ("grant_format = 0", "grant_format must be the integer 1"),
    "format as text": ('grant_format = "1"', "grant_format must be the integer 1"),
    "format as a number": ("grant_format = 1.0", "grant_format must be the integer 1"),
    "format as a boolean": ("grant_format = true", "grant_format must be the integer 1"),
    "format as a list": ("grant_format = [1]", "grant_format must be the integer 1"),
    "an unknown key": ("grant_format = 1\nreads = 1", "unknown key 'reads' (known: grant_format, clients)"),
    "an unknown key comes before the format": ("reads = 1", "unknown key 'reads' (known: grant_format, clients)"),
    "a known key at the wrong level": (
        "grant_format = 1\nscopes = []",
        "unknown key 'scopes' (known: grant_format, clients)",
    ),
    "another case": ("Grant_format = 1", "unknown key 'Grant_format' (known: grant_format, clients)"),
    "an unknown key of a client": (
        f"{HEAD}role = 'admin'",
        f"{ONE}unknown key 'role' (known: actor, operator, scopes, conversations)",
    ),
    "a token in the file": (
        f'{HEAD}token = "{SECRET}"',
        f"{ONE}unknown key 'token' (known: actor, operator, scopes, conversations)",
    ),
    "an unknown key of a scope": (
        f'{IN_SCOPE}scope = "user:a"\nreads = true',
        f"{ONE_SCOPE}unknown key 'reads' (known: scope, read, write)",
    ),
    "append on a scope": (
        f'{IN_SCOPE}scope = "user:a"\nappend = true',
        f"{ONE_SCOPE}unknown key 'append' (known: scope, read, write)",
    ),
    "write on a conversation": (
        f'{IN_TALK}prefix = "p"\nwrite = true',
        f"{ONE_TALK}unknown key 'write' (known: prefix, ids, read, append)",
    ),
    "clients as a table": (
        'grant_format = 1\n[clients]\nactor = "client:a"',
        "clients must be an array of tables: write [[clients]] entries",
    ),
    "clients as text": (
        'grant_format = 1\nclients = "client:a"',
        "clients must be an array of tables: write [[clients]] entries",
    ),
    "clients as a list of text": (
        'grant_format = 1\nclients = ["client:a"]',
        "clients must be an array of tables: write [[clients]] entries",
    ),
    "scopes as text": (f'{HEAD}scopes = "user:a"', f"{ONE}scopes must be an array of tables: write [[scopes]] entries"),
    "conversations as a table": (
        f'{HEAD}[clients.conversations]\nprefix = "p"',
        f"{ONE}conversations must be an array of tables: write [[conversations]] entries",
    ),
    "no actor": ("grant_format = 1\n[[clients]]\noperator = true", f"{ONE}actor is missing"),
    "actor as a number": ("grant_format = 1\n[[clients]]\nactor = 1", f"{ONE}actor must be a string"),
    "an empty actor": ('grant_format = 1\n[[clients]]\nactor = ""', f"{ONE}{NO_ACTOR}"),
    "an actor with its allowance": ('grant_format = 1\n[[clients]]\nactor = "client:a@user:"', f"{ONE}{NO_ACTOR}"),
    "an actor with its token": (f'grant_format = 1\n[[clients]]\nactor = "client:a={SECRET}"', f"{ONE}{NO_ACTOR}"),
    "an actor twice": (f"{HEAD}{CLIENT}", "clients entry 2: actor: client:a has an entry already"),
    "operator as text": (f'{HEAD}operator = "yes"', f"{ONE}operator must be true or false"),
    "operator as a number": (f"{HEAD}operator = 1", f"{ONE}operator must be true or false"),
    "no scope": (f"{IN_SCOPE}read = true", f"{ONE_SCOPE}scope is missing"),
    "scope as a list": (f'{IN_SCOPE}scope = ["user:a"]', f"{ONE_SCOPE}scope must be a string"),
    "an empty scope": (f'{IN_SCOPE}scope = ""', f"{ONE_SCOPE}scope: {NO_SCOPE}"),
    "a scope without a type": (f'{IN_SCOPE}scope = "team"', f"{ONE_SCOPE}scope: {NO_SCOPE}"),
    "a star": (f'{IN_SCOPE}scope = "workspace:*"', f"{ONE_SCOPE}scope: {NO_SCOPE}"),
    "a reserved id": (f'{IN_SCOPE}scope = "user:."', f"{ONE_SCOPE}scope: id '.' is reserved"),
    "a token as a scope": (f'{IN_SCOPE}scope = "{SECRET}"', f"{ONE_SCOPE}scope: {NO_SCOPE}"),
    "read as a number": (f'{IN_SCOPE}scope = "user:a"\nread = 1', f"{ONE_SCOPE}read must be true or false"),
    "write as text": (f'{IN_SCOPE}scope = "user:a"\nwrite = "true"', f"{ONE_SCOPE}write must be true or false"),
    "a scope twice": (
        f'{IN_SCOPE}scope = "user:a"\n{SCOPE}scope = "user:a"\nread = true',
        f"{ONE}scope 'user:a' stands twice for one client",
    ),
    "the second scope": (f'{IN_SCOPE}scope = "user:a"\n{SCOPE}scope = "x"', f"{ONE}scopes entry 2: scope: {NO_SCOPE}"),
    "prefix and ids": (f'{IN_TALK}prefix = "p"\nids = ["a"]', f"{ONE_TALK}give exactly one of prefix and ids"),
    "neither prefix nor ids": (f"{IN_TALK}read = true", f"{ONE_TALK}give exactly one of prefix and ids"),
    "no ids": (f"{IN_TALK}ids = []", f"{ONE_TALK}ids must name at least one conversation"),
    "ids as text": (f'{IN_TALK}ids = "a"', f"{ONE_TALK}ids must be a list of strings"),
    "ids as numbers": (f"{IN_TALK}ids = [1]", f"{ONE_TALK}ids must be a list of strings"),
    "a malformed id": (f'{IN_TALK}ids = ["a", "a/b"]', f"{ONE_TALK}ids entry 2: {NO_ID}"),
    "a reserved conversation": (f'{IN_TALK}ids = [".."]', f"{ONE_TALK}ids entry 1: id '..' is reserved"),
    "a token as an id": (f'{IN_TALK}ids = ["{SECRET}"]', f"{ONE_TALK}ids entry 1: {NO_ID}"),
    "an id twice": (f'{IN_TALK}ids = ["a", "b", "a"]', f"{ONE_TALK}an id stands twice in one list"),
    "an empty prefix": (f'{IN_TALK}prefix = ""', f"{ONE_TALK}prefix: {NO_PREFIX}"),
    "a prefix of 129": (f'{IN_TALK}prefix = "{"x" * 129}"', f"{ONE_TALK}prefix: {NO_PREFIX}"),
    "a prefix of other letters": (f'{IN_TALK}prefix = "wä-"', f"{ONE_TALK}prefix: {NO_PREFIX}"),
    "a token as a prefix": (f'{IN_TALK}prefix = "{SECRET}"', f"{ONE_TALK}prefix: {NO_PREFIX}"),
    "prefix as a number": (f"{IN_TALK}prefix = 1", f"{ONE_TALK}prefix must be a string"),
    "append as a number": (f'{IN_TALK}prefix = "p"\nappend = 0', f"{ONE_TALK}append must be true or false"),
    "a prefix twice": (
        f'{IN_TALK}prefix = "p"\n{TALK}prefix = "p"\nread = true',
        f"{ONE}prefix 'p' stands twice for one client",
    ),
}


def written(folder: Path, content: str | bytes) -> str:
    path = folder / "grants.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def said_in_full(error: BaseException) -> str:
    """The message and those of everything it came from, as a log would print them."""
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_that_cannot_be_used_is_refused_with_its_place_and_no_value(name, tmp_path):
    content, said = REFUSED[name]
    with pytest.raises(GrantsRefused) as refused:
        grants_file.parse(content if isinstance(content, bytes) else content.encode())
    assert str(refused.value) == said
    path = written(tmp_path, content)
    with pytest.raises(GrantsRefused) as loaded:
        startup.check(f"client:a={SECRET}", path)
    assert str(loaded.value) == f"grants file {path}: {said}"
    assert SECRET not in str(loaded.value)
    assert SECRET not in said_in_full(loaded.value)


@pytest.mark.parametrize(
    ("actor", "known"),
    [
        ("client:nobody", {"client:a"}),
        ("client:A", {"client:a"}),
        ("client:a/b:c", {"client:a"}),
        ("client:a", set()),
    ],
)
def test_an_actor_must_stand_in_the_token_table(tmp_path, actor, known):
    path = written(tmp_path, f'grant_format = 1\n[[clients]]\nactor = "{actor}"\n')
    with pytest.raises(GrantsRefused) as refused:
        grants_file.load(path, known)
    assert str(refused.value) == f"grants file {path}: clients entry 1: actor: {actor} is not in the token table"


def padded(length: int) -> bytes:
    text = (HEAD + f'{SCOPE}scope = "user:a"\nread = true\n#').encode()
    return text + b"x" * (length - len(text))


def test_a_file_of_exactly_one_mebibyte_is_read_and_one_byte_more_is_refused(tmp_path):
    assert MAX_BYTES == 1_048_576
    path = written(tmp_path, padded(MAX_BYTES))
    assert grants_file.load(path, {"client:a"}).of("client:a") == Permissions(read_scopes=frozenset({"user:a"}))
    path = written(tmp_path, padded(MAX_BYTES + 1))
    with pytest.raises(GrantsRefused) as refused:
        grants_file.load(path, {"client:a"})
    assert str(refused.value) == f"grants file {path}: longer than 1048576 bytes"
    with pytest.raises(GrantsRefused, match="longer than 1048576 bytes"):
        grants_file.parse(padded(MAX_BYTES + 1))


def test_a_file_that_never_ends_is_given_up_at_the_bound():
    with pytest.raises(GrantsRefused, match="longer than 1048576 bytes"):
        grants_file.load("/dev/zero", set())


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    absent = str(tmp_path / "absent.toml")
    with pytest.raises(GrantsRefused) as refused:
        grants_file.load(absent, set())
    assert str(refused.value) == f"grants file {absent}: No such file or directory"
    with pytest.raises(GrantsRefused) as refused:
        grants_file.load(str(tmp_path), set())
    assert str(refused.value) == f"grants file {tmp_path}: Is a directory"


def test_the_start_judges_the_table_before_the_file(tmp_path):
    path = written(tmp_path, "nothing of use")
    with pytest.raises(TableRefused):
        startup.check("", path)
    with pytest.raises(GrantsRefused):
        startup.check("client:a=t", path)
    # A file without a table can only be empty.
    startup.check(None, written(tmp_path, "grant_format = 1"))
    with pytest.raises(GrantsRefused, match="client:a is not in the token table"):
        startup.check(None, written(tmp_path, HEAD))
    startup.check("bare", written(tmp_path, HEAD.replace("client:a", "client:default")))
    startup.check(None, None)


@pytest.mark.parametrize(
    ("content", "ids"),
    [(FULL, []), ("grant_format = 2", ["neosian.E005"]), (f'{HEAD}token = "{SECRET}"', ["neosian.E005"])],
)
def test_the_system_check_names_the_fault(settings, tmp_path, content, ids):
    settings.NEOSIAN_SERVE_TOKEN = f"client:a={SECRET},client:b=t"
    settings.NEOSIAN_SERVE_GRANTS = written(tmp_path, content)
    found = callers_can_be_told_apart()
    assert [message.id for message in found] == ids
    assert SECRET not in "".join(str(message) for message in found)


def test_the_file_is_read_once(settings, tmp_path):
    settings.NEOSIAN_SERVE_TOKEN = "client:a=t"
    settings.NEOSIAN_SERVE_GRANTS = path = written(tmp_path, HEAD)
    first = tokens.environment_grants()
    assert first is not None
    assert list(first.clients) == ["client:a"]
    written(tmp_path, "broken")
    assert tokens.environment_grants() is first
    Path(path).unlink()
    assert tokens.environment_grants() is first


actors = st.from_regex(r"[a-z][a-z0-9_-]{0,5}:[A-Za-z0-9_-]{1,5}(?:/[a-z]:[a-z]){0,2}(?:#[1-9])?", fullmatch=True)
scopes = st.from_regex(r"[a-z][a-z0-9_]{0,5}:[A-Za-z0-9_-]{1,5}(?:/[a-z]:[A-Z.]{3})?", fullmatch=True)
ids = st.from_regex(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,8}", fullmatch=True)
flags = st.booleans()
entries = st.builds(
    ClientEntry,
    actor=actors,
    operator=flags,
    scopes=st.lists(
        st.builds(ScopeGrant, scope=scopes, read=flags, write=flags), max_size=4, unique_by=lambda grant: grant.scope
    ).map(tuple),
    conversations=st.lists(
        st.one_of(
            st.builds(ConversationGrant, prefix=ids, ids=st.none(), read=flags, append=flags),
            st.builds(
                ConversationGrant,
                prefix=st.none(),
                ids=st.lists(ids, min_size=1, max_size=4, unique=True).map(tuple),
                read=flags,
                append=flags,
            ),
        ),
        max_size=4,
        unique_by=lambda grant: grant.prefix or repr(grant.ids),
    ).map(tuple),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(entries, max_size=3, unique_by=lambda entry: entry.actor))
def test_what_is_rendered_is_read_back(clients):
    assert grants_file.parse(grants_file.render(clients).encode()) == tuple(clients)


def test_a_rendered_file_reads_like_one_written_by_hand():
    assert grants_file.render(grants_file.parse(FULL.encode())) == (
        "grant_format = 1\n"
        '\n[[clients]]\nactor = "client:a"\noperator = true\n'
        '[[clients.scopes]]\nscope = "workspace:team"\nread = true\n'
        '[[clients.scopes]]\nscope = "workspace:team/user:b"\nwrite = true\n'
        '[[clients.conversations]]\nprefix = "w-1-"\nread = true\n'
        '[[clients.conversations]]\nids = ["c", "d"]\nappend = true\n'
        '\n[[clients]]\nactor = "client:b"\n'
    )
    assert grants_file.render([]) == "grant_format = 1\n"


@settings(max_examples=100, deadline=None)
@given(
    st.one_of(
        st.binary(max_size=60),
        st.text(max_size=60).map(lambda text: f"grant_format = 1\n{text}".encode("utf-8", "replace")),
    )
)
def test_any_content_is_grants_or_refused(content):
    try:
        found = grants_file.parse(content)
    except GrantsRefused:
        return
    assert all(isinstance(entry, ClientEntry) for entry in found)
