"""Signatures of a page's text: one that tells equal texts, one that tells near ones.

The near-duplicate signature is SimHash (M. Charikar, Similarity estimation techniques from rounding algorithms, 2002)
over single words: a bit of it is set where more than half of the words have that bit in their hash.
"""

import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from itertools import islice
from operator import mul

TEXT_SIGNATURE_BYTES = 16
SIMHASH_BYTES = 8
NEAR_BITS = 3
"""Texts are near whose SimHashes differ in at most so many bits."""
TOKEN_WORDS_MAX = 1000
"""How many words of one token SimHash looks at; more are data, not prose."""
TOKENS_MAX = 65_536
"""For so many tokens the counts of SimHash cannot overflow."""

_BITS = 8 * SIMHASH_BYTES
_LANE_BITS = 32
_CACHED_TOKENS_MAX = 32_768
_CACHED_TOKEN_CHARACTERS_MAX = 64
_SPACE_FOR_PUNCTUATION = bytes(octet if chr(octet).isalnum() or octet >= 0x80 else 0x20 for octet in range(256))


def text_signature(text: str) -> bytes:
    """Return 16 bytes that are equal for texts that differ in case and in where their lines end only.

    `text` is that of a `Page`: one space or one line feed between two tokens.
    """
    folded = text.casefold().replace("\n", " ").encode("utf-8", "surrogatepass")
    return blake2b(folded, digest_size=TEXT_SIGNATURE_BYTES).digest()


def count_tokens(tokens: Iterable[str]) -> Counter[str]:
    """Return how often each token stands among the first TOKENS_MAX, which is what `simhash` looks at."""
    return Counter(islice(tokens, TOKENS_MAX))


def simhash(tokens: Mapping[str, int]) -> bytes:
    """Return the 64-bit SimHash of a text's words, whatever their case, big-endian; zeros where there are none.

    `tokens` tells how often each run between white space stands in the text, at most TOKENS_MAX in all; words are what
    ASCII punctuation parts within a token.
    """
    lanes = sum(map(mul, map(_spread_tokens.__getitem__, tokens), tokens.values()))
    counts = array("I", lanes.to_bytes((_BITS + 1) * _LANE_BITS // 8, sys.byteorder))
    half = counts[_BITS] // 2
    bits = sum(1 << bit for bit in range(_BITS) if counts[bit] > half)
    return bits.to_bytes(SIMHASH_BYTES, "big")


def hamming(a: bytes, b: bytes) -> int:
    """Return in how many bits two signatures of one length differ."""
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count()


class _SpreadTokens(dict[str, int]):
    """Remembers tokens as 65 lanes of 32 bits: how many of its words have each bit, and how many words there are.

    So adding such numbers adds every count by itself. When it is full, what was used since the last time is kept.
    """

    def __init__(self) -> None:
        super().__init__()
        self._old: dict[str, int] = {}

    def __missing__(self, token: str) -> int:
        spread = self._old.get(token)
        if spread is None:
            words = token.casefold().encode("utf-8", "surrogatepass").translate(_SPACE_FOR_PUNCTUATION).split()
            spread = sum(map(_spread_word, words[:TOKEN_WORDS_MAX]))
        if len(token) <= _CACHED_TOKEN_CHARACTERS_MAX:
            if len(self) >= _CACHED_TOKENS_MAX:
                self._old = dict(self)
                self.clear()
            self[token] = spread
        return spread


_spread_tokens = _SpreadTokens()


def _spread_word(word: bytes) -> int:
    digest = blake2b(word, digest_size=SIMHASH_BYTES).digest()
    lanes = b"".join(map(_SPREAD_OCTETS.__getitem__, digest)) + _ONE
    return int.from_bytes(lanes, sys.byteorder)


def _lane(count: int) -> bytes:
    return count.to_bytes(_LANE_BITS // 8, sys.byteorder)


_ONE = _lane(1)
_SPREAD_OCTETS = tuple(b"".join(_lane(octet >> bit & 1) for bit in range(8)) for octet in range(256))
