from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from batchcrawl.errors import CrawlLocked
from batchcrawl.model.clock import FixedClock
from batchcrawl.model.entries import FetchLogLine, HostLogLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.store.disk import Disk
from batchcrawl.store.fetch_output import FetchOutput, OutputClosedError
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.records import check_file, read_log
from batchcrawl.store.warc_reader import read_exchange
from tests.support.exchanges import STARTED_AT, answer
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut
from tests.support.warc_judge import broken_rules
from tests.support.warcs import INFO

HOST = "http://example.org"
URLS = 5
SMALL = 1200
"""A WARC file of so many bytes holds one or two exchanges."""


def opened(root: Path, disk: Disk | None = None, *, warc_bytes_max: int = SMALL) -> FetchOutput:
    return FetchOutput(
        disk or Disk(), SegmentPaths(root), 0, info=INFO, clock=FixedClock(STARTED_AT), warc_bytes_max=warc_bytes_max
    )


def fp(number: int) -> str:
    return f"{number:032x}"


def fetch(output: FetchOutput, number: int) -> None:
    """Give URL number `number` its outcome, every third without an answer."""
    line = FetchLogLine(fp=fp(number), url=f"{HOST}/page/{number}", host=HOST, outcome=FetchOutcome.TIMEOUT)
    if number % 3 != 2:
        at = output.store(answer(number), fp=line.fp)
        line.outcome, line.warc, line.offset, line.length = FetchOutcome.FETCHED, at.file, at.offset, at.length
    output.log(line)


def fetch_all(output: FetchOutput, safe: set[str]) -> None:
    """Fetch what is left; `safe` takes the fingerprints whose outcomes are known to be durable."""
    logged = output.logged()
    for number in range(URLS):
        if fp(number) not in logged:
            fetch(output, number)
            logged.add(fp(number))
        output.log_host(HostLogLine(host=HOST, at=float(number)))
        if number % 2:
            output.sync()
            safe |= logged
    output.seal()
    safe |= logged


def lines(root: Path) -> list[FetchLogLine]:
    return list(read_log(SegmentPaths(root).fetch_log(0), FetchLogLine))


def assert_every_line_has_its_exchange(root: Path) -> None:
    for line in lines(root):
        if line.warc is not None and line.offset is not None:
            stored = read_exchange(SegmentPaths(root).fetch_dir / line.warc, line.offset, verify=True)
            assert stored.target_uri == line.url


def assert_finished(root: Path) -> None:
    assert Counter(line.fp for line in lines(root)) == dict.fromkeys(map(fp, range(URLS)), 1)
    assert_every_line_has_its_exchange(root)
    names = sorted(path.name for path in SegmentPaths(root).fetch_dir.iterdir())
    assert [name for name in names if not name.endswith((".jsonl", ".warc.gz"))] == []


def new_root(folder: Path, name: object) -> Path:
    root = folder / str(name)
    SegmentPaths(root).fetch_dir.mkdir(parents=True)
    return root


def cut_everywhere(folder: Path, keep: Keep, then: Callable[[Path, set[str], int], None]) -> int:
    """Cut the power before each operation of a fetch in turn, hand over what is left, and return how many there are."""
    for number in range(1, 1000):
        root, safe = new_root(folder, number), set[str]()
        disk = ForgetfulDisk(root, fail_at=number)
        try:
            fetch_all(opened(root, disk), safe)
        except PowerCut:
            disk.crash(keep, seed=number)
            then(root, safe, number)
        else:
            return number - 1
    raise AssertionError("it never ends")


@pytest.mark.parametrize("keep", Keep)
def test_after_a_power_cut_at_any_operation_the_same_command_ends_with_every_url_once(
    tmp_path: Path, keep: Keep
) -> None:
    def resume(root: Path, safe: set[str], _: int) -> None:
        output = opened(root)
        assert output.logged() >= safe
        assert_every_line_has_its_exchange(root)
        fetch_all(output, safe)
        assert_finished(root)

    assert cut_everywhere(tmp_path, keep, resume) > 30


