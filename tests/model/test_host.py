import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.host import HostRecord, RobotsCopy, decode_host, encode_host
from batchcrawl.model.status import PageStatus

HOST = HostRecord(
    host="http://example.org",
    domain="example.org",
    seed=True,
    urls={1: 3},
    robots=RobotsCopy(fetched_at=10.5, expires_at=20.5, status=200, text="User-agent: *\n"),
    delay_s=1.5,
    failures=2,
    deferred_until=99.25,
    address="192.0.2.1",
)


def test_what_is_written_is_read() -> None:
    assert decode_host(encode_host(HOST)) == HOST


def test_a_new_host_stores_nothing_but_its_names() -> None:
    stored = encode_host(HostRecord(host="http://a.example", domain="a.example"))
    assert msgspec.msgpack.decode(stored) == {"host": "http://a.example", "domain": "a.example"}


def test_fields_of_a_later_program_are_passed_over() -> None:
    stored = msgspec.msgpack.encode({"host": "http://a.example", "domain": "a.example", "novelty": 1})
    assert decode_host(stored).host == "http://a.example"


@given(st.binary(max_size=60))
def test_bytes_that_are_no_host_are_refused(data: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        decode_host(data)


def test_counts_rise_and_fall() -> None:
    host = HostRecord(host="http://a.example", domain="a.example")
    for status, change in ((PageStatus.UNFETCHED, 2), (PageStatus.FETCHED, 1), (PageStatus.UNFETCHED, -1)):
        host.count(status, change)
    assert host.urls == {1: 1, 2: 1}


def test_a_status_without_urls_leaves_no_trace() -> None:
    host = HostRecord(host="http://a.example", domain="a.example", urls={1: 1})
    host.count(PageStatus.UNFETCHED, -1)
    assert host.urls == {}


def test_two_hosts_do_not_share_their_counts() -> None:
    first, second = (HostRecord(host=name, domain=name) for name in ("a", "b"))
    first.count(PageStatus.GONE, 1)
    assert second.urls == {}
