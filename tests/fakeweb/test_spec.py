import pytest

from batchcrawl.errors import UsageError
from batchcrawl.fakeweb.spec import FAULTS, TRAPS, WebSpec, parse_faults


def test_all_and_none_name_every_fault_and_no_fault() -> None:
    assert parse_faults("all") == frozenset(FAULTS)
    assert parse_faults("none") == frozenset()


def test_a_list_names_the_faults_in_it() -> None:
    assert parse_faults("gzip, redirects") == {"gzip", "redirects"}


def test_traps_are_named_on_their_own() -> None:
    assert parse_faults("none, calendar") == {"calendar"}
    assert parse_faults("all,traps") == frozenset(FAULTS) | frozenset(TRAPS)


def test_a_web_is_endless_without_a_number_of_pages_or_with_a_trap() -> None:
    assert not WebSpec().endless
    assert WebSpec(pages=None).endless
    assert WebSpec(faults=frozenset({"facets"})).endless


def test_an_unknown_fault_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(UsageError, match="did you mean redirects"):
        parse_faults("redirect")


@pytest.mark.parametrize(
    "make",
    [
        lambda: WebSpec(hosts=0),
        lambda: WebSpec(hosts=10, pages=9),
        lambda: WebSpec(links=0),
        lambda: WebSpec(page_bytes=0),
        lambda: WebSpec(slow_s=-1.0),
        lambda: WebSpec(slow_s=float("nan")),
        lambda: WebSpec(faults=frozenset({"weather"})),
    ],
)
def test_a_web_that_cannot_be_is_refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(UsageError):
        make()
