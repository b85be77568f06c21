"""A segment that is given up leaves the crawl as it was before it was made, also when that is cut."""

import shutil
import signal

import pytest

from tests.crash.conftest import Stages
from tests.support.crawling import ROUNDS, clock_of

AT = clock_of(ROUNDS)


@pytest.fixture
def unmade(stage: Stages) -> list[str]:
    """The crawldb without the last segment, with what has come due then."""
    crawling = stage.before("generate")
    crawling.must("generate", "--dry-run", at=AT)
    dump = crawling.dump()
    crawling.remove()
    return dump


@pytest.mark.parametrize("step", ["fetch", "fetch-cut", "parse", "update"])
def test_an_unapplied_segment_is_given_up_at_any_step(step: str, stage: Stages, unmade: list[str]) -> None:
    crawling = stage.before(step)
    name, urls = crawling.segments()[-1].id, crawling.segments()[-1].manifest.urls
    assert f"{urls:,} URLs may be taken again" in crawling.must("drop", name, at=AT)
    assert (crawling.dump(), len(crawling.segments())) == (unmade, ROUNDS - 1)
    crawling.must("round", at=AT)
    assert crawling.segments()[-1].manifest.urls == urls


@pytest.mark.parametrize("point", ["file.renamed:1", "crawldb.commit:1", "crawldb.committed:1"])
def test_a_drop_that_is_killed_goes_on(point: str, stage: Stages, unmade: list[str]) -> None:
    crawling = stage.before("parse")
    name = crawling.segments()[-1].id
    assert crawling.run("drop", name, at=AT, failpoint=point).code == -signal.SIGKILL
    crawling.must("drop", name, at=AT)
    assert crawling.dump() == unmade
    assert sorted(path.name for path in (crawling.data / "segments").iterdir()) == [s.id for s in crawling.segments()]


def test_a_segment_whose_directory_is_gone_gives_its_urls_back(stage: Stages, unmade: list[str]) -> None:
    crawling = stage.before("parse")
    segment = crawling.segments()[-1]
    shutil.rmtree(segment.path)
    assert f"{segment.manifest.urls:,} URLs" in crawling.must("drop", segment.id, at=AT)
    assert crawling.dump() == unmade
    assert "; 0 URLs" in crawling.must("drop", segment.id, at=AT)


@pytest.mark.parametrize("point", [None, "crawldb.committed:2"])
def test_a_segment_that_is_applied_even_in_part_is_kept(point: str | None, stage: Stages) -> None:
    crawling = stage.before("update")
    crawling.run("update", at=AT, failpoint=point)
    segment, dump = crawling.segments()[-1], crawling.dump()
    end = crawling.run("drop", segment.id, at=AT)
    assert end.code == 2
    assert end.said.startswith(f"batchcrawl: segment {segment.id} is applied to the crawldb")
    assert (crawling.segments()[-1].id, crawling.dump()) == (segment.id, dump)


@pytest.mark.parametrize("name", ["newest", "20261301T000000Z", "../x"])
def test_what_is_no_id_is_wrong_usage(name: str, stage: Stages) -> None:
    assert stage.before("parse").run("drop", name, at=AT).code == 2
