"""What must never pass for an unchanged page by mistake: each case is a URL and what it answers in four rounds."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.show import outcomes
from tests.support.crawling import Crawling, clock_of
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warc_judge import judge, unresolved_revisits
from tests.support.warm import Warm

FETCH = """
threads = 4
full_every = 3
body_bytes_max = "1KiB"
"""
RECRAWL = """
interval = "1d"
interval_max = "1d"
gone_interval = "1d"
retry_interval = "1h"
"""
BODY = b"<title>a page</title><p>of a few words</p>"
ETAG = {"ETag": '"x"'}
DATE = {"Last-Modified": "Sun, 29 Nov 2026 10:00:00 GMT"}

PAGE = Scripted(body=BODY, headers=ETAG)
UNCHANGED = Scripted(status=304, body=b"", headers=ETAG)
LONG = Scripted(body=BODY + b"x" * 2000, headers=ETAG)
FAILED = Scripted(status=500, body=BODY, headers=ETAG)


def page(status: int = 200, **headers: str) -> Scripted:
    """Return the page with other header fields beside its ETag."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Scripted(status=status, body=BODY, headers={**ETAG, **named})


CASES: dict[str, tuple[list[Scripted], str]] = {
    "unchanged": ([PAGE, UNCHANGED, UNCHANGED, PAGE], "fetched ?not_modified= ?not_modified= fetched="),
    "not-conditional": ([PAGE, PAGE, PAGE, PAGE], "fetched ?fetched= ?fetched= ?fetched="),
    "changed-in-between": (
        [PAGE, UNCHANGED, LONG, PAGE],
        "fetched ?not_modified= ?fetched fetched",
    ),
    "never-asked": ([UNCHANGED, UNCHANGED, PAGE, UNCHANGED], "protocol_error protocol_error fetched ?not_modified="),
    "full-visit-answered-304": (
        [PAGE, UNCHANGED, UNCHANGED, UNCHANGED],
        "fetched ?not_modified= ?not_modified= protocol_error",
    ),
    "truncated": ([LONG, LONG, UNCHANGED, PAGE], "fetched fetched protocol_error fetched"),
    "truncated-after-whole": ([PAGE, LONG, PAGE, UNCHANGED], "fetched ?fetched fetched ?not_modified="),
    "of-a-type-not-kept": (
        [PAGE, page(Content_Type="application/zip"), page(Content_Type="application/zip"), PAGE],
        "fetched ?skipped_type skipped_type fetched",
    ),
    "redirected": (
        [PAGE, page(302, Location="/elsewhere"), page(302, Location="/elsewhere"), PAGE],
        "fetched ?redirect redirect fetched",
    ),
    "gone-then-back": ([PAGE, page(404), PAGE, UNCHANGED], "fetched ?not_found fetched ?not_modified="),
    "forbidden-then-back": ([PAGE, page(403), UNCHANGED, PAGE], "fetched ?denied protocol_error fetched"),
    "failed-in-between": ([PAGE, FAILED, UNCHANGED, PAGE], "fetched ?server_error ?not_modified= ?fetched="),
    "of-another-content-type": (
        [PAGE, page(Content_Type="text/html; charset=koi8-r"), PAGE, PAGE],
        "fetched ?fetched ?fetched ?fetched=",
    ),
    "of-another-coding": (
        [PAGE, page(Content_Encoding="identity"), page(Content_Encoding="identity"), PAGE],
        "fetched ?fetched ?fetched= ?fetched",
    ),
    "of-another-status": ([PAGE, page(203), UNCHANGED, PAGE], "fetched ?fetched protocol_error fetched"),
    "not-parsed": ([page(Content_Encoding="compress")] * 3 + [UNCHANGED], "fetched fetched fetched protocol_error"),
    "empty": ([Scripted(body=b""), Scripted(body=b""), PAGE, PAGE], "fetched fetched fetched ?fetched="),
    "with-an-etag-that-cannot-be-sent": (
        [Scripted(body=BODY, headers={"ETag": '"a\rb"'}), PAGE, PAGE, UNCHANGED],
        "fetched fetched= ?fetched= ?not_modified=",
    ),
    "with-a-weak-etag": (
        [page(ETag='W/"x"'), Scripted(status=304, body=b"", headers={}), page(ETag='W/"x"'), PAGE],
        "fetched ?not_modified= ?fetched= ?fetched=",
    ),
    "with-a-date-alone": (
        [Scripted(body=BODY, headers=DATE), UNCHANGED, Scripted(body=BODY), UNCHANGED],
        "fetched ?not_modified= ?fetched= protocol_error",
    ),
}
"""By host: what it answers in each round, and how that ends: `?` it was asked by validators, `=` it is a revisit."""


