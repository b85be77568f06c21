"""Chance that depends on nothing but the seed and what the number is for."""

import random
from hashlib import blake2b


def roll(seed: int, purpose: str, *numbers: int) -> int:
    """Return 64 bits that belong to this seed, purpose and numbers."""
    name = f"{seed} {purpose} {numbers}".encode()
    return int.from_bytes(blake2b(name, digest_size=8).digest(), "big")


def stream(seed: int, purpose: str, *numbers: int) -> random.Random:
    """Return a generator that starts at the roll of the same arguments."""
    return random.Random(roll(seed, purpose, *numbers))


def pick(chance: random.Random, count: int) -> int:
    """Return a number from 0 to count - 1."""
    return int(chance.random() * count)
