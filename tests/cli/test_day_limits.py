"""What hosts and domains give on one day at most, on a crawl that fetches nothing."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.day_limits import day_of, note_lease, note_return, used_on
from tests.support.warm import Ended, Warm

NOON, DAY = 1_790_000_000 // 86_400 * 86_400 + 43_200, 86_400
SITES = ["a.one.test", "b.one.test", "two.test"]


@dataclass(frozen=True)
class Program:
    """Runs commands in a process of their own, since a step must not be forked where a test has opened a database."""

    warm: Warm
    root: Path

    def run(self, *words: str, at: int = NOON) -> Ended:
        return self.warm.run(*words, cwd=self.root, at=at)

    def job(self, *limits: str) -> None:
        text = 'contact = "me@example.org"\n[crawl]\npartitions = 2\n[politeness]\ndelay_min = "0s"\n[generate]\n'
        (self.root / "x.toml").write_text(text + "\n".join(limits))

    def taken(self, at: int = NOON) -> Counter[str]:
        assert self.run("generate", "x.toml", "--quiet", at=at) == Ended(0, "")
        told = self.run("segment", "x.toml", "newest", "--fetch-list").said
        return Counter({site: n for site in SITES if (n := told.count(f'"http://{site}/'))})


@pytest.fixture
def program(tmp_path: Path, warm: Warm) -> Program:
    program = Program(warm, tmp_path)
    program.job()
    (tmp_path / "seeds").write_text("".join(f"http://{site}/{n}\n" for site in SITES for n in range(10)))
    assert program.run("inject", "x.toml", "seeds").code == 0
    return program


def test_a_host_gives_no_more_on_a_day_than_the_job_says(program: Program) -> None:
    program.job("host_urls_day_max = 3", "urls_max = 6")
    assert program.taken().total() == 6
    assert program.taken(NOON + 60).total() == 3
    ended = program.run("generate", "x.toml", at=NOON + 120)
    assert ended.code == 4
    why = "hosts with URLs that are put off, or have given theirs of the day: 3"
    assert f"the next URL is due in 12.0 h; {why}" in ended.said
    assert program.taken(NOON + DAY).total() == 6


def test_the_hosts_of_a_domain_share_what_it_gives_on_a_day(program: Program) -> None:
    program.job("domain_urls_day_max = 4")
    taken = program.taken()
    assert taken["two.test"] == taken["a.one.test"] + taken["b.one.test"] == 4
    assert program.run("generate", "x.toml", at=NOON + 60).code == 4


def test_a_segment_that_is_given_up_gives_back_what_it_took_of_the_day(program: Program) -> None:
    program.job("host_urls_day_max = 3")
    assert program.taken().total() == 9
    segment = next((program.root / "data/x/segments").iterdir()).name
    assert program.run("drop", "x.toml", segment, "--quiet").code == 0
    assert program.taken(NOON + 60).total() == 9


def test_only_one_day_is_kept_and_nothing_comes_back_to_another() -> None:
    host = HostRecord(host="http://a.test", domain="a.test")
    for _ in range(2):
        note_lease(host, day_of(NOON))
    note_return(host, day_of(NOON + DAY))
    assert (used_on(host, day_of(NOON)), used_on(host, day_of(NOON + DAY))) == (2, 0)
    note_return(host, day_of(NOON))
    assert used_on(host, day_of(NOON)) == 1
    note_lease(host, day_of(NOON + DAY))
    note_return(host, day_of(NOON))
    assert (used_on(host, day_of(NOON)), used_on(host, day_of(NOON + DAY))) == (0, 1)
