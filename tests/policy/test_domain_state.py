import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.entries import HostLogLine, HostSheet
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.policy.domain_state import DomainState, put_off_until
from batchcrawl.policy.host_state import learn_domain
from batchcrawl.policy.politeness import DelayRules

RULES = DelayRules(delay_min_s=1.0, delay_max_s=60.0, response_factor=5.0)


def wait_s(domain: DomainState, at: float) -> float:
    """Return how long the domain is left alone from an instant on."""
    return max(0.0, (domain.until or 0.0) - at)


def told(*answers: tuple[int | None, float]) -> DomainState:
    """Return a domain that has had these answers: status, and the second in which request and answer fell."""
    domain = DomainState("a.test", RULES)
    for status, at in answers:
        domain.learn(status, started_at=at, ended_at=at + 1)
    return domain


@pytest.mark.parametrize("status", [429, 503])
def test_a_refusal_is_a_pause_for_the_whole_domain(status: int) -> None:
    domain = told((status, 100.0))
    assert (wait_s(domain, 101.0), wait_s(domain, 160.0), wait_s(domain, 161.0)) == (60.0, 1.0, 0.0)
    assert not domain.is_put_off


def test_each_refusal_after_the_pause_doubles_it_until_the_domain_is_put_off() -> None:
    assert told((429, 0.0), (429, 100.0)).until == 101.0 + 120.0
    third = told((429, 0.0), (503, 100.0), (429, 300.0))
    assert (third.until, third.is_put_off) == (301.0 + 240.0, True)


@pytest.mark.parametrize(("host_until", "until"), [(1.0, 1.0), (3600.0, 60.0)])
def test_the_first_pause_is_no_longer_than_that_of_the_host(host_until: float, until: float) -> None:
    domain = told()
    domain.learn(503, started_at=0.0, ended_at=0.0, host_until=host_until)
    assert domain.until == until
    domain.learn(503, started_at=200.0, ended_at=200.0, host_until=200.0 + host_until)
    assert domain.until == 320.0


def test_a_refusal_of_a_request_that_was_under_way_is_none_of_its_own() -> None:
    assert told((429, 0.0), (429, 0.5)).refusals == 1


def test_success_after_the_pause_ends_the_row() -> None:
    assert told((429, 0.0), (200, 70.0)).refusals == 0
    assert told((429, 0.0), (404, 70.0), (429, 80.0)).until == 81.0 + 60.0


def test_success_of_a_request_that_was_under_way_ends_nothing() -> None:
    domain = told((429, 0.0), (200, 0.5))
    assert (domain.refusals, wait_s(domain, 2.0)) == (1, 59.0)


@pytest.mark.parametrize("status", [None, 200, 404, 500])
def test_other_answers_are_no_refusal(status: int | None) -> None:
    assert told((status, 0.0)).until is None


@pytest.mark.parametrize("status", [None, 500, 502])
def test_what_is_no_success_ends_no_row(status: int | None) -> None:
    assert told((429, 0.0), (status, 70.0)).refusals == 1


def test_the_row_goes_on_in_the_next_segment() -> None:
    record = DomainRecord(domain="a.test")
    learn_domain(record, HostLogLine(host="http://a.test", at=0.0, domain_refusals=2, domain_deferred_until=9.0))
    assert (record.refusals, record.deferred_until) == (2, 9.0)
    sheet = HostSheet(host="http://a.test", domain="a.test", urls=1, domain_refusals=2, domain_deferred_until=9.0)
    domain = DomainState.of(sheet, RULES)
    domain.learn(429, started_at=10.0, ended_at=10.0)
    assert (domain.until, domain.is_put_off) == (10.0 + 240.0, True)


def test_a_host_is_put_off_by_itself_or_with_its_domain() -> None:
    host = HostRecord(host="http://a.test", domain="a.test", deferred_until=5.0)
    assert put_off_until(host, None) == 5.0
    assert put_off_until(host, DomainRecord(domain="a.test", deferred_until=7.0)) == 7.0
    assert put_off_until(host, DomainRecord(domain="a.test")) == 5.0


@given(st.lists(st.tuples(st.sampled_from([None, 200, 429, 500, 503]), st.floats(0, 9000)), max_size=40))
def test_a_pause_is_never_shortened_and_never_longer_than_the_job_allows(
    answers: list[tuple[int | None, float]],
) -> None:
    domain, now = DomainState("a.test", RULES), 0.0
    for status, later_s in answers:
        before, now = domain.until, now + later_s
        domain.learn(status, started_at=now, ended_at=now + 1)
        if domain.until is None:
            assert before is None or before <= now
        else:
            assert (before or 0.0) <= domain.until <= now + 1 + RULES.backoff_max_s
