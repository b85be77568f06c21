"""The disk is full in the middle of each step; once there is space again, the same command goes on."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crash.conftest import Stages
from tests.support.crawling import BORN_AT, FETCH_SETTINGS, IN_FLIGHT_MAX, ROUNDS, Crawling, clock_of
from tests.support.request_watch import RequestWatch
from tests.support.small_disk import SmallDisk, small_disk
from tests.support.webserver import WebServer

DISK_BYTES = 24 << 20
AT = clock_of(ROUNDS)
STEPS = ("generate", "fetch", "fetch-cut", "parse", "update")
NO_FLOOR = FETCH_SETTINGS + 'disk_free_min = "0B"'
PARTS = {"generate": (0.5,), "fetch": (0.05, 0.7), "fetch-cut": (0.4,), "parse": (0.5,), "update": (0.25, 0.7)}
"""By step, with which parts of what it takes left free it is tried."""
OTHER_PARTS = tuple(number / 20 for number in range(20))
TOLD = re.compile(r"batchcrawl: no space left .*/data/web\S* \([\d,]+ bytes free(, [\d,]+ needed)?\); make space .*")


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", DISK_BYTES) as mounted:
        yield mounted


@pytest.mark.parametrize(("step", "part"), [(step, part) for step, parts in PARTS.items() for part in parts])
def test_a_step_on_a_full_disk_says_so_and_goes_on_once_there_is_space(
    step: str, part: float, stage: Stages, server: WebServer, disk: SmallDisk
) -> None:
    crawling = on_disk(stage, step, disk)
    assert_survives(crawling, step, disk, space_of(stage, step, disk), part, stage, server)


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_a_step_on_a_disk_that_is_full_at_any_point_goes_on_once_there_is_space(
    step: str, stage: Stages, server: WebServer, disk: SmallDisk
) -> None:
    space = space_of(stage, step, disk)
    for part in OTHER_PARTS:
        crawling = on_disk(stage, step, disk)
        assert_survives(crawling, step, disk, space, part, stage, server)
        crawling.remove()


def test_inject_on_a_full_disk_adds_the_rest_once_there_is_space(
    newborn: Crawling, stage: Stages, disk: SmallDisk
) -> None:
    crawling = newborn.copy_to(disk.root / "crawl", newborn.port)
    disk.fill(leave_bytes=110_000)
    end = crawling.run("inject", at=BORN_AT)
    assert (end.code, bool(TOLD.fullmatch(end.said.strip()))) == (3, True), end.said
    disk.clear()
    crawling.must("inject", at=BORN_AT)
    assert crawling.dump() == stage.undisturbed.dump(0)


def test_fetch_leaves_the_floor_of_a_disk_free_and_goes_on_once_there_is_space(
    stage: Stages, server: WebServer, disk: SmallDisk
) -> None:
    crawling = on_disk(stage, "fetch", disk)
    crawling.set_job()
    watch = RequestWatch(server)
    disk.fill(leave_bytes=DISK_BYTES // 20 + 60_000)
    end = crawling.run("fetch", at=AT)
    floor = f"{DISK_BYTES // 20:,} needed); make space and run the same command again\n"
    assert (end.code, end.said.endswith(floor)) == (3, True), end.said
    assert disk.free_bytes > DISK_BYTES // 40
    again = crawling.run("fetch", at=AT)
    assert (again.code, again.said.endswith(floor)) == (3, True), "it does not even begin"
    disk.clear()
    watch.end_span(crawling.segments()[-1])
    crawling.must("round", at=AT)
    watch.end_span(None)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert watch.faults(in_flight_max=0) == []


def on_disk(stage: Stages, step: str, disk: SmallDisk) -> Crawling:
    """Return the crawl as it was before a step, on the small disk, with no floor."""
    source = Crawling(stage.undisturbed.root / step, stage.port, stage.warm)
    crawling = source.copy_to(disk.root / "crawl", stage.port)
    crawling.set_job(fetch=NO_FLOOR)
    return crawling


def space_of(stage: Stages, step: str, disk: SmallDisk) -> int:
    """Return how many bytes of the disk a step takes in all; the crawl on it stays as it is."""
    source = Crawling(stage.undisturbed.root / step, stage.port, stage.warm)
    crawling = source.copy_to(disk.root / "measured", stage.port)
    before = disk.free_bytes
    crawling.must(step.removesuffix("-cut"), at=AT)
    space = before - disk.free_bytes
    crawling.remove()
    return space


def assert_survives(
    crawling: Crawling, step: str, disk: SmallDisk, space: int, part: float, stage: Stages, server: WebServer
) -> None:
    """Run a step with a part of the space it takes, then with enough, and compare with the undisturbed crawl."""
    watch, command = RequestWatch(server), step.removesuffix("-cut")
    disk.fill(leave_bytes=int(space * part))
    end = crawling.run(command, at=AT)
    disk.clear()
    assert (end.code, bool(TOLD.fullmatch(end.said.strip()))) == (3, True), f"{part}: {end.code} {end.said}"
    watch.end_span(crawling.segments()[-1])
    crawling.must(command, at=AT)
    if not crawling.segments()[-1].is_done("updated"):
        crawling.must("round", at=AT)
    watch.end_span(None)
    assert crawling.dump() == stage.undisturbed.dump(ROUNDS)
    assert crawling.counts() == stage.undisturbed.counts()
    assert watch.faults(in_flight_max=IN_FLIGHT_MAX) == []
