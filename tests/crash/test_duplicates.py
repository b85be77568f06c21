"""Hosts of all partitions serve one text: one page is fetched, the others are its duplicates, whatever is killed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawling import BORN_AT, Crawling, clock_of
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.support.warm import Warm

HOSTS = tuple(f"http://{name}.test" for name in ("ant", "bee", "cat", "dog", "elk", "fox"))
POINTS = ("file.renamed", "lines.finished", "update.surveyed", "update.settled", "crawldb.commit", "crawldb.committed")
HITS_MAX = 40


def front(host: str, words: str = "The same words everywhere.") -> Scripted:
    """Return a front page whose one link is its host's own and has no text."""
    return Scripted(body=f'<p>{words}</p><a href="{host}/own"></a>'.encode())


@pytest.fixture
def web() -> Iterator[ScriptedWeb]:
    own = {f"{host}/own": Scripted(body=f"<p>Of {host} alone.</p>".encode()) for host in HOSTS}
    with scripted_web({**{f"{host}/": front(host) for host in HOSTS}, **own}) as web:
        yield web


@pytest.fixture
def crawling(web: ScriptedWeb, warm: Warm, tmp_path: Path) -> Crawling:
    """Return a crawl whose first round is done."""
    made = Crawling.make(tmp_path / "crawl", web.port, warm, seeds=[f"{host}/" for host in HOSTS])
    made.must("inject", at=BORN_AT)
    made.must("round", at=clock_of(1))
    return made


def fronts(crawling: Crawling) -> dict[str, dict[str, Any]]:
    """Return the records of the front pages by host."""
    return {host: row for row in crawling.rows() for host in HOSTS if row.get("url") == f"{host}/"}


def first_of(crawling: Crawling) -> str:
    """Return the host whose front page is the first with the text; the others must be its duplicates."""
    rows = fronts(crawling)
    (first,) = (host for host, row in rows.items() if row["status"] == "fetched")
    for host, row in rows.items():
        if host != first:
            assert (row["status"], row["duplicate_of"]) == ("duplicate", rows[first]["fp"])
    crawling.must("check", at=clock_of(9))
    return first


def asked_own(web: ScriptedWeb) -> set[str]:
    return {url.removesuffix("/own") for url in web.asked if url.endswith("/own")}


