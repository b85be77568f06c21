"""Signatures of a page's text: one that tells equal texts, one that tells near ones.

The near-duplicate signature is SimHash (M. Charikar, Similarity estimation techniques from rounding algorithms, 2002)
over single words: a bit of it is set where more than half of the words have that bit in their hash.
"""

import sys
from array import array
from hashlib import blake2b

TEXT_SIGNATURE_BYTES = 16
SIMHASH_BYTES = 8
WORDS_MAX = 65_535
"""How many words SimHash looks at: as many as a lane of 16 bits can count."""

_CACHED_WORDS_MAX = 32_768
_SPACE_FOR_WHITE_SPACE = bytes(0x20 if octet < 0x80 and chr(octet).isspace() else octet for octet in range(256))
_SPACE_FOR_PUNCTUATION = bytes(octet if chr(octet).isalnum() or octet >= 0x80 else 0x20 for octet in range(256))


def text_signature(text: str) -> bytes:
    """Return 16 bytes that are equal for texts that differ in case and white space only."""
    return blake2b(_normal(text.casefold()), digest_size=TEXT_SIGNATURE_BYTES).digest()


def simhash(text: str) -> bytes:
    """Return the 64-bit SimHash of a text's words, whatever their case, big-endian. A text without words gives zeros.

    Words are what stands between white space and ASCII punctuation.
    """
    # Octets, because finding words in characters takes longer than all the rest.
    words = text.casefold().encode("utf-8", "surrogatepass").translate(_SPACE_FOR_PUNCTUATION).split()[:WORDS_MAX]
    counts = array("H", sum(map(_spread_words.__getitem__, words)).to_bytes(128, sys.byteorder))
    half = len(words) // 2
    bits = sum(1 << lane for lane, count in enumerate(counts) if count > half)
    return bits.to_bytes(SIMHASH_BYTES, "big")


def hamming(a: bytes, b: bytes) -> int:
    """Return in how many bits two signatures of one length differ."""
    return (int.from_bytes(a, "big") ^ int.from_bytes(b, "big")).bit_count()


def _normal(folded: str) -> bytes:
    """Return a text with a space for each run of white space, and none at its ends."""
    if not folded.isascii():
        return " ".join(folded.split()).encode("utf-8", "surrogatepass")
    # Most texts need no more than this, which takes a tenth of splitting and joining.
    spaced = folded.encode().translate(_SPACE_FOR_WHITE_SPACE)
    return b" ".join(spaced.split()) if b"  " in spaced or spaced != spaced.strip(b" ") else spaced


def _spread_octet(octet: int) -> bytes:
    return b"".join((octet >> bit & 1).to_bytes(2, sys.byteorder) for bit in range(8))


_SPREAD_OCTETS = tuple(map(_spread_octet, range(256)))


class _SpreadWords(dict[bytes, int]):
    """Remembers hashes of words as 64 lanes of 16 bits each, so that adding such numbers counts every bit by itself."""

    def __missing__(self, word: bytes) -> int:
        if len(self) >= _CACHED_WORDS_MAX:
            self.clear()
        digest = blake2b(word, digest_size=8).digest()
        spread = int.from_bytes(b"".join(map(_SPREAD_OCTETS.__getitem__, digest)), sys.byteorder)
        self[word] = spread
        return spread


_spread_words = _SpreadWords()
