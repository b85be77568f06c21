"""Ctrl-C, SIGTERM and the time limit end a step in order; the same command goes on."""

import random
import signal
import subprocess
from contextlib import suppress

import pytest

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.show import fetch_list
from batchcrawl.store.records import read_log
from tests.crash.conftest import Stages
from tests.support.crawling import (
    BORN_AT,
    FETCH_SETTINGS,
    ROUNDS,
    SPEC,
    TIMEOUT_S,
    Crawling,
    clock_of,
    ended,
    kill,
    started,
)
from tests.support.request_watch import RequestWatch
from tests.support.webserver import WebServer, serving

AT = clock_of(ROUNDS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_lets_what_is_in_flight_finish(
    number: signal.Signals, stage: Stages, slow_server: WebServer
) -> None:
    crawling = stage.before("fetch")
    watch = RequestWatch(slow_server)
    crawling.set_job(port=slow_server.port)
    with started(crawling.start("fetch", at=AT)) as process:
        watch.wait_for_requests(3, process, patience_s=TIMEOUT_S)
        process.send_signal(number)
        end = ended(process)
    assert (end.code, end.said.splitlines()[-1]) == (11, "batchcrawl: interrupted; the same command continues")
    watch.end_span(crawling.segments()[-1])
    assert_same_end(crawling, "fetch", stage)
    watch.end_span(None)
    assert watch.faults(in_flight_max=0) == []


def test_the_second_signal_drops_what_is_in_flight(stage: Stages, server: WebServer) -> None:
    crawling = stage.before("fetch-cut")
    log = crawling.root / "slow.jsonl"
    with serving(SPEC, log=log, at=BORN_AT, latency_s=10 * TIMEOUT_S) as slow:
        watch = RequestWatch(slow)
        crawling.set_job(port=slow.port)
        with started(crawling.start("fetch", at=AT)) as process:
            watch.wait_for_requests(2, process, patience_s=TIMEOUT_S)
            process.send_signal(signal.SIGINT)
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=0.5)
            process.send_signal(signal.SIGINT)
            end = ended(process, timeout_s=TIMEOUT_S)
    assert (end.code, end.said.splitlines()[-1]) == (11, "batchcrawl: interrupted; the same command continues")
    crawling.set_job()
    assert_same_end(crawling, "fetch", stage)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 12))])
def test_ctrl_c_at_any_instant_needs_no_repair(seed: int, stage: Stages, server: WebServer) -> None:
    crawling = stage.before("generate")
    choice = random.Random(seed)
    process = crawling.start("round", at=AT)
    with started(process):
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=choice.uniform(0.1, 2.5))
        process.send_signal(signal.SIGINT)
        end = ended(process)
    # 11 by then, -2 from an interpreter that has only begun to load the program
    assert end.code in (0, 11, -signal.SIGINT), end.said
    if not crawling.segments()[-1].is_done("updated") or len(crawling.segments()) < ROUNDS:
        crawling.must("round", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)


def test_an_inject_that_is_interrupted_can_be_run_again(newborn: Crawling, stage: Stages) -> None:
    with started(newborn.start("inject", "-", at=BORN_AT, stdin=subprocess.PIPE)) as process:
        while not (newborn.data / "crawl.toml").exists():
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=0.01)
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT_S) == 11
        kill(process)
    newborn.must("inject", at=BORN_AT)
    assert newborn.dump() == stage.undisturbed.dump(0)


def test_at_the_time_limit_the_rest_goes_back(stage: Stages) -> None:
    crawling = stage.before("fetch")
    with serving(SPEC, at=BORN_AT, latency_s=0.15) as slow:
        crawling.set_job(port=slow.port, fetch=f'{FETCH_SETTINGS}time_limit = "1s"')
        end = crawling.run("fetch", at=AT)
    assert end.code == 15
    segment = crawling.segments()[-1]
    assert segment.manifest.steps["fetched"].reason == "time limit"
    lines = [line for p in (0, 1) for line in read_log(segment.paths.fetch_log(p), FetchLogLine)]
    left = {line.fp for line in lines if line.outcome is FetchOutcome.TIME_LIMIT}
    assert 0 < len(left) < segment.manifest.urls == len(lines)
    crawling.set_job()
    crawling.must("round", at=AT)
    assert {row["fp"] for row in crawling.rows() if row.get("place") in ("ready", "rising")} >= left
    crawling.must("generate", at=AT)
    assert left <= {entry.fp for entry in fetch_list(crawling.segments()[-1])}


def assert_same_end(crawling: Crawling, step: str, stage: Stages) -> None:
    crawling.must(step, at=AT)
    crawling.must("round", at=AT)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
