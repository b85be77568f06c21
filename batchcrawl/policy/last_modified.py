"""What the header Last-Modified says of a page's last change (RFC 9110, section 8.8.2).

Believed as far as it has proved right on its host, by the same counts as the lastmod of a sitemap (`lastmod`): of the
fetches of pages that have the header, which had changed or not, and whether it was newer than the fetch before. One
that dates every answer anew is believed in nothing.
"""

from batchcrawl.model.host import LastmodCounts
from batchcrawl.model.record import UrlRecord
from batchcrawl.policy.lastmod import counted, saw_change
from batchcrawl.web.dates import parse_date

ANSWER_S = 2.0
"""A date no older than this is that of the answer, and says nothing of when the content changed."""


def changed_at(record: UrlRecord, last_modified: str | None, *, at: float) -> float | None:
    """Return the instant at which a page fetched `at` last changed, by its header; None unless since the fetch before.

    `record` is as it was before the fetch.
    """
    told_at = _newer(record, last_modified)
    return None if told_at is None or told_at > at - ANSWER_S else told_at


def judge_last_modified(
    counts: LastmodCounts | None, before: UrlRecord, after: UrlRecord, last_modified: str | None
) -> LastmodCounts | None:
    """Return a host's counts after a fetch that changed a record from `before` to `after` and brought that header.

    A fetch that saw neither a change nor sameness says nothing, nor does one of a page that has no such header.
    """
    changed = saw_change(before, after)
    if changed is None or (last_modified is None and before.last_modified is None):
        return counts
    return counted(counts, before, after, changed=changed, told=_newer(before, last_modified) is not None)


def _newer(record: UrlRecord, last_modified: str | None) -> int | None:
    """Return the instant that a header tells, if that is later than the last fetch."""
    if last_modified is None or last_modified == record.last_modified or record.last_fetch_at is None:
        return None
    date = parse_date(last_modified)
    return date.at if date is not None and date.at > record.last_fetch_at else None
