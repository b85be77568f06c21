"""The job's table of host names."""

import pytest

from batchcrawl.net.names import Place, StaticNames, parse_place

TABLE = {"a.example": "192.0.2.1", "*.example": "192.0.2.2:81", "*.b.example": "[2001:db8::1]:82", "*": "192.0.2.9"}


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("a.example", Place("192.0.2.1")),
        ("a.example.", Place("192.0.2.1")),
        ("x.example", Place("192.0.2.2", 81)),
        ("x.y.example", Place("192.0.2.2", 81)),
        ("x.b.example", Place("2001:db8::1", 82)),
        ("b.example", Place("192.0.2.2", 81)),
        ("example", Place("192.0.2.9")),
        ("other.org", Place("192.0.2.9")),
    ],
)
def test_the_closest_entry_is_found(host: str, place: Place) -> None:
    assert StaticNames(TABLE).find(host) == place


def test_a_host_outside_of_the_table_is_not_found() -> None:
    assert StaticNames({"*.example": "192.0.2.1"}).find("example") is None
    assert StaticNames({}).find("a.example") is None


@pytest.mark.parametrize("text", ["2001:db8::1", "[2001:db8::1]"])
def test_an_ipv6_address_needs_no_port(text: str) -> None:
    assert parse_place(text) == Place("2001:db8::1")


@pytest.mark.parametrize("text", ["", "example.org", "192.0.2.1:", "192.0.2.1:0", "192.0.2.1:65536", "192.0.2:80"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"IP address|IPv4"):
        parse_place(text)
