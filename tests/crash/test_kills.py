"""Whole crawls are killed at random instants, with all their processes, or only some of them."""

import fcntl
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest

from tests.crash.conftest import Stages
from tests.support.crawling import (
    BORN_AT,
    IN_FLIGHT_MAX,
    ROUNDS,
    TIMEOUT_S,
    Crawling,
    clock_of,
    ended,
    kill,
    started,
)
from tests.support.request_watch import RequestWatch
from tests.support.webserver import WebServer

KILLS_A_ROUND = 4
ALL_REQUESTS = 1000
"""More than a round has: the kill comes by time alone, perhaps in another step than fetch."""
AT = clock_of(ROUNDS)


@pytest.mark.parametrize("seed", range(1))
def test_a_crawl_killed_at_random_instants_ends_like_an_undisturbed_one(
    seed: int, newborn: Crawling, stage: Stages, server: WebServer
) -> None:
    assert_survives_kills(newborn, random.Random(seed), stage, server)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 117))
def test_crawls_killed_at_200_random_instants_end_like_undisturbed_ones(
    seed: int, newborn: Crawling, stage: Stages, server: WebServer
) -> None:
    assert_survives_kills(newborn, random.Random(seed), stage, server)


def assert_survives_kills(crawling: Crawling, choice: random.Random, stage: Stages, server: WebServer) -> None:
    """Run three rounds, each killed KILLS_A_ROUND times, and compare after each."""
    crawling.must("inject", at=BORN_AT)
    for number in range(1, ROUNDS + 1):
        watch = RequestWatch(server)
        for _ in range(KILLS_A_ROUND):
            if crawling.rounds_done() == number:
                break  # the kill came between the last commit act and the end of the process
            run_and_kill(crawling, choice, watch, clock_of(number))
        if crawling.rounds_done() < number:
            crawling.must("round", at=clock_of(number))
        watch.end_span(None)
        assert crawling.dump() == stage.undisturbed.dump(number)
        assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []
    assert crawling.counts() == stage.undisturbed.counts()


def run_and_kill(crawling: Crawling, choice: random.Random, watch: RequestWatch, at: int) -> None:
    """Begin or continue a round and kill it after some requests or some time; it may have ended by itself before."""
    requests = choice.choice([choice.randrange(1, 60), ALL_REQUESTS])
    patience_s = choice.uniform(0.3, 2.5)
    process = crawling.start("round", "--quiet", at=at)
    watch.wait_for_requests(requests, process, patience_s=patience_s)
    kill(process)
    segments = crawling.segments()
    watch.end_span(segments[-1] if segments else None)


def test_workers_leave_when_only_the_command_is_killed(stage: Stages, slow_server: WebServer) -> None:
    crawling = stage.before("fetch")
    crawling.set_job(port=slow_server.port)
    watch = RequestWatch(slow_server)
    process = crawling.start("fetch", at=AT)
    with started(process):
        watch.wait_for_requests(20, process, patience_s=TIMEOUT_S)
        process.kill()
        ended(process)  # the workers have the pipe, too: it ends with the last of them
    with (crawling.data / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    watch.end_span(crawling.segments()[-1])
    crawling.must("round", at=AT)
    watch.end_span(None)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []


def test_a_command_whose_worker_is_killed_says_so_and_can_be_run_again(stage: Stages, slow_server: WebServer) -> None:
    crawling = stage.before("fetch")
    crawling.set_job(port=slow_server.port)
    watch = RequestWatch(slow_server)
    process = crawling.start("fetch", at=AT)
    with started(process):
        watch.wait_for_requests(20, process, patience_s=TIMEOUT_S)
        os.kill(children(process)[-1], signal.SIGKILL)  # the other may be through with its part
        end = ended(process)
    assert (end.code, end.said.splitlines()[-1]) == (
        1,
        "batchcrawl: a worker process was killed by SIGKILL; run the same command again",
    )
    watch.end_span(crawling.segments()[-1])
    crawling.must("round", at=AT)
    watch.end_span(None)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []


def test_a_segment_that_was_never_finished_is_cleared_away_by_the_next(stage: Stages) -> None:
    crawling = stage.before("generate")
    assert crawling.run("generate", at=AT - 5, failpoint="segment.built").code == -signal.SIGKILL
    assert [path.name for path in (crawling.data / "segments").glob(".new-*")]
    crawling.must("generate", at=AT)
    assert [path.name for path in (crawling.data / "segments").glob(".new-*")] == []


def test_a_dry_run_leaves_an_unborn_segment_alone(stage: Stages) -> None:
    crawling = stage.before("generate")
    assert crawling.run("generate", at=AT, failpoint="segment.built").code == -signal.SIGKILL
    before = crawling.files()
    crawling.must("generate", "--dry-run", at=AT)
    assert crawling.files() == before


def children(process: "subprocess.Popen[str]") -> list[int]:
    """Return the pids of a command's workers, in the order of the partitions."""
    return sorted(map(int, Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()))
