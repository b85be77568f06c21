"""Compare: what a crawl found against what a synthetic web says it must find.

Reads: crawldb, a ground-truth file of fakeweb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.fakeweb.truth import TruthLine
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.store.crawldb import CrawlDb

DIFFERENCES_KEPT = 100


@dataclass
class Comparison:
    """The result; `expected` and `agreeing` count URLs by expected outcome."""

    expected: Counter[str] = field(default_factory=Counter)
    agreeing: Counter[str] = field(default_factory=Counter)
    differences: list[str] = field(default_factory=list)
    """A line each, at most DIFFERENCES_KEPT."""
    different: int = 0

    def differ(self, line: str) -> None:
        """Count a difference and keep its line."""
        self.different += 1
        if len(self.differences) < DIFFERENCES_KEPT:
            self.differences.append(line)


def compare(crawl: Crawl, truth_file: Path) -> Comparison:
    """Compare outcome, status, redirect and digest of every URL that either side knows.

    A URL that the crawl knows and has not asked for yet agrees with nothing; where a server said "not modified", the
    stored copy stands for what it serves. Raises UsageError for a file that is
    no ground truth. Memory grows with the truth.
    """
    result = Comparison()
    truth = {line.url: line for line in _read(truth_file)}
    found: set[str] = set()
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for _, record in db.records():
                line = truth.get(record.url)
                if line is not None:
                    found.add(record.url)
                    _judge(result, line, record)
                elif not record.seed:
                    result.differ(f"unexpected  {record.url}: {_outcome(record)}")
    for url, line in truth.items():
        result.expected[line.expect.value] += 1
        if url not in found:
            result.differ(f"missing     {url}: {line.expect.value}")
    return result


def _read(path: Path) -> Iterator[TruthLine]:
    decoder = msgspec.json.Decoder(TruthLine)
    try:
        with path.open("rb") as lines:
            for number, text in enumerate(lines, 1):
                try:
                    yield decoder.decode(text)
                except msgspec.MsgspecError as error:
                    raise UsageError(f"{path}:{number}: no line of a ground truth: {error}") from error
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _judge(result: Comparison, line: TruthLine, record: UrlRecord) -> None:
    wrong = []
    unchanged = record.outcome is FetchOutcome.NOT_MODIFIED and line.expect is FetchOutcome.FETCHED
    if record.outcome is not line.expect and not unchanged:
        wrong.append(f"{_outcome(record)} in place of {line.expect.value}")
    elif not unchanged and record.http_status != line.status:
        wrong.append(f"status {record.http_status} in place of {line.status}")
    elif line.redirect is not None and record.redirect != line.redirect:
        wrong.append(f"redirect to {record.redirect} in place of {line.redirect}")
    elif record.digest is not None and line.digest is not None and record.digest != line.digest:
        wrong.append("another body")
    if wrong:
        result.differ(f"different   {line.url}: {wrong[0]}")
    else:
        result.agreeing[line.expect.value] += 1


def _outcome(record: UrlRecord) -> str:
    return "not asked for" if record.outcome is None else record.outcome.value
