import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.errors import CorruptData, CrawlLocked
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import LogWriter, read_log
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut


class Entry(msgspec.Struct):
    text: str


ENTRIES = [Entry("a"), Entry("é" * 10), Entry("line\nbreak"), Entry("")]


def write(disk: Disk, path: Path, entries: list[Entry]) -> None:
    log = LogWriter(disk, path, Entry)
    log.append(entries)
    log.sync()
    log.close()


@pytest.fixture(scope="module")
def whole_log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("log") / "log"
    write(Disk(), path, ENTRIES)
    return path.read_bytes()


def test_what_is_appended_is_read(tmp_path: Path) -> None:
    write(Disk(), tmp_path / "log", ENTRIES[:2])
    write(Disk(), tmp_path / "log", ENTRIES[2:])
    assert list(read_log(tmp_path / "log", Entry)) == ENTRIES


def test_one_append_is_one_write(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    write(disk, tmp_path / "log", ENTRIES)
    assert disk.transcript == ["create log", "sync_dir .", "write log", "sync log"]


def test_appending_nothing_writes_nothing(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    LogWriter(disk, tmp_path / "log", Entry).append([])
    assert "write log" not in disk.transcript


def test_any_cut_is_read_as_a_prefix_and_recovered_to_it(tmp_path: Path, whole_log: bytes) -> None:
    for size in range(len(whole_log) + 1):
        (tmp_path / "log").write_bytes(whole_log[:size])
        left = list(read_log(tmp_path / "log", Entry))
        assert left == ENTRIES[: len(left)]
        log = LogWriter(Disk(), tmp_path / "log", Entry, recover=True)
        log.append([Entry("more")])
        log.close()
        assert list(read_log(tmp_path / "log", Entry)) == [*left, Entry("more")]


@settings(deadline=None)  # it waits for the device
@given(cut=st.integers(0, 60), tail=st.one_of(st.integers(0, 5000).map(bytes), st.binary(max_size=50)))
def test_a_tail_of_zeros_or_of_one_garbled_line_is_torn(
    tmp_path_factory: pytest.TempPathFactory, whole_log: bytes, cut: int, tail: bytes
) -> None:
    path = tmp_path_factory.mktemp("log") / "log"
    path.write_bytes(whole_log[:cut] + b"\x00" + tail.replace(b"\n", b""))
    left = list(read_log(path, Entry))
    assert left == ENTRIES[: len(left)]
    LogWriter(Disk(), path, Entry, recover=True).close()
    assert whole_log.startswith(path.read_bytes())


def test_a_sealed_log_has_no_torn_tail(tmp_path: Path, whole_log: bytes) -> None:
    (tmp_path / "log").write_bytes(whole_log)
    assert list(read_log(tmp_path / "log", Entry, sealed=True)) == ENTRIES
    for tail in (b'{"text"', b'{"text":"a"}', b"\x00\n", b"\x00"):
        (tmp_path / "log").write_bytes(whole_log + tail)
        with pytest.raises(CorruptData, match=f"log: .* byte {len(whole_log)}"):
            list(read_log(tmp_path / "log", Entry, sealed=True))


def test_a_log_that_is_gone_is_corrupt_data(tmp_path: Path) -> None:
    with pytest.raises(CorruptData, match="log is missing; restore it from a copy"):
        list(read_log(tmp_path / "log", Entry))


def test_a_last_line_that_cannot_be_read_is_torn_though_it_ends(tmp_path: Path, whole_log: bytes) -> None:
    (tmp_path / "log").write_bytes(whole_log + b'{"text"\x00\n')
    assert list(read_log(tmp_path / "log", Entry)) == ENTRIES


def test_damage_before_the_last_line_is_named_by_its_offset(tmp_path: Path, whole_log: bytes) -> None:
    (tmp_path / "log").write_bytes(b'{"text":"a"}\n{"te\n' + whole_log)
    with pytest.raises(CorruptData, match="log: damaged at byte 13"):
        list(read_log(tmp_path / "log", Entry))
    with pytest.raises(CorruptData, match="log: damaged at byte 13"):
        LogWriter(Disk(), tmp_path / "log", Entry, recover=True)


def test_a_log_that_could_not_be_recovered_is_unlocked(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"bad\nbad\n")
    for _ in range(2):
        with pytest.raises(CorruptData):
            LogWriter(Disk(), tmp_path / "log", Entry, recover=True)


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    log = LogWriter(Disk(), tmp_path / "log", Entry)
    with pytest.raises(CrawlLocked):
        LogWriter(Disk(), tmp_path / "log", Entry)
    log.close()


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("fail_at", range(1, 9))
def test_synced_lines_survive_a_power_failure_and_the_rest_is_a_prefix(
    tmp_path: Path, fail_at: int, keep: Keep
) -> None:
    disk = ForgetfulDisk(tmp_path, fail_at=fail_at)
    synced = 0
    try:
        log = LogWriter(disk, tmp_path / "log", Entry)
        for number, entry in enumerate(ENTRIES[:3], start=1):
            log.append([entry])
            log.sync()
            synced = number
    except PowerCut:
        pass
    disk.crash(keep, seed=fail_at)
    LogWriter(Disk(), tmp_path / "log", Entry, recover=True).close()
    left = list(read_log(tmp_path / "log", Entry))
    assert left == ENTRIES[: len(left)]
    assert len(left) >= synced


def test_recovery_makes_the_lines_of_a_killed_process_durable(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    first = LogWriter(disk, tmp_path / "log", Entry)
    first.append(ENTRIES)
    first.close()
    LogWriter(disk, tmp_path / "log", Entry, recover=True)
    disk.crash()
    assert list(read_log(tmp_path / "log", Entry)) == ENTRIES


def test_lines_of_many_threads_stay_whole(tmp_path: Path) -> None:
    log = LogWriter(Disk(), tmp_path / "log", Entry)

    def append(thread: int) -> None:
        for number in range(50):
            log.append([Entry(f"{thread}"), Entry(f"{thread}:{number}")])

    threads = [threading.Thread(target=append, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    log.close()
    entries = list(read_log(tmp_path / "log", Entry))
    assert len(entries) == 800
    assert all(two.text.startswith(f"{one.text}:") for one, two in zip(entries[::2], entries[1::2], strict=True))
