"""Segments straight from a list of URLs, on a crawl that fetches nothing."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.warm import Ended, Warm

NOON = 1_790_000_000
SEEDS = [f"http://one.test/{n}" for n in range(20)]
LISTED = [
    "http://one.test/3",
    "http://one.test/new",
    "http://two.test/a#top",
    "http://two.test/a",
    "http://www.one.test/x",
]


@dataclass(frozen=True)
class Program:
    warm: Warm
    root: Path

    def run(self, *words: str, failpoint: str | None = None) -> Ended:
        return self.warm.run(*words, cwd=self.root, at=NOON, failpoint=failpoint)

    def freegen(self, *words: str, failpoint: str | None = None) -> Ended:
        return self.run("freegen", "x.toml", *words, failpoint=failpoint)

    def newest(self) -> set[str]:
        lines = self.run("segment", "x.toml", "newest", "--fetch-list").said.splitlines()
        return {json.loads(line)["url"] for line in lines}

    def urls(self) -> dict[str, dict[str, Any]]:
        rows = [json.loads(line) for line in self.run("dump", "x.toml").said.splitlines()]
        return {row["url"]: row for row in rows if "url" in row}


@pytest.fixture
def program(tmp_path: Path, warm: Warm) -> Program:
    text = 'contact = "me@example.org"\n[crawl]\npartitions = 2\n[generate]\nhost_urls_max = 1\n'
    (tmp_path / "x.toml").write_text(text)
    (tmp_path / "seeds").write_text("".join(f"{seed}\n" for seed in SEEDS))
    (tmp_path / "list").write_text("".join(f"{url}\n" for url in LISTED))
    program = Program(warm, tmp_path)
    assert program.run("inject", "x.toml", "seeds").code == 0
    return program


def test_every_url_of_the_list_is_taken_without_limits(program: Program) -> None:
    end = program.freegen("list")
    assert (end.code, end.said.splitlines()[0]) == (0, "freegen: 3 new, 1 known, 0 rejected")
    assert program.newest() == set(LISTED) - {"http://two.test/a#top"}
    leased = {url: row for url, row in program.urls().items() if row["place"] == "leased"}
    assert leased.keys() == program.newest()
    assert [url for url, row in leased.items() if row["seed"]] == ["http://one.test/3"]
    assert program.run("check", "x.toml").code == 0


def test_only_what_is_in_scope_is_taken_if_that_is_asked(program: Program) -> None:
    end = program.freegen("list", "--in-scope")
    assert (end.code, "off_host" in end.said) == (0, True)
    assert program.newest() == {"http://one.test/3", "http://one.test/new"}


def test_a_url_that_a_segment_has_is_left_out(program: Program) -> None:
    program.freegen("http://one.test/3")
    assert program.freegen("http://one.test/3", "http://one.test/4").code == 0
    assert program.newest() == {"http://one.test/4"}
    end = program.freegen("http://one.test/3")
    assert (end.code, "every URL of the list is out in a segment" in end.said) == (4, True)


@pytest.mark.parametrize("point", ["crawldb.commit:1", "crawldb.committed:1", "segment.built", "segment.visible"])
def test_a_command_that_is_killed_goes_on(point: str, program: Program) -> None:
    assert program.freegen("list", failpoint=point).code < 0
    assert program.freegen("list").code == 0
    assert program.newest() == set(LISTED) - {"http://two.test/a#top"}
    assert len(program.run("segments", "x.toml", "--json").said.splitlines()) == 1
    assert program.run("check", "x.toml").code == 0


def test_bad_lines_are_named_and_the_good_ones_taken(program: Program) -> None:
    (program.root / "list").write_text("http://one.test/3\nno url\n")
    end = program.freegen("list", "--quiet")
    assert (end.code, end.said.startswith("list:2: not a URL: ")) == (2, True)
    assert program.newest() == {"http://one.test/3"}
