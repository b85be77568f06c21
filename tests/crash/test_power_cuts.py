"""The power goes off before each operation of each step on a disk that forgets what was not synced, or the disk fails.

The crawldb is not on that disk: each of its batches is synced when it is written, as the last tests here show.
"""

import errno
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import plyvel
import pytest

import batchcrawl
import batchcrawl.inject
from batchcrawl.engine.control import Control
from batchcrawl.errors import CrawlError, ExitCode
from batchcrawl.fetch import fetch
from batchcrawl.generate import generate
from batchcrawl.inject import inject
from batchcrawl.job.crawl import open_or_create
from batchcrawl.job.load import load_job
from batchcrawl.job.seed_files import read_seed_file
from batchcrawl.job.seeds import Seed
from batchcrawl.model.clock import FixedClock
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.parse import parse
from batchcrawl.store.crawldb import CrawlDb, Entry
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import FileInfo, check_file, read_log
from batchcrawl.store.warc_reader import read_exchange
from batchcrawl.update import update
from tests.support.crawling import BORN_AT, JOB, Crawling, clock_of
from tests.support.failing import FailingFrom
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut
from tests.support.in_process import run_in_process, run_isolated_in_process
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warm import Warm

ANSWERS = {
    "http://a.test/0": Scripted(status=302, headers={"Location": "http://www.a.test/"}, body=b""),
    "http://a.test/1": Scripted(body=b'<title>a</title><a href="/2">two</a><a href="http://busy.test/2">other</a>'),
    "http://busy.test/": Scripted(body=b'<title>d</title><a href="/3">three</a>'),
}
"""Hosts of both partitions, with links from one to the other, and a seed that changes the scope."""
FETCH_SETTINGS = """
threads = 1
warc_bytes_max = "2KB"
"""
OPERATIONS_MAX = 2000
STRIDES = {Keep.NOTHING: 1, Keep.SOME: 2}
"""Before each or each other operation."""
WITHOUT_CRAWLDB = ("inject", "fetch", "parse")
"""Steps that find no crawldb, or have no use for it; for the others only the segments forget."""
CLOCK = FixedClock(clock_of(1))
STEPS: dict[str, Callable[..., object]] = {"fetch": fetch, "parse": parse, "update": update}
KEPT = [Keep.NOTHING, pytest.param(Keep.SOME, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def bases(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Crawling]]:
    """A small crawl before each of its first steps."""
    with scripted_web(ANSWERS) as web:
        root = tmp_path_factory.mktemp("power")
        crawling = Crawling.make(root / "inject", web.port, warm, seeds=list(ANSWERS), fetch=FETCH_SETTINGS)
        bases = {"inject": crawling}
        for step, after in pairwise(("inject", "generate", "fetch", "parse", "update")):
            bases[after] = copied(bases[step], root / after)
            bases[after].must(step, at=int(CLOCK.at))
        for step in ("fetch", "parse"):
            shutil.rmtree(bases[step].data / "crawldb")
        yield bases


@pytest.fixture(autouse=True)
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test's disk see every operation of every partition; a worker's disk would be a copy."""
    for step in ("generate", "fetch", "settle", "update"):
        monkeypatch.setattr(f"batchcrawl.{step}.run_partitions", run_in_process)
    monkeypatch.setattr("batchcrawl.parse.run_isolated", run_isolated_in_process)
    monkeypatch.setattr(batchcrawl.inject, "CHUNK_SEEDS", 2)


@pytest.mark.parametrize("keep", KEPT)
@pytest.mark.parametrize("step", ["inject", "generate", "parse", "update"])
def test_a_step_that_lost_its_power_ends_with_the_same_bytes(
    step: str, keep: Keep, bases: dict[str, Crawling], tmp_path: Path
) -> None:
    calm = copied(bases[step], tmp_path / "calm")
    run_step(calm, step, Disk())
    wanted = state_of(calm)
    for crawling in cut_everywhere(bases[step], step, keep, tmp_path):
        assert state_of(crawling) == wanted


@pytest.mark.parametrize("keep", KEPT)
def test_a_fetch_that_lost_its_power_ends_with_the_same_outcomes(
    keep: Keep, bases: dict[str, Crawling], tmp_path: Path
) -> None:
    calm = copied(bases["fetch"], tmp_path / "calm")
    run_step(calm, "fetch", Disk())
    wanted = outcomes_of(calm)
    for crawling in cut_everywhere(bases["fetch"], "fetch", keep, tmp_path):
        assert outcomes_of(crawling) == wanted
        assert_files_are_whole(crawling)


@pytest.mark.parametrize(
    ("error", "code", "stride"), [(errno.ENOSPC, ExitCode.DISK_FULL, 11), (errno.EIO, ExitCode.FAILED, 13)]
)
@pytest.mark.parametrize("step", ["inject", "generate", "fetch", "parse", "update"])
def test_a_step_whose_disk_is_full_or_fails_says_so_and_goes_on_once_it_is_right(
    step: str, error: int, code: ExitCode, stride: int, bases: dict[str, Crawling], tmp_path: Path
) -> None:
    calm = copied(bases[step], tmp_path / "calm")
    run_step(calm, step, Disk())
    seen_of = outcomes_of if step == "fetch" else state_of
    wanted = seen_of(calm)
    for number in range(1, OPERATIONS_MAX, stride):
        crawling = copied(bases[step], tmp_path / str(number))
        try:
            run_step(crawling, step, Disk(FailingFrom(number, error=error)))
            told = None
        except CrawlError as failed:
            told = failed
        if told is None:
            assert number > 5, "the step did next to nothing"
            return
        assert (told.exit_code, str(crawling.root) in str(told)) == (code, True), f"{number}: {told}"
        run_step(crawling, step, Disk())
        assert seen_of(crawling) == wanted
        crawling.remove()


def cut_everywhere(base: Crawling, step: str, keep: Keep, folder: Path) -> Iterator[Crawling]:
    """Cut the power before each operation of a step, run it again on what is left, and yield the crawl."""
    for number in range(1, OPERATIONS_MAX, STRIDES[keep]):
        crawling = copied(base, folder / str(number))
        disk = ForgetfulDisk(crawling.root if step in WITHOUT_CRAWLDB else segments(crawling), fail_at=number)
        try:
            run_step(crawling, step, disk)
        except PowerCut:
            crash(disk, crawling, keep, seed=number)
            run_step(crawling, step, Disk())
            yield crawling
            crawling.remove()
        else:
            assert number > 5, "the step did next to nothing"
            return
    pytest.fail(f"{step} does more than {OPERATIONS_MAX} operations")


def crash(disk: ForgetfulDisk, crawling: Crawling, keep: Keep, *, seed: int) -> None:
    """Cut the power; the crawldb, whose batches are synced, stays as it is where the directory around it stays."""
    crawldb, aside = crawling.data / "crawldb", crawling.root.with_name("aside")
    if crawldb.exists():
        crawldb.rename(aside)
        crawldb.mkdir()
    disk.crash(keep, seed=seed)
    if crawldb.exists():
        shutil.rmtree(crawldb)
        aside.rename(crawldb)
    shutil.rmtree(aside, ignore_errors=True)


def copied(base: Crawling, root: Path) -> Crawling:
    shutil.copytree(base.root, root)
    return Crawling(root, base.port, base.warm)


def segments(crawling: Crawling) -> Path:
    return crawling.data / "segments"


def run_step(crawling: Crawling, step: str, disk: Disk) -> None:
    if step == "inject":
        job = load_job(JOB, cwd=crawling.root)
        disk.make_dir(job.data_dir)
        inject(open_or_create(job, disk), _seeds(crawling), disk=disk, clock=FixedClock(BORN_AT))
    elif step == "generate" and crawling.segments() and crawling.segments()[0].is_done("generated"):
        return  # the power went off between the stamp and the end
    elif step == "generate":
        generate(crawling.opened(), dry_run=False, disk=disk, clock=CLOCK, control=Control())
    else:
        STEPS[step](crawling.opened(), crawling.segments()[0], disk=disk, clock=CLOCK, control=Control())


def _seeds(crawling: Crawling) -> Iterator[Seed]:
    path = crawling.root / "jobs" / "seeds.txt"
    return (line for line in read_seed_file(path, path.name) if isinstance(line, Seed))


def state_of(crawling: Crawling) -> dict[str, Any]:
    """Return all that a crawl holds: the files that are committed, by their bytes, and the crawldb."""
    root = crawling.data
    files = {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.relative_to(root).parts[0] != "crawldb" and path.suffix != ".tmp"
    }
    return {**files, "crawldb": crawling.dump() if (root / "crawldb").exists() else None}


def outcomes_of(crawling: Crawling) -> list[object]:
    """Return the outcomes and what was learned of hosts, without the places of the exchanges."""
    segment = crawling.segments()[0]
    lines: list[Any] = []
    for p in range(segment.manifest.partitions):
        for line in read_log(segment.paths.fetch_log(p), FetchLogLine):
            line.warc = line.offset = line.length = None
            lines.append(line)
        lines += {line.host: line for line in read_log(segment.paths.host_log(p), HostLogLine)}.values()
    assert segment.is_done("fetched")
    return sorted(map(msgspec.to_builtins, lines), key=str)


def assert_files_are_whole(crawling: Crawling) -> None:
    """Every file is the one of the manifest, and every outcome leads to its exchange."""
    segment = crawling.segments()[0]
    for name, entry in segment.manifest.files.items():
        info = FileInfo(name=name, bytes=entry.bytes, checksum=entry.sha256, lines=entry.lines)
        check_file(segment.path / name, info)
    for p in range(segment.manifest.partitions):
        for line in read_log(segment.paths.fetch_log(p), FetchLogLine):
            if line.warc is not None and line.offset is not None:
                assert read_exchange(segment.paths.fetch_dir / line.warc, line.offset).target_uri == line.url


class NotingDb:
    """LevelDB that notes with which options its batches are made; its own class takes no subclass."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._real = REAL_DB(*args, **options)
        self.noted: list[dict[str, Any]] = []

    def write_batch(self, **options: Any) -> Any:
        self.noted.append(options)
        return self._real.write_batch(**options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


REAL_DB = plyvel.DB


def test_every_batch_of_the_crawldb_is_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[NotingDb] = []

    def opened(*args: Any, **options: Any) -> NotingDb:
        made.append(NotingDb(*args, **options))
        return made[-1]

    monkeypatch.setattr(plyvel, "DB", opened)
    with CrawlDb(tmp_path / "0", create=True) as db:
        batch = db.batch()
        batch.enter_host(b"12345678", HostRecord(host="http://a.test", domain="a.test"))
        batch.put(Entry.new(b"1234567890123456", UrlRecord(url="http://a.test/")))
        batch.commit()
        assert db.load(b"1234567890123456") is not None
    assert [db.noted for db in made] == [[{"sync": True}]]


def test_nothing_is_written_to_leveldb_but_by_batches() -> None:
    sources = Path(batchcrawl.__file__).parent.rglob("*.py")
    calls = [name for path in sources for name in re.findall(r"\b_db\.(put|delete|write_batch)\(", path.read_text())]
    assert calls == ["write_batch"]