def test_pages_of_both_partitions_have_one_first_and_its_links_alone_are_taken(
    crawling: Crawling, web: ScriptedWeb
) -> None:
    assert len({int(row["fp"][0], 16) // 8 for row in fronts(crawling).values()}) == 2
    first = first_of(crawling)
    crawling.must("round", at=clock_of(1))
    assert asked_own(web) == {first}
    (counts,) = (step["updated"] for step in crawling.counts()[:1])
    assert (counts["duplicates"], counts["rejected_duplicate"], counts["new"]) == (5, 5, 1)


def test_dump_leaves_duplicates_out_unless_asked(crawling: Crawling) -> None:
    every = [line for line in crawling.must("dump", "--duplicates", at=clock_of(1)).splitlines() if '"url":' in line]
    told = [line for line in crawling.must("dump", at=clock_of(1)).splitlines() if '"url":' in line]
    assert told == [line for line in every if '"status":"duplicate"' not in line]
    assert len(every) - len(told) == len(HOSTS) - 1


def test_a_job_may_follow_the_links_of_duplicates(web: ScriptedWeb, warm: Warm, tmp_path: Path) -> None:
    crawling = Crawling.make(tmp_path / "crawl", web.port, warm, seeds=[f"{host}/" for host in HOSTS])
    job = crawling.root / "jobs" / "web.toml"
    job.write_text(job.read_text().replace("[parse]", '[parse]\nduplicates = "follow"'))
    crawling.must("inject", at=BORN_AT)
    for _ in range(2):
        crawling.must("round", at=clock_of(1))
    first_of(crawling)
    assert asked_own(web) == set(HOSTS)


@pytest.mark.parametrize(
    "answer", [front("http://x.test", "Now something else."), Scripted(status=404), Scripted(body=b"")]
)
def test_when_the_first_has_the_text_no_more_the_next_takes_its_place_and_its_links_are_taken(
    answer: Scripted, crawling: Crawling, web: ScriptedWeb
) -> None:
    first = first_of(crawling)
    web.answers = {**web.answers, f"{first}/": answer}
    (fp,) = (row["fp"] for host, row in fronts(crawling).items() if host == first)
    crawling.must("round", at=clock_of(2))
    rest = fronts(crawling)
    del rest[first]
    (second,) = (host for host, row in rest.items() if row["status"] == "fetched")
    assert second == min(rest, key=lambda host: rest[host]["fp"])
    assert fp not in {row.get("duplicate_of") for row in rest.values()}
    crawling.must("check", at=clock_of(9))
    crawling.must("round", at=clock_of(2))
    assert f"{second}/own" in known(crawling)


def test_pages_of_both_partitions_that_are_near_name_the_first_of_them_and_are_followed(
    warm: Warm, tmp_path: Path
) -> None:
    words = " ".join(f"word{number}" for number in range(4000))
    with scripted_web({f"{host}/": front(host, f"{words} {host}") for host in HOSTS}) as web:
        crawling = Crawling.make(tmp_path / "crawl", web.port, warm, seeds=[f"{host}/" for host in HOSTS])
        crawling.must("inject", at=BORN_AT)
        crawling.must("round", at=clock_of(1))
        pages = list(fronts(crawling).values())
        assert {row["status"] for row in pages} == {"fetched"}
        (first,) = (row for row in pages if "near_to" not in row)
        assert {row["near_to"] for row in pages if row is not first} == {first["fp"]}
        assert crawling.counts()[0]["updated"]["near_duplicates"] == len(HOSTS) - 1
        assert {f"{host}/own" for host in HOSTS} <= known(crawling)
        crawling.must("check", at=clock_of(1))


def known(crawling: Crawling) -> set[str]:
    return {row["url"] for row in crawling.rows() if "url" in row}


def test_a_page_that_was_not_visited_takes_the_place_of_the_first_and_is_fetched_again_for_its_links(
    crawling: Crawling, web: ScriptedWeb, warm: Warm, tmp_path: Path
) -> None:
    first = first_of(crawling)
    seeds = [f"{host}/\tinterval={'1d' if host == first else '90d'}" for host in HOSTS]
    again = Crawling.make(tmp_path / "again", web.port, warm, seeds=seeds)
    again.must("inject", at=BORN_AT)
    again.must("round", at=clock_of(1))
    web.answers = {**web.answers, f"{first}/": front(first, "Now something else.")}
    again.must("round", at=clock_of(2))
    rest = {host: row for host, row in fronts(again).items() if host != first}
    assert {row["last_fetch_at"] for row in rest.values()} == {clock_of(1)}
    (second,) = (host for host, row in rest.items() if row["status"] == "fetched")
    again.must("check", at=clock_of(2))
    again.must("round", at=clock_of(2))
    assert f"{second}/own" in known(again)
    assert {row["last_fetch_at"] for host, row in fronts(again).items() if host not in (first, second)} == {clock_of(1)}


def test_a_page_that_has_the_text_again_comes_behind_those_that_kept_it(crawling: Crawling, web: ScriptedWeb) -> None:
    first = first_of(crawling)
    answers = web.answers
    web.answers = {**answers, f"{first}/": front(first, "Now something else.")}
    crawling.must("round", at=clock_of(2))
    web.answers = answers
    crawling.must("round", at=clock_of(3))
    assert first_of(crawling) != first


@pytest.mark.parametrize("point", [*POINTS[:3], *(pytest.param(point, marks=pytest.mark.slow) for point in POINTS[3:])])
def test_an_update_killed_at_any_commit_act_settles_the_same(
    point: str, crawling: Crawling, web: ScriptedWeb, tmp_path: Path
) -> None:
    first = first_of(crawling)
    web.answers = {**web.answers, f"{first}/": Scripted(status=404)}
    for step in ("generate", "fetch", "parse"):
        crawling.must(step, at=clock_of(2))
    calm = crawling.copy_to(tmp_path / "calm", web.port)
    calm.must("update", at=clock_of(2))
    for hit in range(1, HITS_MAX):
        killed = crawling.copy_to(tmp_path / str(hit), web.port)
        if killed.run("update", at=clock_of(2), failpoint=f"{point}:{hit}").code == 0:
            assert hit > 1
            return
        killed.must("check", at=clock_of(2))
        killed.must("update", at=clock_of(2))
        killed.must("check", at=clock_of(2))
        assert (killed.dump(), killed.counts(), killed.files()) == (calm.dump(), calm.counts(), calm.files())
        killed.remove()
    pytest.fail(f"update passes {point} more than {HITS_MAX} times")


def test_no_other_segment_is_applied_while_one_is_half_applied(crawling: Crawling) -> None:
    crawling.must("generate", "--top", "1", at=clock_of(2))
    half = crawling.segments()[-1]
    crawling.must("generate", at=clock_of(2) + 1)
    other = crawling.segments()[-1]
    for segment in (half, other):
        for step in ("fetch", "parse"):
            crawling.must(step, "--segment", segment.id, at=clock_of(2) + 1)
    assert crawling.run("update", "--segment", half.id, at=clock_of(2) + 1, failpoint="update.settled").code < 0
    end = crawling.run("update", "--segment", other.id, at=clock_of(2) + 1)
    assert (end.code, end.said) == (
        2,
        f"batchcrawl: segment {half.id} is half applied; run 'batchcrawl update web --segment {half.id}' first\n",
    )
    crawling.must("update", "--segment", half.id, at=clock_of(2) + 1)
    crawling.must("update", "--segment", other.id, at=clock_of(2) + 1)


@pytest.mark.parametrize("name", ["rules.json", "0.claims-1.jsonl.zst", "1.verdicts.jsonl.zst"])
def test_what_was_settled_cannot_be_settled_again_once_a_part_is_applied(name: str, crawling: Crawling) -> None:
    for step in ("generate", "fetch", "parse"):
        crawling.must(step, at=clock_of(2))
    assert crawling.run("update", at=clock_of(2), failpoint="crawldb.committed:2").code < 0
    lost = crawling.segments()[-1].paths.update_dir / name
    lost.unlink()
    end = crawling.run("update", at=clock_of(2))
    assert (end.code, end.said.startswith(f"batchcrawl: {lost} is missing")) == (6, True), end.said
    assert not lost.exists()


def test_an_update_ends_with_the_settings_with_which_it_began(crawling: Crawling) -> None:
    for step in ("generate", "fetch", "parse"):
        crawling.must(step, at=clock_of(2))
    calm = crawling.copy_to(crawling.root.with_name("calm"), crawling.port)
    calm.must("update", at=clock_of(2))
    assert crawling.run("update", at=clock_of(2), failpoint="update.settled").code < 0
    job = crawling.root / "jobs" / "web.toml"
    text = job.read_text().replace("[parse]", '[parse]\nduplicates = "follow"')
    job.write_text(text.replace('interval = "1d"', 'interval = "9d"'))
    crawling.must("update", at=clock_of(2))
    assert (crawling.dump(), crawling.counts()) == (calm.dump(), calm.counts())
