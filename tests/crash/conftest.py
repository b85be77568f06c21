"""One web, one warm program and one undisturbed crawl for all crash tests."""

import fcntl
import os
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from tests.support.crawling import BORN_AT, ROUNDS, SPEC, STEPS, Crawling, clock_of
from tests.support.warm import Warm
from tests.support.webserver import WebServer, serving


@dataclass(frozen=True)
class Undisturbed:
    """A crawl that nobody has disturbed: its state before each step, and its dumps."""

    root: Path

    def dump(self, round_number: int) -> list[str]:
        """Return the crawldb after a round; 0 is after inject."""
        dump: list[str] = msgspec.json.decode((self.root / f"dump-{round_number}").read_bytes(), type=list[str])
        return dump

    def counts(self) -> list[dict[str, dict[str, int]]]:
        """Return what each step of each segment counted."""
        counts: list[dict[str, dict[str, int]]] = msgspec.json.decode((self.root / "counts").read_bytes())
        return counts


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    log = tmp_path_factory.mktemp("web") / "requests.jsonl"
    with serving(SPEC, log=log, at=BORN_AT, latency_s=0.005) as web:
        yield web


@pytest.fixture
def slow_server(tmp_path: Path) -> Iterator[WebServer]:
    """The same web, so slow that a fetch is still under way when a test under load gets to act."""
    with serving(SPEC, log=tmp_path / "slow.jsonl", at=BORN_AT, latency_s=0.06) as web:
        yield web


@pytest.fixture(scope="session")
def undisturbed(server: WebServer, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    """Made by the first process of the test run that asks for it, for all of them."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    made = Undisturbed(shared / "undisturbed")
    with (shared / "undisturbed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made.root / f"dump-{ROUNDS}").exists():
            _make(made, server, warm)
    return made


@pytest.fixture
def newborn(server: WebServer, warm: Warm, tmp_path: Path) -> Crawling:
    """A job whose crawl does not exist yet."""
    return Crawling.make(tmp_path / "crawl", server.port, warm, seeds=list(server.web.seeds()))


@pytest.fixture
def stage(undisturbed: Undisturbed, server: WebServer, warm: Warm, tmp_path: Path) -> "Stages":
    return Stages(undisturbed, server.port, warm, tmp_path)


@dataclass(frozen=True)
class Stages:
    """Copies of the undisturbed crawl for one test."""

    undisturbed: Undisturbed
    port: int
    warm: Warm
    directory: Path

    def before(self, step: str) -> Crawling:
        """Return the crawl as it was before a step of the last round; `end` is after it, `fetch-cut` within."""
        source = Crawling(self.undisturbed.root / step, self.port, self.warm)
        return source.copy_to(self.directory / "crawl", self.port)


def _make(made: Undisturbed, server: WebServer, warm: Warm) -> None:
    made.root.mkdir(exist_ok=True)
    crawling = Crawling.make(made.root / "crawl", server.port, warm, seeds=list(server.web.seeds()))

    def keep(stage: str) -> None:
        shutil.copytree(crawling.root, made.root / stage)

    def keep_dump(number: int) -> None:
        (made.root / f"dump-{number}").write_bytes(msgspec.json.encode(crawling.dump()))

    crawling.must("inject", at=BORN_AT)
    keep_dump(0)
    for number in range(1, ROUNDS):
        crawling.must("round", at=clock_of(number))
        keep_dump(number)
    for step in STEPS:
        keep(step)
        crawling.must(step, at=clock_of(ROUNDS))
    keep("end")
    _make_cut(Crawling(made.root / "fetch", server.port, warm).copy_to(made.root / "fetch-cut", server.port))
    (made.root / "counts").write_bytes(msgspec.json.encode(crawling.counts()))
    keep_dump(ROUNDS)


def _make_cut(crawling: Crawling) -> None:
    cut = crawling.run("fetch", at=clock_of(ROUNDS), failpoint="log.appended:25")
    assert cut.code == -signal.SIGKILL, cut.said
