"""What generate can be asked on the command line, on a crawl that fetches nothing."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from batchcrawl.model.status import Place
from batchcrawl.store.crawldb import CrawlDb
from tests.support.warm import Ended, Warm

NOON = 1_790_000_000
SITES = ["a.one.test", "b.one.test", "c.one.test", "two.test"]


@dataclass(frozen=True)
class Program:
    """Runs commands in a process of their own, since a step must not be forked where a test has opened a database."""

    warm: Warm
    root: Path

    def run(self, *words: str) -> Ended:
        return self.warm.run(*words, cwd=self.root, at=NOON)

    def generated(self, *options: str) -> list[str]:
        assert self.run("generate", "x.toml", "--quiet", *options) == Ended(0, "")
        lines = self.run("segment", "x.toml", "newest", "--fetch-list").said.splitlines()
        return [json.loads(line)["url"] for line in lines]


@pytest.fixture
def program(tmp_path: Path, warm: Warm) -> Program:
    """Run commands on a crawl of ten URLs on each of four hosts, three of them of one domain."""
    (tmp_path / "x.toml").write_text(
        'contact = "me@example.org"\n[crawl]\npartitions = 2\n[politeness]\ndelay_min = "0s"\n'
    )
    (tmp_path / "seeds").write_text("".join(f"http://{site}/{n}\n" for site in SITES for n in range(10)))
    program = Program(warm, tmp_path)
    assert program.run("inject", "x.toml", "seeds").code == 0
    return program


def by_host(urls: list[str]) -> dict[str, int]:
    return {site: sum(url.startswith(f"http://{site}/") for url in urls) for site in SITES}


def test_a_host_gives_no_more_than_is_asked(program: Program) -> None:
    assert set(by_host(program.generated("--max-per-host", "3")).values()) == {3}


def test_the_hosts_of_a_domain_share_its_limit(program: Program) -> None:
    taken = by_host(program.generated("--max-per-domain", "7"))
    assert taken.pop("two.test") == 7
    assert sorted(taken.values()) == [2, 2, 3]


def test_of_a_domain_only_so_many_hosts_are_asked(program: Program) -> None:
    taken = by_host(program.generated("--hosts-per-domain", "2"))
    assert sorted(taken.values()) == [0, 10, 10, 10]


def test_limits_go_together(program: Program) -> None:
    assert len(program.generated("--top", "5", "--max-per-domain", "4", "--max-per-host", "2")) == 5


@pytest.mark.parametrize(
    ("only", "taken"),
    [
        (["host = b.one.test"], 10),
        (["domain=one.test", "host != b.one.test"], 20),
        (["host = b.one.test or url ~ /7"], 13),
        (["status = unfetched and depth = 0"], 40),
        (["not url ~ /7"], 36),
    ],
)
def test_only_urls_for_which_a_condition_holds_are_taken(program: Program, only: list[str], taken: int) -> None:
    options = [word for text in only for word in ("--only", text)]
    assert len(program.generated(*options)) == taken


def test_a_condition_goes_together_with_limits(program: Program) -> None:
    taken = by_host(program.generated("--only", "not url ~ /7", "--max-per-domain", "10", "--max-per-host", "4"))
    assert taken.pop("two.test") == 4
    assert sorted(taken.values()) == [3, 3, 4]


def test_a_score_is_asked_for(program: Program, tmp_path: Path) -> None:
    (tmp_path / "more").write_text("http://two.test/best\tscore=3\nhttp://two.test/least\tscore=0.5\n")
    assert program.run("inject", "x.toml", "more").code == 0
    assert program.generated("--min-score", "2.5") == ["http://two.test/best"]
    assert len(program.generated("--min-score", "1")) == 40


def test_a_condition_for_which_nothing_is_due_says_so(program: Program) -> None:
    result = program.run("generate", "x.toml", "--only", "depth > 3")
    said = "batchcrawl: nothing that may be taken now is as it was asked for\n"
    assert (result.code, result.said) == (4, said)


def test_what_is_no_condition_is_wrong_usage(program: Program) -> None:
    result = program.run("generate", "x.toml", "--only", "depht > 3")
    said = "batchcrawl: 'depht > 3' is no condition: no field 'depht'; did you mean depth? (at character 1)\n"
    assert (result.code, result.said) == (2, said)


def with_limits(program: Program, text: str) -> None:
    job = program.root / "x.toml"
    job.write_text(job.read_text() + '[generate]\nlimits_file = "limits.tsv"\n')
    (program.root / "limits.tsv").write_text(text)


def test_limits_stand_in_a_file(program: Program) -> None:
    with_limits(program, "two.test\t3\none.test\t12\nb.one.test\t2\n")
    taken = by_host(program.generated())
    assert (taken["two.test"], taken["b.one.test"], taken["a.one.test"] + taken["c.one.test"]) == (3, 2, 10)


def test_limits_of_a_file_and_of_the_command_line_hold_together(program: Program) -> None:
    with_limits(program, "one.test\t12\t1\ntwo.test\t0\n")
    assert sorted(by_host(program.generated("--max-per-host", "4")).values()) == [0, 0, 0, 4]


def test_what_may_never_be_taken_is_not_waited_for(program: Program) -> None:
    with_limits(program, "one.test\t0\ntwo.test\t0\n")
    end = program.run("crawl", "x.toml", "--until-done")
    assert (end.code, "nothing will be by itself" in end.said) == (4, True)


def test_a_wrong_file_of_limits_is_wrong_usage(program: Program) -> None:
    with_limits(program, "one.test 12\n")
    end = program.run("generate", "x.toml")
    assert (end.code, "limits.tsv:1: must be a name, a tab" in end.said) == (2, True)


def test_several_segments_share_no_url(program: Program) -> None:
    assert program.run("generate", "x.toml", "--quiet", "--top", "15", "--segments", "5").code == 0
    rows = [json.loads(line) for line in program.run("segments", "x.toml", "--json").said.splitlines()]
    lists = [program.run("segment", "x.toml", row["id"], "--fetch-list").said.splitlines() for row in rows]
    assert [len(lines) for lines in lists] == [15, 15, 10]
    assert len({json.loads(line)["url"] for lines in lists for line in lines}) == 40


def test_a_dry_run_plans_one_segment(program: Program) -> None:
    result = program.run("generate", "x.toml", "--dry-run", "--segments", "2")
    assert (result.code, result.said) == (2, "batchcrawl: --dry-run plans one segment; leave out --segments\n")


@pytest.mark.parametrize(
    ("at", "taken"), [("+23h", 39), ("+25h", 40), ("2026-09-23", 40), ("2026-09-22T15:00+02:00", 39)]
)
def test_what_is_due_later_is_taken_when_that_is_asked(program: Program, tmp_path: Path, at: str, taken: int) -> None:
    delay_one_url(tmp_path, due_at=NOON + 24 * 3600)  # NOON is 2026-09-21T14:13:20Z
    assert len(program.generated("--at", at)) == taken


def delay_one_url(crawl: Path, *, due_at: int) -> None:
    with CrawlDb(crawl / "data/x/crawldb/1") as db:
        fingerprint, _ = next(db.records())
        entry = db.load(fingerprint)
        assert entry is not None
        entry.record.place, entry.record.next_fetch_at = Place.TIMER, due_at
        batch = db.batch()
        batch.put(entry)
        batch.commit()


@pytest.mark.parametrize("text", ["never", "+1 day", "2026-13-01", "1900-01-01", "9999-01-01", "+", "+99999999d"])
def test_what_is_no_time_is_wrong_usage(program: Program, text: str) -> None:
    result = program.run("generate", "x.toml", "--at", text)
    assert (result.code, result.said) == (
        2,
        f"batchcrawl: {text!r} is no time; give one as 2026-12-24, 2026-12-24T18:00Z or +7d\n",
    )
