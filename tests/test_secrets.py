"""A secret that a job takes from the environment is sent to its host and written nowhere."""

import base64
import gzip
import io
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from tests.support.rawserver import RawServer

ROOT = Path(__file__).parents[1]
SECRET = "user:planted-secret"
CODED = base64.b64encode(SECRET.encode())
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\nConnection: close\r\n\r\nUser-agent:*"
JOB = """
seeds = ["http://own.test/", "http://other.test/"]
crawl.partitions = 1

[politeness]
delay_min = "0s"
factor = 0

[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
credentials = {{ "http://own.test" = "Basic OWN_LOGIN" }}
"""


def run(step: str, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    variables = {name: value for name, value in os.environ.items() if name != "OWN_LOGIN"}
    return subprocess.run(
        [sys.executable, "-m", "batchcrawl", step, "x"],
        cwd=cwd,
        env=variables | {"PYTHONPATH": str(ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def contents(directory: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the files below a directory with what they hold, compressed or not."""
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        data = path.read_bytes()
        if path.suffix == ".gz":
            data += gzip.decompress(data)
        elif path.suffix == ".zst":
            data += zstandard.ZstdDecompressor().stream_reader(io.BytesIO(data), read_across_frames=True).read()
        yield path, data


@pytest.fixture
def served(tmp_path: Path) -> Iterator[RawServer]:
    (tmp_path / "jobs").mkdir()
    with RawServer([REPLY]) as server:
        (tmp_path / "jobs" / "x.toml").write_text(JOB.format(port=server.port))
        for step in ("inject", "generate"):
            assert run(step, tmp_path).returncode == 0
        yield server


def test_a_planted_secret_is_sent_and_written_nowhere(served: RawServer, tmp_path: Path) -> None:
    done = [run(step, tmp_path, OWN_LOGIN=SECRET) for step in ("fetch", "parse", "update")]
    assert [step.returncode for step in done] == [0, 0, 0], done
    sent = {head: b"Authorization: Basic " + CODED + b"\r\n" in head for head in served.requests}
    assert {b"Host: own.test\r\n" in head for head, with_secret in sent.items() if with_secret} == {True}
    assert {b"Host: other.test\r\n" in head for head, with_secret in sent.items() if not with_secret} == {True}
    said = "".join(step.stdout + step.stderr for step in done).encode()
    files = dict(contents(tmp_path / "data"))
    warcs = [data for path, data in files.items() if path.name.endswith(".warc.gz")]
    assert any(b"GET / HTTP/1.1\r\nHost: own.test\r\n" in data for data in warcs)
    for data in (said, *files.values()):
        assert b"planted-secret" not in data
        assert CODED not in data
        assert b"uthorization" not in data


def test_a_variable_that_is_missing_is_told_in_one_line(served: RawServer, tmp_path: Path) -> None:
    done = run("fetch", tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip() == (
        "batchcrawl: jobs/x.toml:12: network.credentials: http://own.test: "
        "the environment variable OWN_LOGIN is not set; set it to the secret"
    )
    assert served.requests == []
    assert run("fetch", tmp_path, OWN_LOGIN=SECRET).returncode == 0