def test_a_second_power_cut_while_recovering_does_no_harm(tmp_path: Path) -> None:
    def resume(root: Path, safe: set[str], number: int) -> None:
        for again in range(1, 8):
            disk = ForgetfulDisk(root, fail_at=again)
            try:
                opened(root, disk)
            except PowerCut:
                disk.crash(Keep.SOME, seed=number * 10 + again)
            else:
                disk.crash(Keep.SOME, seed=number * 10 + again)
                break
        output = opened(root)
        assert output.logged() >= safe
        fetch_all(output, safe)
        assert_finished(root)

    cut_everywhere(tmp_path, Keep.SOME, resume)


def test_an_undisturbed_fetch_leaves_sound_files(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    fetch_all(opened(root), set())
    assert_finished(root)
    warcs = sorted(SegmentPaths(root).fetch_dir.glob("*.warc.gz"))
    assert len(warcs) > 1
    assert [broken_rules([path]) for path in warcs] == [[]] * len(warcs)


def test_sealing_tells_what_each_file_is(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    output = opened(root, warc_bytes_max=10**9)
    for number in range(3):
        fetch(output, number)
    output.log_host(HostLogLine(host=HOST, at=1.0))
    files = output.seal()
    assert {name: file.lines for name, file in files.items()} == {
        "fetch/0-00000.warc.gz": 5,
        "fetch/0.jsonl": 3,
        "fetch/0.hosts.jsonl": 1,
    }
    for name, file in files.items():
        check_file(root / name, file)


def test_sealing_counts_the_files_of_earlier_runs(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    first = opened(root)
    for number in (0, 1, 3):
        fetch(first, number)
    first.suspend()
    second = opened(root)
    fetch(second, 4)
    assert [name for name in second.seal() if name.endswith(".warc.gz")] == [
        f"fetch/{path.name}" for path in sorted(SegmentPaths(root).fetch_dir.glob("*.warc.gz"))
    ]


def test_a_suspended_output_goes_on_where_it_was(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    first = opened(root)
    fetch(first, 0)
    first.suspend()
    assert (SegmentPaths(root).fetch_dir / "0-00000.warc.gz.open").exists()
    second = opened(root)
    assert second.logged() == {fp(0)}
    fetch_all(second, set())
    assert_finished(root)


def test_after_the_end_nothing_is_written(tmp_path: Path) -> None:
    ends: list[Callable[[FetchOutput], object]] = [FetchOutput.suspend, FetchOutput.seal]
    for number, end in enumerate(ends):
        output = opened(new_root(tmp_path, number))
        fetch(output, 0)
        end(output)
        with pytest.raises(OutputClosedError):
            output.store(answer(1), fp=fp(1))
        with pytest.raises(OutputClosedError):
            fetch(output, 2)
        with pytest.raises(OutputClosedError):
            output.log_host(HostLogLine(host=HOST, at=1.0))


def test_two_processes_cannot_write_one_partition(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    opened_first = opened(root)
    with pytest.raises(CrawlLocked):
        opened(root)
    opened_first.suspend()


def test_the_last_line_of_a_host_is_what_is_known_of_it(tmp_path: Path) -> None:
    output = opened(new_root(tmp_path, "segment"))
    for host, at in (("http://a.example", 1.0), ("http://b.example", 2.0), ("http://a.example", 3.0)):
        output.log_host(HostLogLine(host=host, at=at))
    known = {line.host: line.at for line in output.host_lines()}
    assert known == {"http://a.example": 3.0, "http://b.example": 2.0}


def test_the_log_is_cut_before_the_first_line_whose_exchange_is_not_there(tmp_path: Path) -> None:
    root = new_root(tmp_path, "segment")
    output = opened(root, warc_bytes_max=10**9)
    for number in range(4):
        fetch(output, number)
    output.suspend()
    growing = SegmentPaths(root).fetch_dir / "0-00000.warc.gz.open"
    Disk().truncate(growing, (lines(root)[1].offset or 0) + 10)
    assert opened(root).logged() == {fp(0)}
