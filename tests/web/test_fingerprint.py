from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.web.domains import Domains
from batchcrawl.web.fingerprint import Fingerprinter, fingerprint, host_part, partition_of

LIST = "// ===BEGIN ICANN DOMAINS===\norg\n// ===END ICANN DOMAINS===\n"


def test_a_fingerprint_has_known_bytes() -> None:
    got = fingerprint(domain="example.org", host="http://www.example.org", url="http://www.example.org/a")
    assert got.hex() == "0fb3ba199ed0f9fd706f6c265a1524bf"


def test_the_parts_are_hashes_of_domain_host_key_and_url() -> None:
    got = fingerprint(domain="d", host="h", url="u")
    assert got[:4] == blake2b(b"d", digest_size=4).digest()
    assert got[4:8] == blake2b(b"h", digest_size=4).digest()
    assert got[8:] == blake2b(b"u", digest_size=8).digest()


def test_the_fingerprinter_finds_domain_and_host_itself() -> None:
    fingerprinter = Fingerprinter(Domains(LIST))
    expected = fingerprint(domain="example.org", host="http://www.example.org", url="http://www.example.org/a")
    assert fingerprinter.of("http://www.example.org/a") == expected
    assert fingerprinter.of("http://www.example.org/a") == expected
    assert fingerprinter.of_host("http://www.example.org") == expected[:8]


def test_all_urls_of_a_host_share_the_host_part() -> None:
    fingerprinter = Fingerprinter(Domains(LIST))
    part = host_part(domain="example.org", host="https://example.org")
    assert {fingerprinter.of(f"https://example.org/{n}")[:8] for n in range(9)} == {part}


def test_partitions_are_ranges_of_the_first_four_bytes() -> None:
    assert partition_of(bytes(16), 3) == 0
    assert partition_of(b"\x55\x55\x55\x55" + bytes(12), 3) == 0
    assert partition_of(b"\x55\x55\x55\x56" + bytes(12), 3) == 1
    assert partition_of(b"\xff" * 16, 3) == 2


@given(st.binary(min_size=16, max_size=16), st.binary(min_size=16, max_size=16), st.integers(1, 8))
def test_partitions_keep_the_order_of_fingerprints(first: bytes, second: bytes, partitions: int) -> None:
    low, high = sorted((first, second))
    assert 0 <= partition_of(low, partitions) <= partition_of(high, partitions) < partitions
