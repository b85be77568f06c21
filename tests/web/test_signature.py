from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.signature import TOKEN_WORDS_MAX, TOKENS_MAX, hamming, text_signature
from batchcrawl.web.signature import simhash as simhash_of_tokens

TEXT = " ".join(f"word{n % 97} filler{n % 31} tail{n % 13}" for n in range(600))


def simhash(text: str) -> bytes:
    return simhash_of_tokens(Counter(text.split()))


def test_signatures_have_known_bytes() -> None:
    assert text_signature("Hello World").hex() == "e9a804b2e527fd3601d2ffc0bb023cd6"
    assert simhash("Hello  World hello").hex() == "7d34e501a8edb6a7"


def test_case_and_line_ends_do_not_count() -> None:
    assert text_signature("STRASSE\na") == text_signature("straße a")
    assert simhash("STRASSE, a") == simhash("straße a")


def test_other_words_give_another_signature() -> None:
    assert text_signature("a b") != text_signature("a c")
    assert text_signature("ab") != text_signature("a b")


def test_near_texts_have_near_simhashes() -> None:
    assert hamming(simhash(TEXT), simhash(TEXT + " one more sentence here")) <= 3


def test_different_texts_have_distant_simhashes() -> None:
    other = " ".join(f"other{n % 83} thing{n % 29}" for n in range(600))
    assert hamming(simhash(TEXT), simhash(other)) > 10


def test_a_text_without_words_has_a_simhash_of_zeros() -> None:
    assert simhash(" ,. ") == bytes(8)


def test_the_most_tokens_of_the_most_words_do_not_overflow_a_lane() -> None:
    assert simhash_of_tokens({"same," * TOKEN_WORDS_MAX: TOKENS_MAX}) == simhash("same")


def test_more_words_of_one_token_are_cut() -> None:
    assert simhash("same," * TOKEN_WORDS_MAX + "other," * 3 * TOKEN_WORDS_MAX) == simhash("same")


@pytest.mark.parametrize(
    ("a", "b", "distance"), [(b"\x00" * 8, b"\xff" * 8, 64), (b"\x01", b"\x02", 2), (b"a", b"a", 0)]
)
def test_hamming_counts_bits(a: bytes, b: bytes, distance: int) -> None:
    assert hamming(a, b) == distance


def by_definition(words: list[str]) -> int:
    digests = [blake2b(word.encode(), digest_size=8).digest() for word in words]
    ones = [sum(digest[bit // 8] >> bit % 8 & 1 for digest in digests) for bit in range(64)]
    return sum(1 << bit for bit, count in enumerate(ones) if count * 2 > len(words))


@given(st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]), max_size=60))
def test_a_simhash_is_the_majority_of_its_words_bits(words: list[str]) -> None:
    assert int.from_bytes(simhash(" ".join(words)), "big") == by_definition(words)


@given(st.text())
def test_any_text_has_signatures(text: str) -> None:
    assert len(text_signature(text)) == 16
    assert len(simhash(text)) == 8
