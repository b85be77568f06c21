"""Whatever happens, a command ends with one line on stderr and the exit code of what happened."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from batchcrawl.cli.endings import DEBUG_VARIABLE, one_line_endings
from batchcrawl.errors import DiskFull

ROOT = Path(__file__).parents[2]
JOB_TEXT = 'seeds = ["http://localhost:9/"]\n[crawl]\npartitions = 1\n'


@pytest.fixture(autouse=True)
def _work_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(DEBUG_VARIABLE, raising=False)
    (tmp_path / "x.toml").write_text(JOB_TEXT)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def program(
    *arguments: str, path: Path = ROOT, stdout: int = subprocess.PIPE, preexec: Callable[[], None] | None = None
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "batchcrawl", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, dict.fromkeys((path, ROOT))))},
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=preexec,
    )


def ending(error: BaseException) -> int:
    with pytest.raises(SystemExit) as end, one_line_endings():
        raise error
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyError("x"), 1, "internal error: KeyError: 'x'; please report it"),
        (ValueError("two\nlines"), 1, "internal error: ValueError: two lines; please report it"),
        (MemoryError(), 1, "internal error: MemoryError; please report it"),
        (OSError("of a library"), 1, "internal error: OSError: of a library; please report it"),
        (PermissionError(13, "Permission denied", "a/b"), 1, "a/b: Permission denied"),
        (OSError(28, "No space left on device"), 3, "no space left to write the output; make space and try again"),
        (DiskFull("full"), 3, "full"),
        (KeyboardInterrupt(), 11, "interrupted; the same command continues"),
    ],
)
def test_what_is_raised_is_told_in_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ending(error) == code
    assert capsys.readouterr() == ("", f"batchcrawl: {line}\n")


def test_the_traceback_of_an_internal_error_is_shown_when_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DEBUG_VARIABLE, "1")
    ending(KeyError("x"))
    said = capsys.readouterr().err
    assert said.startswith("Traceback (most recent call last):\n")
    assert said.endswith("\nbatchcrawl: internal error: KeyError: 'x'; please report it\n")


def test_a_closed_pipe_ends_a_command_quietly(capsys: pytest.CaptureFixture[str]) -> None:
    assert ending(BrokenPipeError()) == 1
    assert capsys.readouterr() == ("", "")


def test_ctrl_c_is_told_by_its_code_though_nobody_takes_what_is_still_buffered() -> None:
    read, write = os.pipe()
    os.close(read)
    text = (
        "from batchcrawl.cli.endings import one_line_endings\n"
        "with one_line_endings():\n    print('buffered', end='')\n    raise KeyboardInterrupt"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    done = subprocess.run(
        [sys.executable, "-c", text], stdout=write, stderr=subprocess.PIPE, text=True, env=environment, check=False
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (11, "batchcrawl: interrupted; the same command continues\n")


@pytest.mark.parametrize("command", [["url", "x.toml", "localhost"], ["fetch", "x.toml"]])
def test_a_file_of_the_crawl_that_is_missing_is_named_as_corrupt_data(command: list[str], tmp_path: Path) -> None:
    assert run("inject", "x.toml").exit_code == 0
    assert run("generate", "x.toml").exit_code == 0
    (tmp_path / "data/x/public_suffix_list.dat").unlink()
    shutil.rmtree(next((tmp_path / "data/x/segments").iterdir()) / "hosts")
    result = run(*command)
    assert (result.exit_code, result.stderr.count("\n")) == (6, 1)
    assert f"batchcrawl: {tmp_path}/data/x/" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("command", [["--help"], ["job", "--help"], ["job", "check", "x.toml"]])
def test_a_full_disk_behind_stdout_is_one_line(command: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = program(*command, stdout=full.fileno())
    assert (done.returncode, done.stderr) == (
        3,
        "batchcrawl: no space left to write the output; make space and try again\n",
    )


@pytest.mark.parametrize(("module", "command"), [("click", "--help"), ("plyvel", "status")])
def test_ctrl_c_while_the_program_is_loaded_is_one_line(module: str, command: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text(f"import os\nos.kill(os.getpid(), {int(signal.SIGINT)})\n")
    done = program(command, "x.toml", path=tmp_path)
    assert (done.returncode, done.stderr) == (11, "batchcrawl: interrupted; the same command continues\n")


def test_a_closed_stdin_is_wrong_usage() -> None:
    done = program("inject", "x.toml", "-", preexec=lambda: os.close(0))
    assert (done.returncode, done.stderr) == (
        2,
        "batchcrawl: stdin is closed; pipe seed lines into it, or name a file\n",
    )


def test_a_command_that_there_is_none_of_is_wrong_usage() -> None:
    result = run("fetsch", "x.toml")
    assert (result.exit_code, "No such command 'fetsch'" in result.stderr) == (2, True)
