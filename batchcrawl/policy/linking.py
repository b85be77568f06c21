"""How many registered domains link to a URL: a sketch of 32 bits, since exact counts would be written again and again.

It is a HyperLogLog (Flajolet, Fusy, Gandouet, Meunier, 2007) of eight registers of four bits. A domain says the same
however often it links; so a link that was counted before changes nothing, and a URL is written some 8 log2(n) times
at most for n domains.
"""

import math

REGISTERS = 8
_BITS = 4
_RANK_MAX = (1 << _BITS) - 1
_ALPHA = 0.626
"""Of eight registers; the paper's constant for so few."""
_INVERSE = tuple(2.0**-rank for rank in range(_RANK_MAX + 1))


def sketch_of(domain_part: int) -> int:
    """Return the sketch of one domain, by the first four bytes of its fingerprints as a number, which are a hash."""
    rest = domain_part >> 3
    rank = min((rest & -rest).bit_length() or _RANK_MAX, _RANK_MAX)
    return rank << (_BITS * (domain_part & 7))


def joined(sketch: int, other: int) -> int:
    """Return the sketch of all domains of two."""
    while other:  # most often that of one domain
        at = (other & -other).bit_length() - 1 & -_BITS
        rank, have = other >> at & _RANK_MAX, sketch >> at & _RANK_MAX
        if rank > have:
            sketch += (rank - have) << at
        other ^= rank << at
    return sketch


def domains(sketch: int) -> float:
    """Return how many domains a sketch is of: exact to a tenth for one or two, then within a third or so."""
    if not sketch:
        return 0.0
    ranks = [(sketch >> at) & _RANK_MAX for at in range(0, _BITS * REGISTERS, _BITS)]
    by_zeros = REGISTERS * math.log(REGISTERS / max(ranks.count(0), 1))
    return max(by_zeros, _ALPHA * REGISTERS**2 / sum(_INVERSE[rank] for rank in ranks) if 0 not in ranks else 0.0)
