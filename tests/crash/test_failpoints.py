"""Every step is killed at every fail point that it passes, and run again."""

import signal

import pytest

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.revisit import RevisitProfile
from batchcrawl.show import outcomes
from batchcrawl.store.failpoints import FAILPOINTS
from tests.crash.conftest import Stages
from tests.support.crawling import BORN_AT, IN_FLIGHT_MAX, ROUNDS, Crawling, clock_of
from tests.support.request_watch import RequestWatch
from tests.support.webserver import WebServer

HITS: dict[str, dict[str, tuple[int, ...]]] = {
    "generate": {
        "file.synced": (1, 2, 3),
        "file.renamed": (2, 3, 4),
        "lines.synced": (1, 2),
        "lines.finished": (1, 2),
        "crawldb.commit": (1, 3, 4, 7),
        "crawldb.committed": (2, 6),
        "segment.built": (1,),
        "segment.visible": (1,),
    },
    "fetch": {
        "file.synced": (1, 2),
        "file.renamed": (1, 4),
        "log.recovered": (1, 2),
        "log.appended": (1, 10, 61, 64, 110, 128, 134),
        "log.synced": (1, 9),
        "spool.created": (1, 2, 30),
        "warc.opened": (1, 2, 4),
        "warc.appended": (1, 50, 117),
        "warc.synced": (1, 5),
        "warc.closed": (1, 2, 4),
    },
    "fetch-cut": {
        "log.recovered": (1, 2),
        "log.appended": (1, 45),
        "warc.recovered": (1,),
        "spool.created": (1, 8),
        "warc.appended": (1, 30),
        "warc.closed": (1, 2),
    },
    "parse": {
        "file.synced": (1, 2),
        "file.renamed": (1, 8),
        "lines.synced": (2, 3, 12),
        "lines.finished": (1, 2, 3, 12),
        "parse.links_written": (1, 4),
    },
    "update": {
        "file.synced": (1, 2, 3),
        "file.renamed": (1, 2, 3),
        "lines.synced": (1, 2),
        "lines.finished": (1, 2),
        "update.surveyed": (1,),
        "update.settled": (1,),
        "crawldb.commit": (1, 3, 5, 9),
        "crawldb.committed": (1, 4, 8, 9),
    },
}
"""By step and point, which passing of the point in one process kills; `fetch-cut` is a fetch that was killed before."""
OF_INJECT: dict[str, tuple[int, ...]] = {
    "file.synced": (2, 6),
    "file.renamed": (2, 7),
    "crawldb.commit": (1, 3),
    "crawldb.committed": (1, 4),
}
ELSEWHERE = {"purge.decided", "purge.settled", "purge.ended", "snapshot.visible", "restore.begun", "export.kept"}
"""Points of commands that are killed in tests of their own."""
CASES = [(step, point, hit) for step, points in HITS.items() for point, hits in points.items() for hit in hits]
HITS_OF_ALL = range(3, 400, 13)
"""Others than HITS, until a step passes the point less often."""

HAS_PAGE = (FetchOutcome.FETCHED, FetchOutcome.NOT_MODIFIED)
AT = clock_of(ROUNDS)


def test_every_fail_point_is_tried() -> None:
    assert {name for points in (*HITS.values(), OF_INJECT) for name in points} | ELSEWHERE == set(FAILPOINTS)


def test_the_round_that_is_killed_holds_new_pages_and_revisits_of_both_kinds(stage: Stages) -> None:
    lines = outcomes(stage.before("end").segments()[-1])
    assert {line.revisit for line in lines if line.outcome in HAS_PAGE} == {None, *RevisitProfile}


@pytest.mark.parametrize(("step", "point", "hit"), CASES)
def test_a_step_killed_at_a_fail_point_goes_on(
    step: str, point: str, hit: int, stage: Stages, server: WebServer
) -> None:
    crawling = stage.before(step)
    watch = RequestWatch(server)
    assert killed(crawling, step, point, hit), f"{step} passes {point} less than {hit} times"
    assert_goes_on(crawling, step, watch, stage)


@pytest.mark.slow
@pytest.mark.parametrize(("step", "point"), [(step, point) for step, points in HITS.items() for point in points])
def test_a_step_killed_at_other_passings_of_a_fail_point_goes_on(
    step: str, point: str, stage: Stages, server: WebServer
) -> None:
    for hit in HITS_OF_ALL:
        crawling = stage.before(step)
        watch = RequestWatch(server)
        if not killed(crawling, step, point, hit):
            return
        assert_goes_on(crawling, step, watch, stage)
        crawling.remove()
    pytest.fail(f"{step} passes {point} more than {max(HITS_OF_ALL)} times")


@pytest.mark.parametrize(("point", "hit"), [(point, hit) for point, hits in OF_INJECT.items() for hit in hits])
def test_inject_killed_at_a_fail_point_adds_the_rest(point: str, hit: int, newborn: Crawling, stage: Stages) -> None:
    killed_end = newborn.run("inject", at=BORN_AT, failpoint=f"{point}:{hit}")
    assert killed_end.code == -signal.SIGKILL, killed_end.said
    newborn.must("inject", at=BORN_AT)
    assert newborn.dump() == stage.undisturbed.dump(0)


def killed(crawling: Crawling, step: str, point: str, hit: int) -> bool:
    """Run a step that is to be killed; False when it ends before."""
    end = crawling.run(step.removesuffix("-cut"), at=AT, failpoint=f"{point}:{hit}")
    assert end.code in (0, -signal.SIGKILL), end.said
    return end.code == -signal.SIGKILL


def assert_goes_on(crawling: Crawling, step: str, watch: RequestWatch, stage: Stages) -> None:
    """Run a killed step again, then the rest of its round, and compare with the undisturbed crawl."""
    watch.end_span(crawling.segments()[-1])
    command = step.removesuffix("-cut")
    if command == "generate" and len(crawling.segments()) == ROUNDS and crawling.segments()[-1].is_done("generated"):
        assert crawling.run("generate", at=AT).code == 4  # all that is due is in the segment
    else:
        crawling.must(command, at=AT)
    if not crawling.segments()[-1].is_done("updated"):
        crawling.must("round", at=AT)
    watch.end_span(None)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert crawling.counts() == stage.undisturbed.counts()
    assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []
