"""Links that are not taken: counted by reason and host in the segment, and listed where that is asked for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.commands import run, write_job
from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web

SECTIONS = """
[scope]
exclude = ['\\.pdf$']
follow_nofollow = false
[parse]
links_max = 9
"""
HOME = b"""<title>home</title><a href="#top">top</a> <a href="/?utm_source=x">me</a> <a href="/#x">me, too</a>
<a href="/a">a</a> <a href="/b.pdf">b</a> <a href="http://c.test/">c</a> <a href="http://c.test/2">c</a>
<a href="http://d.test/">d</a> <a href="mailto:x@y.test">m</a> <a href="http://[">i</a> <a rel=nofollow href="/n">n</a>
<a href="/c">c</a> <a href="/d">d</a> <a href="#end">end</a>"""
COUNTS = [
    ("excluded", "http://seed.test", 1),
    ("invalid", "http://seed.test", 1),
    ("links_max", "http://seed.test", 1),
    ("nofollow", "http://seed.test", 1),
    ("off_host", "http://c.test", 2),
    ("off_host", "http://d.test", 1),
    ("scheme", "http://seed.test", 1),
    ("self", "http://seed.test", 4),
]


@pytest.fixture(scope="module")
def web() -> Iterator[ScriptedWeb]:
    with scripted_web({"http://seed.test/": Scripted(body=HOME)}) as served:
        yield served


@pytest.fixture
def fetched(web: ScriptedWeb, tmp_path: Path) -> Path:
    write_job(tmp_path, port=web.port, seeds=["http://seed.test/"], sections=SECTIONS)
    for step in ("inject", "generate", "fetch"):
        run(tmp_path, step)
    return tmp_path


def rows(folder: Path, pattern: str) -> list[dict[str, Any]]:
    """Return the lines of files of the segment."""
    found: list[dict[str, Any]] = []
    for path in sorted((folder / "data" / "x" / "segments").glob(f"*/parse/{pattern}")):
        with path.open("rb") as file:
            text = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
        found += [json.loads(line) for line in text.splitlines()]
    return found


def test_links_that_are_not_taken_are_counted_by_reason_and_host(fetched: Path) -> None:
    run(fetched, "parse")
    counted = [json.loads(line) for line in run(fetched, "segment", "newest", "--rejected").stdout.splitlines()]
    assert [(row["reason"], row["host"], row["links"]) for row in counted] == COUNTS


def test_the_segment_shows_the_reasons_with_the_hosts_of_most_links(fetched: Path) -> None:
    run(fetched, "parse")
    lines = run(fetched, "segment", "newest").stdout.splitlines()
    assert f"  {'off_host':<22} {3:>14,}   http://c.test 2, http://d.test 1" in lines


def test_a_link_to_the_page_itself_is_not_written(fetched: Path) -> None:
    run(fetched, "parse")
    assert {row["url"] for row in rows(fetched, "*.links-*")} == {"http://seed.test/a", "http://seed.test/c"}
    [page] = rows(fetched, "*.pages.*")
    assert (page["links"], page["rejected"]["self"]) == (2, 4)


def test_without_being_asked_for_no_link_is_listed(fetched: Path) -> None:
    run(fetched, "parse")
    assert rows(fetched, "*.rejected.*") == []


def test_each_link_is_listed_with_its_page_and_the_rule_where_that_is_asked_for(fetched: Path) -> None:
    run(fetched, "parse", "--trace")
    listed = rows(fetched, "*.rejected.*")
    assert {row["source"] for row in listed} == {"http://seed.test/"}
    told = {row["url"]: (row["reason"], row["place"]) for row in listed}
    assert told == {
        "#top": ("self", "default"),
        "http://seed.test/?utm_source=x": ("self", "default"),
        "http://seed.test/#x": ("self", "default"),
        "#end": ("self", "default"),
        "http://seed.test/b.pdf": ("excluded", "jobs/x.toml:4"),
        "http://c.test/": ("off_host", "default"),
        "http://c.test/2": ("off_host", "default"),
        "http://d.test/": ("off_host", "default"),
        "mailto:x@y.test": ("scheme", "default"),
        "http://[": ("invalid", "default"),
        "http://seed.test/n": ("nofollow", "jobs/x.toml:5"),
        "/d": ("links_max", "jobs/x.toml:7"),
    }
    assert len(listed) == len(told)
    run(fetched, "update")
    run(fetched, "check", "--deep")


def test_where_the_fragment_is_kept_a_place_on_the_page_is_a_page_of_its_own(web: ScriptedWeb, tmp_path: Path) -> None:
    sections = '[scope]\nwithin = "any"\n'
    write_job(tmp_path, port=web.port, seeds=["http://seed.test/"], sections=sections)
    job = tmp_path / "jobs" / "x.toml"
    job.write_text(job.read_text().replace("[crawl]\n", '[crawl]\ncanonical_steps = ["-fragment"]\n'))
    for step in ("inject", "generate", "fetch", "parse"):
        run(tmp_path, step)
    urls = {row["url"] for row in rows(tmp_path, "*.links-*")}
    assert {"http://seed.test/#top", "http://seed.test/#x"} <= urls
