"""What follows for a whole domain when its hosts answer 429 or 503: in the step, in the next round, in what is told."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from batchcrawl.errors import NothingDue
from tests.support.commands import crawl, rows, write_job
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.stepping import Stepping

SITE = [f"http://{name}.site.test/0" for name in "abcd"]
PAUSE_S = 0.125
PAUSES = f'delay_min = "0s"\nbackoff_min = "{int(PAUSE_S * 1000)}ms"'
REFUSED = Scripted(status=429, body=b"")


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)


@pytest.fixture
def web() -> Iterator[ScriptedWeb]:
    with scripted_web({url: Scripted() for url in SITE}) as served:
        yield served


def refuse(web: ScriptedWeb, *urls: str) -> None:
    web.answers = {url: REFUSED if url in urls else Scripted() for url in SITE}


def domain(crawl: Stepping) -> dict[str, Any]:
    """Return the one domain record of the crawldb."""
    [row] = [row for row in crawl.rows() if "domain_part" in row]
    return row


def test_the_hosts_of_a_domain_wait_after_one_of_them_has_refused(web: ScriptedWeb, tmp_path: Path) -> None:
    crawl = Stepping.make(tmp_path, web.port, SITE, politeness=PAUSES)
    crawl.generate()
    refused: set[str] = set()

    def refuse_the_first(url: str) -> None:
        if url in SITE and not refused:
            refused.add(url)
            refuse(web, url)

    web.on_request = refuse_the_first
    lines = crawl.fetch()
    assert {line.url for line in lines if line.outcome.value == "deferred"} == refused
    assert sum(line.outcome.value == "fetched" for line in lines) == 3
    first, *others = [at for url, at in zip(web.asked, web.asked_at, strict=True) if url in SITE]
    assert all(at - first >= PAUSE_S for at in others)


def test_a_domain_whose_hosts_refuse_in_a_row_is_put_off_and_says_so(web: ScriptedWeb, tmp_path: Path) -> None:
    refuse(web, *SITE)
    crawl = Stepping.make(tmp_path, web.port, SITE, politeness=PAUSES)
    crawl.generate()
    lines = crawl.fetch()
    assert [line.outcome.value for line in lines] == ["deferred"] * 4
    assert sum(url in SITE for url in web.asked) == 3
    assert lines[-1].detail == "hosts of site.test answered 429 or 503 3 times in a row"


def test_a_domain_that_is_put_off_is_left_out_of_segments_until_its_time(web: ScriptedWeb, tmp_path: Path) -> None:
    refuse(web, *SITE)
    crawl = Stepping.make(tmp_path, web.port, SITE, politeness=PAUSES)
    crawl.round()
    assert (domain(crawl)["refusals"], domain(crawl)["deferred_until"]) == (3, crawl.clock.at + 4 * PAUSE_S)
    crawl.clock.at += 3 * PAUSE_S
    with pytest.raises(NothingDue, match="hosts with URLs that are put off: 4"):
        crawl.generate()
    crawl.clock.at += PAUSE_S
    assert crawl.generate().manifest.urls == 4


def test_each_round_of_refusals_doubles_the_pause_and_success_ends_it(web: ScriptedWeb, tmp_path: Path) -> None:
    refuse(web, *SITE)
    crawl = Stepping.make(tmp_path, web.port, SITE, politeness=PAUSES)
    crawl.round()
    crawl.clock.at += 60
    crawl.round()
    assert (domain(crawl)["refusals"], domain(crawl)["deferred_until"]) == (4, crawl.clock.at + 8 * PAUSE_S)
    crawl.clock.at += 60
    refuse(web)
    assert [line.outcome.value for line in crawl.round()] == ["fetched"] * 4
    assert "refusals" not in domain(crawl)
    assert "deferred_until" not in domain(crawl)


def test_a_robots_txt_that_is_refused_counts_for_the_domain_too(web: ScriptedWeb, tmp_path: Path) -> None:
    web.answers = {**web.answers, "http://a.site.test/robots.txt": REFUSED}
    crawl = Stepping.make(tmp_path, web.port, SITE[:1], politeness=PAUSES)
    crawl.round()
    assert domain(crawl)["refusals"] == 1


def test_one_customers_refusal_is_not_anothers(web: ScriptedWeb, tmp_path: Path) -> None:
    customers = [f"http://{name}.github.io/0" for name in "abcd"]
    web.answers = {url: Scripted() if "d." in url else REFUSED for url in customers}
    politeness = 'delay_min = "0s"\nbackoff_min = "1h"'  # nobody waits for that
    crawl = Stepping.make(tmp_path, web.port, customers, politeness=politeness)
    assert sorted(line.outcome.value for line in crawl.round()) == ["deferred"] * 3 + ["fetched"]


def test_each_customer_of_a_hosting_service_has_a_budget_of_urls(tmp_path: Path) -> None:
    start = "http://start.test/"
    links = "".join(f"<a href=http://{host}.github.io/{n}>x</a>" for host in ("a", "w.b") for n in range(5))
    with scripted_web({start: Scripted(body=links.encode())}) as web:
        sections = '[scope]\nwithin = "any"\ndomain_urls_max = 3\n'
        write_job(tmp_path, port=web.port, seeds=[start], sections=sections)
        crawl(tmp_path)
    found = [row for row in rows(tmp_path) if "domain_part" in row and row["domain"] != "start.test"]
    assert {row["domain"]: (row["urls"], row["rejected"]["domain_budget"]) for row in found} == {
        "a.github.io": (3, 2),
        "b.github.io": (3, 2),
    }
