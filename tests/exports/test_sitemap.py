"""A sitemap of more URLs than a file may have."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from batchcrawl.errors import UsageError
from batchcrawl.exports.sitemap import write_sitemap
from batchcrawl.model.entries import FetchLogLine, PageLine
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.store.disk import Disk
from batchcrawl.store.latest_pages import LatestPage
from batchcrawl.store.segment import Manifest, Segment, write_manifest


def page(folder: Path, url: str, **facts: object) -> LatestPage:
    manifest = Manifest(
        format=1, id="20261130T101500Z", job="x", created_at=0.0, partitions=1, duration_s=1.0, urls=1, hosts=1
    )
    (folder / "segment").mkdir(exist_ok=True)
    write_manifest(Disk(), folder / "segment/segment.json", manifest)
    line = FetchLogLine(fp="00" * 16, url=url, host="http://a.test", outcome=FetchOutcome.FETCHED)
    found = PageLine(fp="00" * 16, url=url, **facts)  # type: ignore[arg-type]  # passed on
    return LatestPage(Segment(folder / "segment"), UrlRecord(url, last_change_at=86_400), line, found)


def locations(path: Path) -> list[str]:
    return [str(element.text) for element in ET.parse(path).iter() if element.tag.endswith("loc")]


def test_it_has_an_index_that_names_its_files_in_order(tmp_path: Path) -> None:
    pages = [page(tmp_path, f"http://a.test/{n}?a&b") for n in range(5)]
    files = write_sitemap(iter(pages), tmp_path / "map.xml", Disk(), canonical=str, urls_max=2)
    assert [path.name for path in files] == ["map.xml", "map-00001.xml", "map-00002.xml", "map-00003.xml"]
    assert locations(files[0]) == [f"http://a.test/{path.name}" for path in files[1:]]
    assert [url for path in files[1:] for url in locations(path)] == [f"http://a.test/{n}?a&b" for n in range(5)]
    assert "<lastmod>1970-01-02T00:00:00Z</lastmod>" in files[1].read_text()


def test_a_page_with_another_canonical_url_is_left_out(tmp_path: Path) -> None:
    pages = [
        page(tmp_path, "http://a.test/1", canonical="http://a.test/2"),
        page(tmp_path, "http://a.test/2", canonical="http://a.test/2#x"),
    ]
    (file,) = write_sitemap(
        iter(pages), tmp_path / "map.xml", Disk(), canonical=lambda url: url.partition("#")[0], urls_max=2
    )
    assert locations(file) == ["http://a.test/2"]


def test_pages_of_two_hosts_make_no_sitemap(tmp_path: Path) -> None:
    pages = [page(tmp_path, "http://a.test/"), page(tmp_path, "http://b.test/")]
    with pytest.raises(UsageError, match="choose one by --host"):
        write_sitemap(iter(pages), tmp_path / "map.xml", Disk(), canonical=str)
    assert [path.name for path in tmp_path.iterdir()] == ["segment"]
