"""Rounds that overlap: what they find, and that kills and requests to stop change nothing of it."""

import fcntl
import os
import random
import shutil
import signal
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from batchcrawl.errors import ExitCode
from batchcrawl.model.entries import FetchEntry, LinkLine
from batchcrawl.store.records import read_lines
from batchcrawl.store.segment import Segment
from tests.support.crawling import BORN_AT, IN_FLIGHT_MAX, Crawling, clock_of, ended, kill, started
from tests.support.request_watch import RequestWatch
from tests.support.warm import Warm
from tests.support.webserver import WebServer

AT = clock_of(1)
URLS = 60
OVERLAPPED = ("crawl", "--overlap", "--until-done", "--top", str(URLS))
KILLS = 4
ALL_REQUESTS = 1000
"""More than the crawl has: the kill comes by time alone."""


@pytest.fixture(scope="session")
def overlapped(server: WebServer, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Crawling:
    """A crawl with overlap that nobody has disturbed, made once for all processes of the test run."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    made, partial = shared / "overlapped", shared / "overlapped-begun"
    with (shared / "overlapped.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            shutil.rmtree(partial, ignore_errors=True)
            crawling = Crawling.make(partial, server.port, warm, seeds=list(server.web.seeds()))
            crawling.must("inject", at=BORN_AT)
            crawling.must(*OVERLAPPED, at=AT)
            partial.rename(made)
    return Crawling(made, server.port, warm)


def test_a_segment_is_made_before_the_one_before_it_is_brought_in_if_enough_is_due(overlapped: Crawling) -> None:
    segments = overlapped.segments()
    known, made_early = {entry.fp for entry in fetch_list(segments[0])}, 0
    for before, segment in pairwise(segments):
        wanted = {entry.fp for entry in fetch_list(segment)}
        made_early += len(wanted) == URLS and wanted <= known
        known |= linked(before)
        assert wanted <= known
    full = [segment for segment in segments if segment.manifest.urls == URLS]
    assert made_early == len(full) - 1 > 1  # at first there are only the seeds


@pytest.mark.slow
def test_pages_are_those_of_rounds_one_after_the_other(overlapped: Crawling, newborn: Crawling) -> None:
    newborn.must("inject", at=BORN_AT)
    newborn.must("crawl", "--until-done", "--top", str(URLS), at=AT)
    assert statuses(overlapped) == statuses(newborn)


def test_a_crawl_killed_at_random_instants_ends_like_an_undisturbed_one(
    overlapped: Crawling, newborn: Crawling, server: WebServer
) -> None:
    assert_survives_kills(newborn, random.Random(3), overlapped, server)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 250))
def test_crawls_killed_at_200_random_instants_end_like_an_undisturbed_one(
    seed: int, overlapped: Crawling, newborn: Crawling, server: WebServer
) -> None:
    assert_survives_kills(newborn, random.Random(seed), overlapped, server)


def test_a_request_to_stop_ends_both_lanes_and_the_same_command_goes_on(
    overlapped: Crawling, newborn: Crawling, server: WebServer
) -> None:
    newborn.must("inject", at=BORN_AT)
    watch = RequestWatch(server)
    process = newborn.start(*OVERLAPPED, "--quiet", at=AT)
    with started(process):
        watch.wait_for_requests(60, process, patience_s=30)
        process.send_signal(signal.SIGTERM)
        end = ended(process)
    assert end.code == ExitCode.INTERRUPTED, end.said
    watch.end_span(*newborn.segments())
    newborn.must(*OVERLAPPED, at=AT)
    watch.end_span()
    assert newborn.dump() == overlapped.dump()
    assert watch.faults(in_flight_max=0) == []


def test_rounds_are_counted_by_the_segments_that_were_brought_in(newborn: Crawling) -> None:
    newborn.must("inject", at=BORN_AT)
    said = newborn.must("crawl", "--overlap", "--rounds", "3", "--top", "20", at=AT)
    assert said.splitlines()[-1] == "crawl: 3 rounds"
    assert [segment.next_step() for segment in newborn.segments()] == [None, None, None]


@pytest.mark.slow
def test_what_one_round_at_a_time_has_begun_is_finished(overlapped: Crawling, newborn: Crawling) -> None:
    newborn.must("inject", at=BORN_AT)
    newborn.must("generate", "--top", str(URLS), at=AT)
    newborn.must("fetch", at=AT)
    newborn.must(*OVERLAPPED, at=AT)
    assert statuses(newborn) == statuses(overlapped)


def test_nothing_due_is_said_as_without_overlap(overlapped: Crawling, tmp_path: Path) -> None:
    crawling = overlapped.copy_to(tmp_path / "copy", overlapped.port)
    ends = [crawling.run("crawl", *options, at=AT) for options in (("--overlap",), ())]
    assert [end.code for end in ends] == [ExitCode.NOTHING_DUE, ExitCode.NOTHING_DUE]
    assert ends[0].said == ends[1].said


def assert_survives_kills(crawling: Crawling, choice: random.Random, undisturbed: Crawling, server: WebServer) -> None:
    """Run a crawl that is killed KILLS times, and compare it with the undisturbed one."""
    crawling.must("inject", at=BORN_AT)
    watch = RequestWatch(server)
    for _ in range(KILLS):
        process = crawling.start(*OVERLAPPED, "--quiet", at=AT)
        requests = choice.choice([choice.randrange(1, 60), ALL_REQUESTS])
        watch.wait_for_requests(requests, process, patience_s=choice.uniform(0.3, 2.5))
        kill(process)
        watch.end_span(*crawling.segments())
    end = crawling.run(*OVERLAPPED, at=AT)
    assert end.code in (ExitCode.DONE, ExitCode.NOTHING_DUE), end.said  # it may have been through before the last kill
    watch.end_span()
    assert crawling.dump() == undisturbed.dump()
    assert crawling.counts() == undisturbed.counts()
    assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []


def fetch_list(segment: Segment) -> list[FetchEntry]:
    """Return the URLs that a segment was made of."""
    return [e for p in range(segment.manifest.partitions) for e in read_lines(segment.paths.fetch_list(p), FetchEntry)]


def linked(segment: Segment) -> set[str]:
    """Return the fingerprints of all that the pages and redirects of a segment lead to."""
    files = segment.paths.parse_dir.glob("*.links-*.jsonl.zst")
    return {line.fp for file in files for line in read_lines(file, LinkLine)}


def statuses(crawling: Crawling) -> dict[str, str]:
    """Return every known URL with its status."""
    rows = (row for row in crawling.rows() if "url" in row)
    return {row["url"]: msgspec.json.encode(row.get("status")).decode() for row in rows}