@dataclass(frozen=True)
class Crawled:
    """The log lines of each round and what was sent for them, by host."""

    lines: list[dict[str, FetchLogLine]]
    sent: list[dict[str, dict[str, str]]]
    warcs: list[Path]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    warm, root = Warm(), tmp_path_factory.mktemp("cases") / "crawl"
    found = Crawled([], [], [])
    urls = {name: f"http://{name}.test/" for name in CASES}
    with scripted_web({}) as web:
        crawling = Crawling.make(root, web.port, warm, seeds=list(urls.values()), fetch=FETCH, recrawl=RECRAWL)
        crawling.must("inject", at=clock_of(0))
        for number in range(4):
            web.answers = {url: CASES[name][0][number] for name, url in urls.items()}
            web.asked, web.sent = [], []
            crawling.must("round", at=clock_of(number))
            sent = dict(zip(web.asked, web.sent, strict=True))
            lines = {line.url: line for line in outcomes(crawling.segments()[-1])}
            found.sent.append({name: sent[url] for name, url in urls.items()})
            found.lines.append({name: lines[url] for name, url in urls.items()})
        found.warcs.extend(sorted((crawling.data / "segments").glob("*/fetch/*.warc.gz")))
        assert "no fault" in crawling.must("check", "--deep", at=clock_of(4))
    warm.close()
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_page_is_a_revisit_only_where_it_is_the_stored_copy(name: str, crawled: Crawled) -> None:
    told = [_told(lines[name], sent[name]) for lines, sent in zip(crawled.lines, crawled.sent, strict=True)]
    assert " ".join(told) == CASES[name][1]


def test_the_validators_are_sent_as_they_came(crawled: Crawled) -> None:
    second = crawled.sent[1]
    assert second["unchanged"]["if-none-match"] == '"x"'
    assert second["with-a-weak-etag"]["if-none-match"] == 'W/"x"'
    assert second["with-a-date-alone"]["if-modified-since"] == DATE["Last-Modified"]
    assert "if-none-match" not in second["with-a-date-alone"]


def test_a_revisit_refers_to_the_last_exchange_that_has_the_body(crawled: Crawled) -> None:
    for name in CASES:
        body_at = None
        for lines in crawled.lines:
            line = lines[name]
            if line.revisit is not None:
                assert line.body_at == body_at
            elif line.outcome.value == "fetched":
                body_at = line.started_at


def test_all_readers_of_warc_files_take_them_and_every_revisit_has_its_response(crawled: Crawled) -> None:
    assert judge(crawled.warcs) == []
    assert unresolved_revisits(crawled.warcs) == []


def test_a_job_that_does_not_want_to_ask_still_stores_nothing_twice(tmp_path: Path) -> None:
    warm = Warm()
    for number, settings in enumerate(("conditional = false", "full_every = 1")):
        with scripted_web({"http://a.test/": PAGE}) as web:
            crawling = Crawling.make(
                tmp_path / str(number), web.port, warm, seeds=["http://a.test/"], fetch=settings, recrawl=RECRAWL
            )
            crawling.must("inject", at=clock_of(0))
            told = []
            for round_number in (0, 1):
                web.asked, web.sent = [], []
                crawling.must("round", at=clock_of(round_number))
                (line,) = outcomes(crawling.segments()[-1])
                told.append(_told(line, web.sent[-1]))
        assert told == ["fetched", "fetched="]
    warm.close()


def test_a_page_that_has_come_nearer_is_parsed_again_though_it_is_unchanged(tmp_path: Path) -> None:
    def linking(to: str, text: str = "") -> Scripted:
        return Scripted(body=f'<a href="{to}">{text or to}</a>'.encode(), headers=ETAG)

    def visit(crawling: Crawling, day: int) -> dict[str, FetchLogLine]:
        """Crawl to the end at one instant and return the lines of what was asked for."""
        before = len(crawling.segments()) if day else 0
        crawling.must("crawl", "--until-done", at=clock_of(day))
        return {line.url[-1]: line for segment in crawling.segments()[before:] for line in outcomes(segment)}

    warm, answers = Warm(), {"http://a.test/1": linking("/2"), "http://a.test/2": linking("/3")}
    with scripted_web({**answers, "http://a.test/": linking("/1")}) as web:
        crawling = Crawling.make(tmp_path / "x", web.port, warm, seeds=["http://a.test/"], fetch="", recrawl=RECRAWL)
        job = crawling.root / "jobs" / "web.toml"
        job.write_text(job.read_text().replace('within = "any"', 'within = "any"\ndepth_max = 2'))
        crawling.must("inject", at=clock_of(0))
        assert set(visit(crawling, 0)) == {"/", "1", "2"}
        web.answers = {**answers, "http://a.test/": linking("/2", "nearer")}
        assert visit(crawling, 1)["2"].revisit is not None
        third = visit(crawling, 2)
        assert (third["2"].revisit, third["3"].status) == (None, 404)
        assert visit(crawling, 3)["2"].revisit is not None
    warm.close()


def test_a_page_that_becomes_a_seed_is_parsed_again_though_it_is_unchanged(tmp_path: Path) -> None:
    warm, seeds = Warm(), ["http://a.test/"]
    with scripted_web({"http://a.test/": Scripted(body=b'<a href="/1">1</a>'), "http://a.test/1": PAGE}) as web:
        crawling = Crawling.make(tmp_path / "x", web.port, warm, seeds=seeds, fetch="", recrawl=RECRAWL)
        crawling.must("inject", at=clock_of(0))
        crawling.must("crawl", "--until-done", at=clock_of(0))
        (crawling.root / "jobs" / "seeds.txt").write_text("http://a.test/\nhttp://a.test/1\n")
        crawling.must("inject", at=clock_of(0))
        crawling.must("round", at=clock_of(1))
    found = {line.url: line.revisit is not None for line in outcomes(crawling.segments()[-1])}
    assert found == {"http://a.test/": True, "http://a.test/1": False}
    warm.close()


def _told(line: FetchLogLine, sent: dict[str, str]) -> str:
    asked = "?" if sent.keys() & {"if-none-match", "if-modified-since"} else ""
    return f"{asked}{line.outcome.value}{'=' if line.revisit is not None else ''}"
