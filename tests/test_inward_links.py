"""A crawl of pages that lead into the machine: by redirects, links and robots.txt; a listener counts what comes."""

from pathlib import Path

from batchcrawl.model.entries import FetchLogLine
from batchcrawl.store.layout import Layout, SegmentPaths
from batchcrawl.store.records import read_log
from tests.support.commands import JOB, run
from tests.support.rawserver import RawServer
from tests.support.scripted_web import Scripted, scripted_web

PAGE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
INSIDE = ["127.0.0.2", "2130706434", "0x7f.0.0.2", "0177.2", "[::ffff:127.0.0.2]", "inside.test", "[64:ff9b::7f00:2]"]
_JOB = """\
contact = "me@example.org"
seeds = ["http://outside.test/", "http://moved.test/", "http://robots.test/"]
[crawl]
partitions = 1
[scope]
within = "any"
[politeness]
delay_min = "0s"
factor = 0
backoff_min = "1ms"
[network]
allow_addresses = ["127.0.0.1/32"]
[network.names]
"outside.test" = "{place}"
"moved.test" = "{place}"
"robots.test" = "{place}"
"inside.test" = "127.0.0.2"
"""


def test_nothing_that_a_page_says_leads_to_a_connection_inwards(tmp_path: Path) -> None:
    with RawServer([PAGE], address="127.0.0.2") as inside:
        links = "".join(f'<a href="http://{host}:{inside.port}/">' for host in INSIDE)
        inward = {"Location": f"http://127.2:{inside.port}/secret"}
        answers = {
            "http://outside.test/": Scripted(body=links.encode()),
            "http://moved.test/": Scripted(status=302, headers=inward),
            "http://robots.test/robots.txt": Scripted(status=302, headers=inward),
        }
        with scripted_web(answers) as web:
            (tmp_path / "jobs").mkdir()
            (tmp_path / "jobs" / f"{JOB}.toml").write_text(_JOB.format(place=f"127.0.0.1:{web.port}"))
            run(tmp_path, "inject")
            run(tmp_path, "round")
            run(tmp_path, "round")
        assert inside.connections == 0
    outcomes = {line.url: line.outcome.value for line in _lines(tmp_path)}
    inwards = {url: outcome for url, outcome in outcomes.items() if f":{inside.port}/" in url}
    assert len(inwards) >= 4
    assert set(inwards.values()) == {"address_refused"}
    assert f"http://127.0.0.2:{inside.port}/secret" in inwards
    assert outcomes["http://moved.test/"] == "redirect"
    assert outcomes["http://robots.test/"] == "deferred"


def _lines(folder: Path) -> list[FetchLogLine]:
    layout = Layout(folder / "data" / JOB)
    logs = [SegmentPaths(layout.segment(name)).fetch_log(0) for name in layout.segment_ids()]
    return [line for log in logs for line in read_log(log, FetchLogLine)]
