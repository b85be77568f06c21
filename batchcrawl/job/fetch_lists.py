"""What a segment holds of the records of URLs and hosts: lines of the fetch list and of the host sheet."""

from batchcrawl.model.entries import FetchEntry, HostSheet
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.store.crawldb import Entry
from batchcrawl.web.urls import host_key


def lines_by_host(entries: list[Entry]) -> dict[str, list[FetchEntry]]:
    """Return the lines of a host record by the host that is asked, which canonicalisation may have changed."""
    lines: dict[str, list[FetchEntry]] = {}
    for line in map(_line, entries):
        lines.setdefault(line.host, []).append(line)
    return lines


def host_sheet(record: HostRecord, domain: DomainRecord | None, host: str, urls: int) -> HostSheet:
    """Return what fetch must know of a host; of one that canonicalisation has changed, only its name."""
    sheet = HostSheet(host=host, domain=record.domain, urls=urls, budget_domain=record.budget_domain)
    if domain is not None:
        sheet.domain_refusals, sheet.domain_deferred_until = domain.refusals, domain.deferred_until
    if host == record.host:  # the crawldb knows the canonical host alone
        sheet.robots, sheet.address = record.robots, record.address
        sheet.delay_s, sheet.crawl_delay_s, sheet.response_s = record.delay_s, record.crawl_delay_s, record.response_s
        sheet.failures, sheet.deferred_until = record.failures, record.deferred_until
    return sheet


def _line(entry: Entry) -> FetchEntry:
    record = entry.record
    url = record.fetch_url or record.url
    line = FetchEntry(
        fp=entry.fingerprint.hex(),
        url=url,
        host=host_key(url),
        level=record.level,
        depth=record.depth,
        hops=record.hops,
        fetches=record.fetches,
        last_fetch_at=record.last_fetch_at,
        kind=record.kind,
        sites=record.sites or [],
    )
    if record.body_at is not None:  # else nothing may be asked about the copy, and nothing may refer to it
        line.etag, line.last_modified, line.digest = record.etag, record.last_modified, record.digest
        line.content_type, line.content_encoding = record.content_type, record.content_encoding
        line.body_at, line.body_segment, line.not_modified = record.body_at, record.segment, record.not_modified
    return line
