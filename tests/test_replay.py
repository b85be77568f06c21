"""A crawl is served by pywb from its own segments, by the index of `export --to cdxj`; skipped without pywb."""

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from batchcrawl.cli.running import CLOCK_VARIABLE
from tests.support.commands import run, write_job
from tests.support.crawling import BORN_AT
from tests.support.scripted_web import Scripted, scripted_web

SITE = "http://seed.test"
SAME = Scripted(body=b"<title>Same</title>the same", headers={"ETag": '"x"'})
HOME = Scripted(body=b'<a href="a?b=2&amp;a=1">A</a><a href="same">S</a>')
START_S = 60.0
_CONFIG = """\
collections:
  x:
    index_paths: {folder}/index.cdxj
    archive_paths: {folder}/data/x/
"""


@pytest.fixture
def pywb() -> str:
    program = shutil.which("wayback")
    if program is None:
        pytest.skip("pywb is not installed")
    return program


@pytest.fixture
def crawled(pywb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    answers = {
        f"{SITE}/": HOME,
        f"{SITE}/a?b=2&a=1": Scripted(body=b"<title>A</title>first words"),
        f"{SITE}/same": SAME,
    }
    with scripted_web(answers) as web:
        write_job(tmp_path, port=web.port, seeds=[f"{SITE}/"], sections='[recrawl]\ninterval = "1d"\n')
        monkeypatch.setenv(CLOCK_VARIABLE, str(BORN_AT))
        run(tmp_path, "inject")
        run(tmp_path, "crawl", "--rounds", "2")
        answers[f"{SITE}/a?b=2&a=1"] = Scripted(body=b"<title>A</title>second words")
        answers[f"{SITE}/same"] = Scripted(status=304, body=b"", headers=SAME.headers)
        monkeypatch.setenv(CLOCK_VARIABLE, str(BORN_AT + 2 * 86_400))
        run(tmp_path, "round")
    run(tmp_path, "export", "index.cdxj", "--to", "cdxj")
    return tmp_path


@contextmanager
def replaying(folder: Path, program: str) -> Iterator[int]:
    """Run pywb on the crawl until the block ends; give its port."""
    (folder / "config.yaml").write_text(_CONFIG.format(folder=folder))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    quiet = subprocess.DEVNULL
    command = [program, "-b", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, cwd=folder, env={**os.environ}, stdout=quiet, stderr=quiet) as process:
        give_up_at = time.monotonic() + START_S
        while time.monotonic() < give_up_at and process.poll() is None:
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        yield port
        process.kill()  # it ends by nothing less


def replayed(port: int, at: str, url: str) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/x/{at}id_/{url}", timeout=60) as answer:
        return str(answer.read().decode())


def test_a_replay_tool_serves_each_version_and_what_was_found_unchanged(pywb: str, crawled: Path) -> None:
    with replaying(crawled, pywb) as port:
        first, second = "20261130120000", "20261202120000"
        assert "first words" in replayed(port, first, f"{SITE}/a?b=2&a=1")
        assert "second words" in replayed(port, second, f"{SITE}/a?b=2&a=1")
        for path, body in (("same", SAME.body), ("", HOME.body)):  # by a 304, and by the same bytes again
            assert replayed(port, second, f"{SITE}/{path}") == replayed(port, first, f"{SITE}/{path}") == body.decode()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            replayed(port, first, f"{SITE}/never")
