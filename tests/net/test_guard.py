"""Which addresses a fetch may connect to."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.net.guard import AddressGuard

REFUSED = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
    "192.0.2.1", "192.168.1.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:a9fe:a9fe", "2002:7f00:1::", "64:ff9b::10.0.0.1",
    "2001:0:7f00:1::", "fec0::1", "3fff::1", "192.0.0.8", "64:ff9b:1::7f00:1", "::7f00:1", "", "example.org", "127.1",
]  # fmt: skip
ALLOWED = ["1.1.1.1", "93.184.216.34", "2606:2800:220:1::1", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"]


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_public_is_refused(address: str) -> None:
    assert not AddressGuard([]).allows(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_what_is_public_is_allowed(address: str) -> None:
    assert AddressGuard([]).allows(address)


def test_a_network_that_the_job_names_is_allowed_and_no_other() -> None:
    guard = AddressGuard([ip_network("127.0.0.0/8"), ip_network("fd00::/8")])
    assert guard.allows("127.0.0.1")
    assert guard.allows("::ffff:127.0.0.1")
    assert guard.allows("fd00::1")
    assert not guard.allows("10.0.0.1")
    assert not guard.allows("::1")


@given(st.ip_addresses(network="10.0.0.0/8"))
def test_a_private_address_is_refused_however_it_is_carried(address: object) -> None:
    guard = AddressGuard([])
    assert not guard.allows(str(address))
    assert not guard.allows(f"::ffff:{address}")
    assert not guard.allows(f"64:ff9b::{address}")


@given(st.text())
def test_no_text_raises(text: str) -> None:
    AddressGuard([]).allows(text)
