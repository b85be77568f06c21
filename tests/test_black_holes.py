"""Hosts whose SYN is never answered, a tenth of all and as many as there are threads: no other waits for them."""

from dataclasses import replace
from pathlib import Path

import pytest

from batchcrawl.job.load import load_job
from tests.support.black_hole import black_hole
from tests.support.in_process import run_all_in_process
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.stepping import Stepping

THREADS = 2
HOLES = [f"http://{n}.hole.test/" for n in range(THREADS)]
OTHERS = [f"http://{n}.test/" for n in range(9 * THREADS)]


def test_hosts_that_answer_no_syn_hold_up_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)
    with scripted_web(dict.fromkeys(OTHERS, Scripted())) as web, black_hole() as port:
        made = Stepping.make(tmp_path, web.port, [*HOLES, *OTHERS], threads=THREADS, fetch='connect_timeout = "3s"')
        path = tmp_path / "job.toml"
        path.write_text(path.read_text().replace('"*" =', f'"*.hole.test" = "127.0.0.1:{port}", "*" ='))
        crawl = replace(made, crawl=replace(made.crawl, job=load_job("job.toml", cwd=tmp_path)))
        crawl.generate()
        lines = crawl.fetch()
    assert [line.outcome.value for line in lines] == ["fetched"] * len(OTHERS) + ["deferred"] * len(HOLES)
    assert {line.url for line in lines[-len(HOLES) :]} == set(HOLES)
