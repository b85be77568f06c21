"""Pages that are found unchanged, over rounds of a virtual clock, in whole crawls by the command line."""

import hashlib
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.truth import truth
from batchcrawl.fakeweb.web import FakeAnswer, FakeWeb
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.revisit import RevisitProfile
from batchcrawl.show import outcomes
from tests.support.crawling import Crawling, clock_of
from tests.support.warc_judge import judge, unresolved_revisits
from tests.support.warm import Warm
from tests.support.webserver import serving

STAGES = 3
FETCH = """
threads = 4
full_every = 2
"""
RECRAWL = """
interval = "1d"
interval_max = "1d"
"""
SPEC = WebSpec(
    hosts=4,
    pages=60,
    seed=9,
    page_bytes=1500,
    links=10,
    faults=frozenset({"changes", "gzip", "chunked", "redirects", "missing", "types", "relative"}),
)
KEPT = ("status", "signature", "simhash", "digest", "segment", "body_at", "changes")
"""What an unchanged page keeps in the crawldb."""


@dataclass
class Stage:
    """What a crawl to the end did at one instant, when each page was due."""

    lines: dict[str, FetchLogLine]
    rows: dict[str, dict[str, Any]]
    """The crawldb behind it, by URL."""
    compared: str


@dataclass
class Crawled:
    """A crawl of a web whose pages change, each at its own rate, at three instants two days apart."""

    crawling: Crawling
    web: FakeWeb
    stages: list[Stage] = field(default_factory=list)

    @property
    def warcs(self) -> list[Path]:
        return sorted((self.crawling.data / "segments").glob("*/fetch/*.warc.gz"))

    def answer(self, url: str, stage: int) -> FakeAnswer:
        """Return what the web answered at a stage, from 1 on."""
        host, _, path = url.removeprefix("http://").partition("/")
        return self.web.answer(host, f"/{path}", clock_of(stage))


@pytest.fixture(scope="module")
def crawled(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    web = FakeWeb(SPEC)
    root = tmp_path_factory.mktemp("revisits") / "crawl"
    made = Crawled(Crawling.make(root, 1, warm, seeds=list(web.seeds()), fetch=FETCH, recrawl=RECRAWL), web)
    made.crawling.must("inject", at=clock_of(1))
    for number in range(1, STAGES + 1):
        at = clock_of(number)
        before = len(made.crawling.segments()) if number > 1 else 0
        with serving(SPEC, at=at) as server:
            made.crawling.set_job(fetch=FETCH, recrawl=RECRAWL, port=server.port)
            made.crawling.must("crawl", "--until-done", at=at)
        (root / "truth").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in truth(web, at=at)))
        made.stages.append(
            Stage(
                lines={line.url: line for segment in made.crawling.segments()[before:] for line in outcomes(segment)},
                rows={row["url"]: row for row in made.crawling.rows() if "url" in row},
                compared=made.crawling.must("compare", "truth", at=at),
            )
        )
    return made


def test_each_page_is_stored_asked_about_and_found_unchanged_as_the_web_says(crawled: Crawled) -> None:
    seen: Counter[RevisitProfile | None] = Counter()
    for url, first in crawled.stages[0].lines.items():
        if first.outcome is not FetchOutcome.FETCHED:
            continue
        body_stage, not_modified = 1, 0
        for number in range(2, STAGES + 1):
            body, now = crawled.answer(url, body_stage), crawled.answer(url, number)
            line = crawled.stages[number - 1].lines[url]
            wanted: tuple[FetchOutcome, int, RevisitProfile | None, float | None]
            has_validators = body.header("etag") is not None or body.header("last-modified") is not None
            if (body.headers, body.body) != (now.headers, now.body):
                wanted, body_stage, not_modified = (FetchOutcome.FETCHED, 200, None, None), number, 0
            elif has_validators and not_modified == 0:
                not_modified = 1
                wanted = (FetchOutcome.NOT_MODIFIED, 304, RevisitProfile.NOT_MODIFIED, clock_of(body_stage))
            else:
                not_modified = 0
                wanted = (FetchOutcome.FETCHED, 200, RevisitProfile.IDENTICAL_PAYLOAD, clock_of(body_stage))
            assert (line.outcome, line.status, line.revisit, line.body_at) == wanted, url
            seen[line.revisit] += 1
    assert min(seen[kind] for kind in (None, *RevisitProfile)) > 5, seen


def test_an_unchanged_page_keeps_its_status_signature_and_body(crawled: Crawled) -> None:
    for number in range(2, STAGES + 1):
        before, after = crawled.stages[number - 2].rows, crawled.stages[number - 1].rows
        for url, line in crawled.stages[number - 1].lines.items():
            if line.revisit is None:
                continue
            assert {name: after[url].get(name) for name in KEPT} == {name: before[url].get(name) for name in KEPT}
            assert after[url]["fetches"] == before[url]["fetches"] + 1
            assert after[url]["rate_b"] > before[url]["rate_b"]


def test_every_nth_visit_is_a_full_one(crawled: Crawled) -> None:
    second, third = (stage.lines for stage in crawled.stages[1:])
    asked_about = [url for url, line in second.items() if line.outcome is FetchOutcome.NOT_MODIFIED]
    assert {third[url].status for url in asked_about} == {200}


