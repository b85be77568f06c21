"""The files of a purge. Contents are written in sorted runs, so that no partition has to hold its own in memory."""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, takewhile
from pathlib import Path
from types import TracebackType

import msgspec

from batchcrawl.errors import CorruptData
from batchcrawl.model.purged import ContentLine, PurgedLine, PurgeManifest
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.reading import ADVICE, read_stored
from batchcrawl.store.records import LineWriter, read_lines
from batchcrawl.store.seen_keys import group_of, is_text, page_of

RUN_CONTENTS = 200_000
"""Contents that a partition holds until they are sorted and written."""


@dataclass(frozen=True)
class PurgePaths:
    """The paths of one purge; `p` is a partition."""

    root: Path

    @property
    def manifest(self) -> Path:
        """What all partitions go by."""
        return self.root / "purge.json"

    def urls(self, p: int) -> Path:
        """Return the URLs of a partition that go."""
        return self.root / f"{p}.urls.jsonl.zst"

    def contents(self, p: int, run: int, owner: int) -> Path:
        """Return a run of what they have in the indexes of content, for a partition that holds some of the keys."""
        return self.root / f"{p}-{run:05}.contents-{owner}.jsonl.zst"

    def all_contents(self, owner: int) -> list[Path]:
        """Return the runs of all partitions for one."""
        return sorted(self.root.glob(f"*.contents-{owner}.jsonl.zst"))

    def firsts(self, owner: int) -> Path:
        """Return the pages that take the place of the first with a text that belongs to a partition."""
        return self.root / f"{owner}.firsts.jsonl.zst"


class PurgeWriter:
    """Writes what one partition has to purge. Its files count once the directory gets its name."""

    def __init__(self, disk: Disk, paths: PurgePaths, p: int, *, partitions: int) -> None:
        self._disk = disk
        self._paths = paths
        self._p = p
        self._urls = LineWriter(disk, paths.urls(p), PurgedLine)
        self._contents: list[list[str]] = [[] for _ in range(partitions)]
        self._held = 0
        self._runs = 0

    def add(self, fingerprint: bytes, contents: Iterable[tuple[bytes, Iterable[int]]]) -> None:
        """Add a URL, each of its contents with the partitions that hold some of the keys."""
        self._urls.write(PurgedLine(fp=fingerprint.hex()))
        for content, owners in contents:
            for owner in owners:
                self._contents[owner].append(content.hex())
                self._held += 1
        if self._held >= RUN_CONTENTS:
            self._end_run()

    def finish(self) -> None:
        """Make the files durable."""
        self._end_run()
        self._urls.finish()

    def __enter__(self) -> "PurgeWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._urls.abandon()

    def _end_run(self) -> None:
        for owner, contents in enumerate(self._contents):
            if contents:
                path = self._paths.contents(self._p, self._runs, owner)
                with LineWriter(self._disk, path, ContentLine) as writer:
                    writer.write_all([ContentLine(content=content) for content in sorted(contents)])
                    writer.finish()
                contents.clear()
        self._runs += 1
        self._held = 0


def gone_contents(paths: PurgePaths, owner: int) -> Iterator[bytes]:
    """Yield in order what pages that go have in the indexes of content, as far as a partition may hold a key of it."""
    runs = [read_lines(path, ContentLine) for path in paths.all_contents(owner)]
    for line in heapq.merge(*runs, key=lambda line: line.content):
        yield bytes.fromhex(line.content)


def new_firsts(db: CrawlDb, contents: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the fingerprints of the pages that take the place of the first, of contents that go, given in order.

    The database is that before the purge, and is not changed.
    """
    for text, going in groupby(takewhile(is_text, contents), key=group_of):
        key = _first_to_stay(db.keys(text), going)
        if key is not None:
            yield page_of(key)


def read_purge(paths: PurgePaths) -> PurgeManifest:
    """Return the manifest of a purge. Raises CorruptData."""
    try:
        return msgspec.json.decode(read_stored(paths.manifest), type=PurgeManifest)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{paths.manifest}: {error}; {ADVICE}") from error


def _first_to_stay(keys: Iterator[bytes], going: Iterator[bytes]) -> bytes | None:
    """Return the first of the keys that does not go, both given in order; None where the very first one stays."""
    gone = next(going, None)
    for number, key in enumerate(keys):
        while gone is not None and gone < key:  # one that is not there
            gone = next(going, None)
        if gone != key:
            return key if number else None
    return None
