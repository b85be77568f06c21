import base64

import pytest

from batchcrawl.dashboard.access import Access, is_loopback

TOKEN = "0123456789abcdef"


def basic(secret: str) -> str:
    return "Basic " + base64.b64encode(f"anybody:{secret}".encode()).decode()


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8620", True),
        ("127.0.0.1", True),
        ("[::1]:8620", True),
        ("192.0.2.7:80", True),
        ("LocalHost:8620", True),
        ("crawler.test:8620", True),
        ("evil.test:8620", False),
        ("127.0.0.1.evil.test", False),
        ("localhost.evil.test", False),
        ("localhost:8620:80", False),
        ("", False),
        (None, False),
    ],
)
def test_a_server_is_called_by_addresses_and_by_its_own_names(host: str | None, known: bool) -> None:
    assert Access(names={"crawler.test"}).knows_host(host) is known


@pytest.mark.parametrize(
    ("authorization", "is_in"),
    [
        (f"Bearer {TOKEN}", True),
        (f"bearer  {TOKEN} ", True),
        (basic(TOKEN), True),
        (basic(TOKEN + "x"), False),
        (basic(""), False),
        ("Basic !!!", False),
        ("Bearer \xff", False),
        (f"Digest {TOKEN}", False),
        (TOKEN, False),
        (None, False),
    ],
)
def test_who_has_the_token_is_let_in(authorization: str | None, is_in: bool) -> None:
    assert Access(token=TOKEN).lets_in(authorization) is is_in


def test_without_a_token_everybody_is_let_in() -> None:
    assert Access().lets_in(None)


def test_an_access_does_not_show_its_token() -> None:
    assert TOKEN not in repr(Access(token=TOKEN))


@pytest.mark.parametrize(
    ("name", "expected"), [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)]
)
def test_only_this_machine_reaches_a_loopback_address(name: str, expected: bool) -> None:
    assert is_loopback(name) is expected
