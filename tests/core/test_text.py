"""Text rules of search: folding and splitting by Unicode 17.0.0, whatever the interpreter knows."""

from __future__ import annotations

import hashlib
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neosian_site.core.text import (
    FOLD_COUNT,
    FOLD_DIGEST,
    fold,
    has_nul,
    has_surrogate,
    split_terms,
    split_white_space,
    storable,
)

WHITE_SPACE = [
    *(chr(code) for code in range(0x0009, 0x000E)),
    *"\u0020\u0085\u00a0\u1680",
    *(chr(code) for code in range(0x2000, 0x200B)),
    *"\u2028\u2029\u202f\u205f\u3000",
]
SEPARATORS = ["\x1c", "\x1d", "\x1e", "\x1f"]

# What an interpreter with Unicode 15.x does not know.
NEWER_THAN_15 = {
    0x1C89: 0x1C8A,
    0xA7CB: 0x0264,
    0xA7CC: 0xA7CD,
    0xA7CE: 0xA7CF,
    0xA7D2: 0xA7D3,
    0xA7D4: 0xA7D5,
    0xA7DA: 0xA7DB,
    0xA7DC: 0x019B,
    **{code: code + 0x20 for code in range(0x10D50, 0x10D66)},
    **{code: code + 0x1B for code in range(0x16EA0, 0x16EB9)},
}

# The slow way that the fast ways of `fold` are compared with: each scalar by itself, all of which the digest pins.
# Nothing changes beyond plane 1, which a test below asserts: folding a million single scalars takes seconds.
ALL_CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1)]
FOLDED_ALONE = {char: fold(char) for char in ALL_CHARACTERS[:0x20000]}
CHANGED = {char: lower for char, lower in FOLDED_ALONE.items() if lower != char}


def fold_slowly(text: str) -> str:
    return "".join(FOLDED_ALONE.get(char, char) for char in text)


# Plain random text seldom meets a capital, and hardly ever two of the rare ones.
tricky = st.sampled_from([*CHANGED, *CHANGED.values(), *map(chr, NEWER_THAN_15), *"ΣΣΣςσİıßẞ\u0307\u0345'.-aAé\ua7dd"])
texts = st.lists(st.one_of(tricky, st.characters())).map("".join)
spacing = st.sampled_from([*WHITE_SPACE, *SEPARATORS, "\u200b", "a", "É"])
spaced = st.lists(st.one_of(spacing, st.characters())).map("".join)


def test_the_number_of_scalars_that_change_is_pinned() -> None:
    assert len(CHANGED) == FOLD_COUNT == 1488


def test_the_digest_of_the_mapping_is_pinned() -> None:
    lines = [
        f"{ord(char):04X};{' '.join(f'{ord(part):04X}' for part in lower)}\n" for char, lower in sorted(CHANGED.items())
    ]
    assert hashlib.sha256("".join(lines).encode("ascii")).hexdigest() == FOLD_DIGEST


