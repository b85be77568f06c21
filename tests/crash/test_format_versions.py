"""Data of each format version is opened for ever; what is newer is refused with both numbers."""

import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from batchcrawl.store.identity import FORMAT_VERSION
from tests.support.warm import Warm

DATA = Path(__file__).parents[1] / "data"
AT = 1_796_385_600
URL = "http://start.example/"


@dataclass(frozen=True)
class Kept:
    """A crawl of a format version: four segments, the last one fetched and not parsed."""

    root: Path
    warm: Warm

    @property
    def data(self) -> Path:
        return self.root / "data" / "kept"

    def run(self, *words: str, code: int = 0) -> str:
        end = self.warm.run(words[0], "kept", *words[1:], cwd=self.root, at=AT)
        assert end.code == code, end.said
        return end.said

    def was(self) -> list[dict[str, object]]:
        return rows((self.root / "dump.jsonl").read_text())


@pytest.fixture(params=range(1, FORMAT_VERSION + 1))
def kept(request: pytest.FixtureRequest, tmp_path: Path, warm: Warm) -> Kept:
    with tarfile.open(DATA / f"format_{request.param}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    return Kept(tmp_path, warm)


def rows(text: str) -> list[dict[str, object]]:
    return [msgspec.json.decode(line) for line in text.splitlines()]


def test_everything_is_found_as_it_was(kept: Kept) -> None:
    found, was = rows(kept.run("dump", "--duplicates")), kept.was()
    assert len(found) == len(was)
    for now, then in zip(found, was, strict=True):
        assert {name: now.get(name) for name in then} == then


def test_no_fault_is_found_in_it_and_its_segments_can_be_looked_into(kept: Kept) -> None:
    kept.run("check", "--deep")
    names = [row["id"] for row in rows(kept.run("segments", "--json"))]
    assert len(names) == 4
    for name in map(str, names[:3]):
        kept.run("segment", name, "--outcomes")
        kept.run("segment", name)
    assert kept.run("segment", str(names[2]), "--body", URL).startswith("<title>Home</title>")


def test_a_step_that_was_begun_with_it_goes_on_and_the_crawl_with_it(kept: Kept) -> None:
    kept.run("parse")
    kept.run("update")
    kept.run("check")
    kept.run("generate", "--at", "+60d")
    kept.run("check")


def test_it_can_be_kept_put_back_and_made_anew(kept: Kept) -> None:
    kept.run("snapshot", "before")
    kept.run("parse")
    kept.run("restore", "before")
    shutil.rmtree(kept.data / "crawldb")
    kept.run("repair", "--from-segments")
    kept.run("check")
    urls = {row["url"] for row in rows(kept.run("dump", "--duplicates")) if "url" in row}
    assert urls == {row["url"] for row in kept.was() if "url" in row}


@pytest.mark.parametrize("name", ["crawl.toml", "segments/20261202T120000Z/segment.json"])
def test_what_is_newer_is_refused_with_both_numbers(name: str, kept: Kept) -> None:
    path = kept.data / name
    text = path.read_text().replace("format = 1", "format = 77").replace('"format": 1', '"format": 77')
    path.write_text(text)
    said = kept.run("segments", code=1)
    assert f"{name}: format 77 is newer than this program's {FORMAT_VERSION}" in said
