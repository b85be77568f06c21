"""A page that hangs, bloats or kills the process that parses it is recorded as failed, and nothing else is lost."""

import fcntl
import gzip
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from batchcrawl.model.entries import PageLine
from batchcrawl.store.records import read_lines
from tests.crash.test_kills import children
from tests.support.crawling import BORN_AT, Crawling, clock_of, ended, started
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.warm import Warm

AT = clock_of(1)
HANGS = "http://a.test/hangs"
BLOATS = "http://a.test/bloats"
FINE = [f"http://a.test/{number}" for number in range(8)]
ENDLESS = b"<b>" * 100_000 + b"</i>" * 1_000_000
"""The parser looks for each end tag among all the open elements."""
BIG = gzip.compress(b"<p>" + b" " * 20_000_000, compresslevel=1)
PATIENT = 'page_cpu = "1h"\npage_time = "1h"\n'
BOTH_SETTINGS = 'page_cpu = "300ms"\nworker_memory = "48MB"\n'
BOTH_CAUSES = {HANGS: "took more than 0.3 s of CPU time", BLOATS: "needed more than 48 MB of memory"}
STOPPED = "batchcrawl: interrupted; the same command continues"


@pytest.fixture(scope="module")
def web() -> Iterator[ScriptedWeb]:
    answers = {
        url: Scripted(body=f'<title>{url}</title><a href="/of/{number}">on to {number}</a>'.encode())
        for number, url in enumerate(FINE)
    }
    answers[HANGS] = Scripted(body=ENDLESS)
    answers[BLOATS] = Scripted(headers={"Content-Encoding": "gzip"}, body=BIG)
    with scripted_web(answers) as served:
        yield served