def test_after_each_stage_the_crawl_holds_what_the_web_serves(crawled: Crawled) -> None:
    for stage in crawled.stages:
        assert stage.compared.endswith("\n0 differences\n"), stage.compared


def test_all_readers_of_warc_files_take_them_and_every_revisit_has_its_response(crawled: Crawled) -> None:
    assert judge(crawled.warcs) == []
    assert unresolved_revisits(crawled.warcs) == []


def test_the_check_finds_no_fault(crawled: Crawled) -> None:
    for options in ([], ["--deep"]):
        assert "no fault in 2 partitions" in crawled.crawling.must("check", *options, at=clock_of(STAGES))


@pytest.mark.parametrize(
    ("told", "other"), [(b'"revisit":"', b'"revisix":"'), (b'"body_at":17', b'"body_at":16'), (b'"sha1:', b'"sha2:')]
)
def test_a_log_that_says_something_else_of_a_revisit_than_the_record_is_found(
    crawled: Crawled, tmp_path: Path, told: bytes, other: bytes
) -> None:
    crawling, line = crawled.crawling.copy_to(tmp_path / "crawl", 1), _revisit(crawled)
    segment = next(s for s in crawling.segments() if s.id == _segment_of(crawled, line))
    log = segment.paths.fetch_dir / f"{(line.warc or '')[0]}.jsonl"
    before, written = log.read_bytes(), msgspec.json.encode(line)
    assert (written in before, told in written) == (True, True)
    log.write_bytes(before.replace(written, written.replace(told, other)))
    manifest = segment.paths.manifest.read_text()
    old, new = (hashlib.sha256(data).hexdigest() for data in (before, log.read_bytes()))
    segment.paths.manifest.write_text(manifest.replace(old, new))
    checksum = hashlib.sha256(segment.paths.manifest.read_bytes()).hexdigest()
    segment.paths.stamp("updated").write_text(f"{checksum}\n")
    crawling.must("check", at=clock_of(STAGES))
    end = crawling.run("check", "--deep", at=clock_of(STAGES))
    assert (end.code, end.said.count("\n")) == (6, 1)
    assert end.said.endswith(f" is not what the fetch log says of {line.url}\n")


def test_the_views_of_a_segment_show_the_body_that_a_revisit_refers_to(crawled: Crawled) -> None:
    line = _revisit(crawled, with_links=True)
    url, newest = line.url, _segment_of(crawled, line)
    at = clock_of(STAGES)
    page = msgspec.json.decode(crawled.crawling.must("segment", newest, "--page", url, at=at))
    assert page["outcome"]["revisit"] == line.revisit.value if line.revisit else None
    assert page["page"]["title"] in crawled.crawling.must("segment", newest, "--body", url, at=at)
    links = crawled.crawling.must("segment", newest, "--links", url, at=at)
    assert len(links.splitlines()) == page["page"]["links"] > 0
    assert crawled.crawling.must("segment", newest, "--headers", url, at=at).startswith(f"{line.status} ")


def test_after_the_segment_with_the_body_is_deleted_a_revisit_says_where_it_was(
    crawled: Crawled, tmp_path: Path
) -> None:
    line = _revisit(crawled)
    crawling, newest, at = crawled.crawling.copy_to(tmp_path / "crawl", 1), _segment_of(crawled, line), clock_of(STAGES)
    shutil.rmtree(crawling.data / "segments" / (line.body_segment or ""))
    for look in ("--body", "--links"):
        end = crawling.run("segment", newest, look, line.url, at=at)
        assert end.code == 2
        assert end.said == (
            f"batchcrawl: {line.url} was found unchanged: its body is in segment {line.body_segment}, "
            "which is not there any more\n"
        )
    page = msgspec.json.decode(crawling.must("segment", newest, "--page", line.url, at=at))
    assert (page["page"], page["outcome"]["body_segment"]) == (None, line.body_segment)
    crawling.must("check", "--deep", at=at)
    assert judge([crawling.data / "segments" / newest / "fetch" / (line.warc or "")]) == []


def test_pages_are_revisited_also_after_the_segments_with_their_bodies_are_deleted(
    crawled: Crawled, tmp_path: Path
) -> None:
    crawling, at = crawled.crawling.copy_to(tmp_path / "crawl", 1), clock_of(STAGES + 1)
    for segment in crawling.segments():
        shutil.rmtree(segment.path)
    with serving(SPEC, at=at) as server:
        crawling.set_job(fetch=FETCH, recrawl=RECRAWL, port=server.port)
        crawling.must("round", at=at)
    (segment,) = crawling.segments()
    assert {line.revisit for line in outcomes(segment)} == {None, *RevisitProfile}
    assert judge(sorted(segment.paths.fetch_dir.glob("*.warc.gz"))) == []


def _revisit(crawled: Crawled, *, with_links: bool = False) -> FetchLogLine:
    """Return the line of a revisit of the last stage."""
    lines = crawled.stages[-1].lines.values()
    return next(line for line in lines if line.revisit and (not with_links or line.url.count("/") == 3))


def _segment_of(crawled: Crawled, line: FetchLogLine) -> str:
    """Return the id of the segment that has a line of the last stage."""
    return next(s.id for s in reversed(crawled.crawling.segments()) if line in outcomes(s))
