"""What politeness costs on real sockets: the rate of many hosts with a delay, beside what delays and answers allow.

And the rate of the others where a tenth of the hosts takes connections and says nothing.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.records import read_log
from tests.bench.crawls import born_crawl, new_segment
from tests.bench.spent import run_program
from tests.bench.table import Row
from tests.support.webserver import ROOT

DELAY_S = 1.0
ANSWER_S = 0.1
SILENCE_S = 5.0
THREADS = 256
SHARE = 0.95
PAGES = 50
"""Of each host: a minute, of which the second that the step takes to begin is a small part, as of any real segment."""
_JOB = """\
[crawl]
partitions = 2
[scope]
within = "any"
[generate]
urls_max = 100_000
[politeness]
delay_min = "{delay}ms"
address_gap = "0s"
[fetch]
threads = {threads}
read_timeout = "{silence}ms"
[network]
allow_addresses = ["127.0.0.0/8"]
[network.names]
{names}
"""


def run(*, quick: bool) -> list[Row]:
    """Measure the rate of all hosts, then that of nine tenths of them alone and with a silent tenth."""
    number, pages = (40, 2) if quick else (2000, PAGES)
    hosts = [f"h{n:04d}.test" for n in range(number)]
    others, silent = hosts[number // 10 :], hosts[: number // 10]
    with _delayed() as port, _silent() as black_hole:
        places = dict.fromkeys(hosts, port)
        all_rate = _rate(places, hosts, pages)
        alone = _rate(places, others, pages)
        beside = _rate({**places, **dict.fromkeys(silent, black_hole)}, others, pages, also=silent)
    what = f"{number:,} hosts, a delay of {DELAY_S:g} s, answers after {ANSWER_S * 1000:.0f} ms"
    return [
        _row(what, all_rate, _ideal_rate(number, pages), "by the delays"),
        _row("nine tenths of them beside a silent tenth", beside, alone, "alone"),
    ]


def _row(what: str, ours: float, other: float, name: str) -> Row:
    return Row(what=what, ours=ours, unit="pages/s", other=other, other_name=name, wanted=SHARE)


def _ideal_rate(hosts: int, pages: int) -> float:
    """Return the rate if each host is asked as soon as it may be; its robots.txt comes before its pages."""
    first_turns_s = max(ANSWER_S, hosts * ANSWER_S / THREADS)
    return hosts * pages / (first_turns_s + pages * (DELAY_S + ANSWER_S))


def _rate(places: dict[str, int], hosts: Sequence[str], pages: int, *, also: Sequence[str] = ()) -> float:
    """Return the pages a second of some hosts, from the first request of the step to their last answer."""
    with TemporaryDirectory(prefix="bench-") as name:
        job = Path(name) / "bench.toml"
        names = "\n".join(f'"{host}" = "127.0.0.1:{port}"' for host, port in places.items())
        job.write_text(
            _JOB.format(delay=int(DELAY_S * 1000), threads=THREADS, silence=int(SILENCE_S * 1000), names=names)
        )
        urls = [f"http://{host}/{page}" for host in (*hosts, *also) for page in range(pages)]
        segment = new_segment(born_crawl(job, urls))
        run_program([sys.executable, "-m", "batchcrawl", "fetch", job.name, "--quiet"], directory=job.parent)
        lines = [line for p in (0, 1) for line in read_log(segment.paths.fetch_log(p), FetchLogLine)]
    answered = [line for line in lines if line.status == 200]
    assert len(answered) == len(hosts) * pages, f"{len(answered)} of {len(hosts) * pages} pages"
    began_at = min(line.queued_at or line.started_at or 0.0 for line in answered)
    return len(answered) / (max(line.ended_at or 0.0 for line in answered) - began_at)


@contextmanager
def _delayed() -> Iterator[int]:
    """Run the server that answers after a while, and yield its port."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.bench.delayed_server", str(ANSWER_S)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    with process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


@contextmanager
def _silent() -> Iterator[int]:
    """Take connections, as far as the system does so by itself, and yield the port."""
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as listener:
        yield int(listener.getsockname()[1])