@pytest.fixture(scope="module")
def fetched(web: ScriptedWeb, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Crawling:
    """A crawl of the web before its parse step, with the page that hangs."""
    return before_parse(tmp_path_factory.mktemp("hangs") / "crawl", web, warm, [*FINE, HANGS])


@pytest.fixture(scope="module")
def fetched_both(web: ScriptedWeb, warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Crawling:
    """The same with the page that bloats, too."""
    return before_parse(tmp_path_factory.mktemp("both") / "crawl", web, warm, [*FINE, HANGS, BLOATS])


def before_parse(root: Path, web: ScriptedWeb, warm: Warm, seeds: list[str]) -> Crawling:
    crawling = Crawling.make(root, web.port, warm, seeds=seeds, fetch="threads = 1")
    for step in ("inject", "generate", "fetch"):
        crawling.must(step, at=AT if step != "inject" else BORN_AT)
    return crawling


def copied(fetched: Crawling, root: Path, settings: str, *, chunk_pages: int = 4) -> Crawling:
    """Return a copy with more settings of the parse section."""
    crawling = fetched.copy_to(root, fetched.port)
    job = crawling.root / "jobs" / "web.toml"
    text, changes = re.subn(r"chunk_pages = \d+\n", f"chunk_pages = {chunk_pages}\n{settings}", job.read_text())
    assert changes == 1
    job.write_text(text)
    return crawling


def pages(crawling: Crawling) -> dict[str, PageLine]:
    """Return the lines of the parsed pages by their URL."""
    paths = crawling.segments()[-1].listed("parse", end=".pages.jsonl.zst")
    return {page.url: page for path in paths for page in read_lines(path, PageLine)}


def assert_only(crawling: Crawling, failed: dict[str, str]) -> None:
    """Check that these pages failed, that all others were parsed, and that update takes them all."""
    found = pages(crawling)
    assert {url: page.failed for url, page in found.items() if page.failed is not None} == failed
    assert {url: (page.title, page.links) for url, page in found.items() if url in FINE} == {
        url: (url, 1) for url in FINE
    }
    assert crawling.counts()[-1]["parsed"].get("parse_failed", 0) == len(failed)
    crawling.must("update", at=AT)
    rows = {row["url"]: row for row in crawling.rows() if "status" in row}
    assert {url for url in rows if "/of/" in url} == {f"http://a.test/of/{number}" for number in range(8)}
    assert all(rows[url]["status"] == "fetched" and "signature" not in rows[url] for url in failed)
    crawling.must("check", at=AT)
    assert [path.name for path in crawling.segments()[-1].paths.parse_dir.glob("*.tmp")] == []


@pytest.mark.parametrize(
    ("settings", "failed"),
    [
        ('page_cpu = "300ms"\n', {HANGS: "took more than 0.3 s of CPU time"}),
        ('page_time = "1s"\n', {HANGS: "took longer than 1 s"}),
        (BOTH_SETTINGS, BOTH_CAUSES),
    ],
)
def test_a_page_beyond_a_limit_is_recorded_with_the_limit(
    settings: str, failed: dict[str, str], fetched: Crawling, fetched_both: Crawling, tmp_path: Path
) -> None:
    crawling = copied(fetched_both if BLOATS in failed else fetched, tmp_path / "crawl", settings)
    said = crawling.must("parse", at=AT)
    assert f"parse_failed {len(failed):>24}" in said
    assert_only(crawling, failed)


@pytest.mark.parametrize(
    ("chunk_pages", "point"),
    [
        (10, "parse.links_written"),
        pytest.param(10, "lines.finished:3", marks=pytest.mark.slow),
        (4, "lines.finished:3"),
    ],
)
def test_a_failed_page_stays_one_when_the_step_is_killed_and_run_again(
    chunk_pages: int, point: str, fetched_both: Crawling, tmp_path: Path
) -> None:
    calm, killed = (
        copied(fetched_both, tmp_path / name, BOTH_SETTINGS, chunk_pages=chunk_pages) for name in ("calm", "killed")
    )
    ends = [killed.run("parse", at=AT, failpoint=point) for _ in range(2)]  # the second time, perhaps a chunk later
    assert ends[0].code == -signal.SIGKILL
    for crawling in (calm, killed):
        crawling.must("round", at=AT)
    assert killed.files() == calm.files()
    assert killed.dump() == calm.dump()


def test_a_worker_that_is_killed_once_is_replaced_and_nothing_is_lost(fetched: Crawling, tmp_path: Path) -> None:
    crawling = copied(fetched, tmp_path / "crawl", 'page_time = "1h"\npage_cpu = "2s"\n')
    with started(crawling.start("parse", at=AT)) as process:
        os.kill(busy_worker(process), signal.SIGKILL)
        end = ended(process)
    assert end.code == 0, end.said
    assert_only(crawling, {HANGS: "took more than 2 s of CPU time"})


def test_a_page_at_which_two_workers_died_is_recorded_with_the_signal(fetched: Crawling, tmp_path: Path) -> None:
    crawling = copied(fetched, tmp_path / "crawl", PATIENT)
    with started(crawling.start("parse", at=AT)) as process:
        first = busy_worker(process)
        os.kill(first, signal.SIGSEGV)
        os.kill(busy_worker(process, other_than=first), signal.SIGSEGV)
        end = ended(process)
    assert end.code == 0, end.said
    assert_only(crawling, {HANGS: "its process was killed by SIGSEGV"})


def test_a_request_to_stop_waits_for_no_page_longer_than_its_limit(fetched: Crawling, tmp_path: Path) -> None:
    crawling = copied(fetched, tmp_path / "crawl", 'page_cpu = "2s"\n')
    with started(crawling.start("parse", at=AT)) as process:
        busy_worker(process)
        process.send_signal(signal.SIGINT)
        end = ended(process)
    assert (end.code, end.said.splitlines()[-1]) == (11, STOPPED)
    crawling.must("parse", at=AT)
    assert_only(crawling, {HANGS: "took more than 2 s of CPU time"})


def test_a_worker_that_hangs_does_not_outlive_its_command(fetched: Crawling, tmp_path: Path) -> None:
    crawling = copied(fetched, tmp_path / "crawl", PATIENT)
    with started(crawling.start("parse", at=AT)) as process:
        busy_worker(process)
        process.kill()
        ended(process)  # the workers have the pipe, too: it ends with the last of them
    with (crawling.data / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


def busy_worker(process: "subprocess.Popen[str]", *, other_than: int | None = None) -> int:
    """Return the pid of a worker once it has been busy for so long that it must be at the page that hangs."""
    while process.poll() is None:
        for pid in children(process):
            with suppress(FileNotFoundError):  # it has just ended
                if pid != other_than and cpu_s(pid) > 0.5:
                    return pid
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=0.02)
    raise AssertionError(f"the command has ended with {process.returncode}")


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process (proc(5), fields 14 and 15 of stat)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
