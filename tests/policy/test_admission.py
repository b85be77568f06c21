from typing import Any

import pytest

from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.admission import (
    Budgets,
    costliness,
    count_no_longer_costly,
    domain_refusal,
    host_refusal,
)
from batchcrawl.policy.copies import CopyLimits
from batchcrawl.policy.traps import Costly, CostlyShare

SITE = "http://site.example"


def host(known: int, *, status: PageStatus = PageStatus.FETCHED, **costly: int) -> HostRecord:
    record = HostRecord(host=SITE, domain="site.example", costly=costly)
    record.count(status, known)
    return record


@pytest.mark.parametrize(
    ("budget", "known", "refused"), [(None, 10**9, False), (10, 9, False), (10, 10, True), (10, 11, True)]
)
def test_a_host_and_a_domain_take_as_many_urls_as_their_budget(budget: int | None, known: int, refused: bool) -> None:
    of_host = host_refusal(host(known), None, Budgets(host_urls_max=budget))
    assert of_host is (Rejection.HOST_BUDGET if refused else None)
    of_domain = domain_refusal(DomainRecord(domain="site.example", urls=known), Budgets(domain_urls_max=budget))
    assert of_domain is (Rejection.DOMAIN_BUDGET if refused else None)


def test_a_host_that_has_had_its_share_takes_no_more_costly_urls_of_any_kind_and_still_takes_others() -> None:
    budgets = Budgets(share=CostlyShare(urls=5, share=0.1))
    full = host(20, calendar=3, facets=2)
    assert host_refusal(full, Costly.CALENDAR, budgets) is Rejection.TRAP_CALENDAR
    assert host_refusal(full, Costly.DUPLICATES, budgets) is Rejection.TRAP_DUPLICATES
    assert host_refusal(full, None, budgets) is None
    assert host_refusal(host(20, calendar=3), Costly.FACETS, budgets) is None


@pytest.mark.parametrize(
    ("changes", "url", "kind"),
    [
        ({}, f"{SITE}/calendar/2026/11/", Costly.CALENDAR),
        ({}, f"{SITE}/shop?color=1&size=2", Costly.FACETS),
        ({}, f"{SITE}/a", None),
        ({"costly": frozenset({Costly.FACETS})}, f"{SITE}/calendar/2026/11/", None),
    ],
)
def test_a_job_says_what_is_costly(changes: Any, url: str, kind: Costly | None) -> None:
    assert costliness(url, host(1), Budgets(**changes)) is kind


def test_a_url_of_a_host_of_copies_is_costly_unless_the_job_says_no() -> None:
    copies = host(50, status=PageStatus.DUPLICATE)
    budgets = Budgets(copies=CopyLimits(pages=50, share=0.9))
    assert costliness(f"{SITE}/a", copies, budgets) is Costly.DUPLICATES
    assert costliness(f"{SITE}/a", copies, Budgets(costly=frozenset())) is None


@pytest.mark.parametrize(
    ("costly", "url", "left"),
    [
        ({"calendar": 2, "facets": 1}, "http://a.test/events/2026-11", {"calendar": 1, "facets": 1}),
        ({"calendar": 1}, "http://a.test/events/2026-11", {}),
        ({"duplicates": 1, "facets": 1}, "http://a.test/copy", {"facets": 1}),
        ({"facets": 1}, "http://a.test/copy", {}),
        ({}, "http://a.test/copy", {}),
    ],
)
def test_a_url_that_is_no_longer_costly_is_taken_off_the_count(
    costly: dict[str, int], url: str, left: dict[str, int]
) -> None:
    record = HostRecord(host="http://a.test", domain="a.test", costly=costly)
    count_no_longer_costly(record, url)
    assert record.costly == left
