from pathlib import Path

import pytest
from msgspec import structs

from batchcrawl.errors import NothingDue
from batchcrawl.job.day_bytes import URL_BYTES, bytes_today, within_day
from batchcrawl.job.settings import GenerateSettings
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.stepping import Stepping

BODY = b"<title>x</title>" + b"word " * 400
PAGES = {f"http://host{n}.test/": Scripted(body=BODY + str(n).encode()) for n in range(6)}
DAY = 86_400


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)


def allowed(crawl: Stepping, bytes_day_max: int) -> int:
    wanted = structs.replace(GenerateSettings(), bytes_day_max=bytes_day_max)
    return within_day(crawl.crawl, wanted, now=crawl.clock.at).urls_max


def test_before_anything_was_fetched_a_url_is_taken_for_a_large_page(tmp_path: Path) -> None:
    crawl = Stepping.make(tmp_path, 1, list(PAGES))
    assert (allowed(crawl, 7 * URL_BYTES), allowed(crawl, 1000)) == (7, 1)
    assert within_day(crawl.crawl, GenerateSettings(), now=crawl.clock.at) == GenerateSettings()


def test_a_segment_is_made_no_larger_than_the_bytes_that_are_left_of_the_day(tmp_path: Path) -> None:
    with scripted_web(PAGES) as web:
        crawl = Stepping.make(tmp_path, web.port, list(PAGES))
        crawl.generate()
        assert bytes_today(crawl.crawl, now=crawl.clock.at) == len(PAGES) * URL_BYTES
        crawl.fetch()
        crawl.finish()
    page = len(BODY) + 1
    assert bytes_today(crawl.crawl, now=crawl.clock.at) == len(PAGES) * page
    assert allowed(crawl, len(PAGES) * page + 3 * page) == 3
    with pytest.raises(NothingDue, match=r"the bytes of the day, generate\.bytes_day_max, are used up"):
        allowed(crawl, len(PAGES) * page)
    crawl.clock.leap(DAY)
    assert (bytes_today(crawl.crawl, now=crawl.clock.at), allowed(crawl, 3 * page)) == (0, 3)
