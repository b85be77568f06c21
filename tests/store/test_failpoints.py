import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import batchcrawl
from batchcrawl.errors import UsageError
from batchcrawl.model.entries import HostLogLine
from batchcrawl.store.failpoints import FAILPOINTS, VARIABLE, failpoint, parse_failpoint
from batchcrawl.store.records import read_lines, read_log
from tests.support.warc_judge import broken_rules

_THREE_HITS = """
from batchcrawl.store.failpoints import failpoint
for number in range(3):
    failpoint("log.synced")
    print(number, flush=True)
"""


def run(setting: str | None) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != VARIABLE}
    return subprocess.run(
        [sys.executable, "-c", _THREE_HITS],
        env=environment | ({} if setting is None else {VARIABLE: setting}),
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )


def test_the_list_holds_exactly_the_points_in_the_program() -> None:
    sources = Path(batchcrawl.__file__).parent.rglob("*.py")
    called = {name for path in sources for name in re.findall(r"\bfailpoint\(\"([^\"]+)\"\)", path.read_text())}
    assert sorted(FAILPOINTS) == sorted(called)


def test_without_a_setting_nothing_happens() -> None:
    assert run(None).stdout == "0\n1\n2\n"
    failpoint("log.synced")


def test_the_first_hit_kills_the_process() -> None:
    ended = run("log.synced")
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "")


def test_the_numbered_hit_kills_the_process() -> None:
    ended = run("log.synced:3")
    assert (ended.returncode, ended.stdout) == (-signal.SIGKILL, "0\n1\n")


def test_another_point_does_not_kill() -> None:
    assert run("log.appended").returncode == 0


@pytest.mark.parametrize("setting", ["nowhere", "log.synced:0", "log.synced:x", ":1"])
def test_a_setting_that_could_never_kill_is_refused(setting: str) -> None:
    with pytest.raises(UsageError, match=VARIABLE):
        parse_failpoint(setting)


@pytest.mark.parametrize(
    ("setting", "meaning"),
    [(None, None), ("", None), ("log.synced", ("log.synced", 1)), ("log.synced:7", ("log.synced", 7))],
)
def test_a_setting_gives_name_and_hit(setting: str | None, meaning: tuple[str, int] | None) -> None:
    assert parse_failpoint(setting) == meaning


_WRITER = """
import sys
from pathlib import Path
from batchcrawl.model.entries import HostLogLine
from batchcrawl.store.disk import Disk
from batchcrawl.store.records import LineWriter, LogWriter
from tests.support.exchanges import answer
from tests.support.warcs import warc_writer

directory = Path(sys.argv[1])
lines = [HostLogLine(host=f"http://{number}.example", at=number) for number in range(3)]
warc = warc_writer(directory, file_bytes_max=10)
log = LogWriter(Disk(), directory / "log.jsonl", HostLogLine, recover=True)
for number, line in enumerate(lines):
    warc.write_exchange(answer(number), fp="00" * 16)
    warc.sync()
    log.append([line])
    log.sync()
    warc.suspend()
    warc = warc_writer(directory, file_bytes_max=10)
warc.close()
with LineWriter(Disk(), directory / "list.jsonl.zst", HostLogLine) as writer:
    for line in lines:
        writer.write(line)
    writer.finish()
Disk().write_file(directory / "done", b"")
"""


_OF_FILES = [name for name in FAILPOINTS if name.split(".")[0] in {"file", "lines", "log", "warc"}]


@pytest.mark.parametrize("name", _OF_FILES)
def test_files_killed_at_any_point_of_writing_can_be_continued(tmp_path: Path, name: str) -> None:
    command = [sys.executable, "-c", _WRITER, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    killed = subprocess.run(command, env=environment | {VARIABLE: name}, start_new_session=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    subprocess.run(command, env=environment, check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names[-3:] == ["done", "list.jsonl.zst", "log.jsonl"]
    assert all(name.endswith(".warc.gz") and broken_rules([tmp_path / name]) == [] for name in names[:-3])
    assert len(list(read_log(tmp_path / "log.jsonl", HostLogLine))) >= 3
    assert len(list(read_lines(tmp_path / "list.jsonl.zst", HostLogLine))) == 3