def test_only_dotted_capital_i_grows() -> None:
    assert [char for char, lower in FOLDED_ALONE.items() if len(lower) != 1] == ["\u0130"]
    assert fold("\u0130") == "i\u0307"
    assert fold("\u0130stanbul") == "i\u0307stanbul"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ΟΔΟΣ", "οδοσ"),
        ("ΟΔΟΣ ΟΔΟΣ.", "οδοσ οδοσ."),
        ("\u03a3", "\u03c3"),
        ("ς", "ς"),
        ("οδος", "οδος"),
        ("ΔΣ\ua7cc", "δσ\ua7cd"),
    ],
)
def test_capital_sigma_is_never_final_and_final_sigma_stays(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("", ""),
        ("Plain ASCII [TEXT] 123", "plain ascii [text] 123"),
        ("CAFÉ", "café"),
        ("CAFE\u0301", "cafe\u0301"),
        ("STRASSE", "strasse"),
        ("Straße", "straße"),
        ("STRA\u1e9eE", "straße"),
        ("Привет МИР", "привет мир"),
        ("\u212a", "k"),
        ("日本語", "日本語"),
        ("\ufb03", "\ufb03"),
    ],
)
def test_folding_lowers_each_letter_and_does_nothing_else(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_accents_and_sharp_s_keep_words_apart() -> None:
    assert fold("CAFÉ") != fold("CAFE")
    assert fold("CAFÉ") != fold("CAFE\u0301")
    assert fold("STRASSE") != fold("Straße")


def test_mappings_newer_than_the_interpreter_are_known() -> None:
    assert len(NEWER_THAN_15) == 55
    assert {code: fold(chr(code)) for code in NEWER_THAN_15} == {code: chr(to) for code, to in NEWER_THAN_15.items()}
    assert fold("İ \U00016ea0 ΟΔΟΣ É") == "i\u0307 \U00016ebb οδοσ é"


def test_a_capital_of_unicode_18_stays_as_it_is() -> None:
    assert fold("\ua7dd") == "\ua7dd"
    assert fold("É\ua7ddÉ") == "é\ua7ddé"


def test_every_scalar_folds_the_same_within_a_text_as_alone() -> None:
    # In blocks, so that most of them hold no character the interpreter lacks and go the fast way.
    rare = set(map(chr, NEWER_THAN_15))
    for start in range(0, 0x20000, 0x1000):
        block = ALL_CHARACTERS[start : start + 0x1000]
        fast = "é" + "".join(char for char in block if char not in rare)
        assert fold(fast) == fold_slowly(fast)
        assert fold("\ua7cb".join(block)) == fold_slowly("\ua7cb".join(block))


def test_no_scalar_beyond_plane_one_changes_here_or_in_the_interpreter() -> None:
    # `fold` looks for the interpreter's own opinions in planes 0 and 1 only.
    beyond = "".join(ALL_CHARACTERS[0x20000:])
    assert beyond.lower() == beyond
    assert fold(beyond) == beyond
    assert fold("\ua7cb" + beyond) == "\u0264" + beyond


@given(texts)
def test_folding_a_text_is_folding_each_of_its_scalars(text: str) -> None:
    assert fold(text) == fold_slowly(text)


@given(texts, texts)
def test_folding_a_joined_text_is_joining_the_folds(left: str, right: str) -> None:
    assert fold(left + right) == fold(left) + fold(right)


@given(st.text(st.characters(max_codepoint=0x7F)))
def test_ascii_folds_as_it_does_beside_other_text(text: str) -> None:
    assert fold(text) == fold_slowly(text)
    assert fold(text + "É\ua7cb") == fold(text) + "é\u0264"


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_no_result_of_folding_is_changed_by_folding() -> None:
    assert set("".join(CHANGED.values())) & set(CHANGED) == set()


def test_a_surrogate_is_folded_to_itself() -> None:
    assert fold("É\ud800A") == "é\ud800a"


def test_white_space_is_the_25_code_points_and_nothing_else() -> None:
    assert len(WHITE_SPACE) == 25
    assert [char for char in ALL_CHARACTERS if split_white_space(f"a{char}b") == ["a", "b"]] == WHITE_SPACE


def test_terms_split_at_white_space_and_the_four_separators_and_nothing_else() -> None:
    cuts = [char for char in ALL_CHARACTERS if split_terms(f"a{char}b") == ["a", "b"]]
    assert cuts == sorted([*WHITE_SPACE, *SEPARATORS])


@pytest.mark.parametrize("joiner", ["\u200b", "\u200d", "\u2060", "\ufeff", "\u180e", "\0"])
def test_invisible_characters_do_not_split(joiner: str) -> None:
    assert split_white_space(f"a{joiner}b") == split_terms(f"a{joiner}b") == [f"a{joiner}b"]


def test_the_four_separators_split_terms_only() -> None:
    assert split_white_space("a\x1cb c") == ["a\x1cb", "c"]
    assert split_terms("a\x1cb\x1f c") == ["a", "b", "c"]


def test_empty_text_and_pure_space_have_no_terms() -> None:
    for text in ("", "".join(WHITE_SPACE)):
        assert split_white_space(text) == []
        assert split_terms(text) == []
    assert split_white_space("".join(SEPARATORS)) == ["".join(SEPARATORS)]
    assert split_terms("".join(SEPARATORS)) == []


@given(spaced)
def test_splitting_loses_nothing_but_the_cuts(text: str) -> None:
    for split, cuts in ((split_white_space, WHITE_SPACE), (split_terms, [*WHITE_SPACE, *SEPARATORS])):
        terms = split(text)
        assert "" not in terms
        assert "".join(terms) == "".join(char for char in text if char not in cuts)
        assert split(" ".join(terms)) == terms


@given(spaced)
def test_each_term_is_a_piece_of_the_split_at_white_space(text: str) -> None:
    assert [term for piece in split_white_space(text) for term in split_terms(piece)] == split_terms(text)


@given(spaced)
def test_folding_and_splitting_can_be_done_in_either_order(text: str) -> None:
    assert split_white_space(fold(text)) == [fold(term) for term in split_white_space(text)]
    assert split_terms(fold(text)) == [fold(term) for term in split_terms(text)]


@pytest.mark.parametrize("code", [0xD800, 0xDBFF, 0xDC00, 0xDFFF])
@pytest.mark.parametrize("around", ["", "a", "é", "日", "😀"])
def test_a_surrogate_anywhere_is_found_and_is_not_storable(code: int, around: str) -> None:
    surrogate = chr(code)
    for text in (surrogate + around, around + surrogate, around + surrogate + around):
        assert has_surrogate(text)
        assert not storable(text)


def test_two_halves_that_would_make_a_character_are_still_surrogates() -> None:
    assert has_surrogate("\ud83d" + "\ude00")
    assert not has_surrogate("\U0001f600")


def test_the_surrogates_are_the_2048_code_points() -> None:
    assert [char for char in ALL_CHARACTERS if has_surrogate(char)] == ALL_CHARACTERS[0xD800:0xE000]


@pytest.mark.parametrize("text", ["\0", "a\0", "\0é", "😀\0😀"])
def test_nul_anywhere_is_found_and_is_not_storable(text: str) -> None:
    assert has_nul(text)
    assert not storable(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_other_text_is_storable(text: str) -> None:
    assert not has_nul(text)
    assert not has_surrogate(text)
    assert storable(text)
