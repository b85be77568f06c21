"""What it means for a page that another one has the same content; pure.

The first page with a text is `fetched`, the others are `duplicate`s of it. When the first changes or is gone, the next
takes its place at once; the others learn of it when they are visited. In a crawl that does not follow the links of
duplicates, the new first is fetched once more, as a whole, since only then its links are taken. A page whose text is
only near to that of an earlier one stays `fetched`, and names the first of those; so pages form groups.
"""

from dataclasses import dataclass

from batchcrawl.model.kind import UrlKind
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.recrawl import STORED, come_at_once


@dataclass(frozen=True)
class Verdict:
    """What a page is to the others."""

    first: bytes | None = None
    """Fingerprint of the first page with its text; None when nothing new is known, and of a visited page, itself."""
    near: bytes | None = None
    """Fingerprint of the first page before it that has a text like its own."""

    def is_other(self, fingerprint: bytes) -> bool:
        """Tell whether another page than this one is the first."""
        return self.first is not None and self.first != fingerprint


ALONE = Verdict()
"""Of a page that was visited: it is like no other."""


def judge_visited(record: UrlRecord, fingerprint: bytes, verdict: Verdict) -> None:
    """Set what a page that has just been seen is to the others: status and first page."""
    if record.status not in STORED:
        return
    other = verdict.is_other(fingerprint)
    record.status = PageStatus.DUPLICATE if other else PageStatus.FETCHED
    record.duplicate_of = verdict.first if other else None
    record.near_to = None if other else verdict.near
    record.was_copy = record.was_copy or other
    record.was_page = record.was_page or (not other and record.kind is UrlKind.PAGE)


def judge_unvisited(record: UrlRecord, fingerprint: bytes, verdict: Verdict) -> bool:
    """Let a page take the place of the first, or lose it, by what others brought; return whether it has taken it."""
    if verdict.first is None or record.status not in STORED:
        return False
    before = record.status
    judge_visited(record, fingerprint, verdict)
    return before is PageStatus.DUPLICATE and record.status is PageStatus.FETCHED


def want_links(record: UrlRecord, at: int) -> None:
    """Let a page come again as soon as may be, and be parsed: its links have not been taken yet."""
    record.body_at = None
    come_at_once(record, at)
