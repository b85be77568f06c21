"""The sitemaps that the hosts of a segment name in their robots.txt, or that are guessed where a job asks for it."""

from collections.abc import Mapping

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.outlinks import Outlinks, Source
from batchcrawl.model.entries import FetchLogLine, HostLogLine, PageLine
from batchcrawl.policy.sitemaps import guessed_sitemaps, named_sitemaps
from batchcrawl.store.page_links import PageLinks
from batchcrawl.store.records import read_log
from batchcrawl.store.segment import Segment
from batchcrawl.web.page import Link


def named_sitemap_links(crawl: Crawl, segment: Segment, partition: int) -> tuple[PageLinks, list[PageLine]]:
    """Return the links to sitemaps by target partition, sorted, and for each host what was taken of its robots.txt.

    The copy counts that is last in the host log, whenever it was fetched. A sitemap is as deep as the nearest URL of
    its host in the segment.
    """
    outlinks = Outlinks(crawl)
    out, pages = outlinks.page_links(), list[PageLine]()
    links = _links(crawl, segment, partition)
    for source in _sources(segment, partition, links):
        pages.append(PageLine(fp="", url=f"{source.host}/robots.txt"))
        outlinks.take_sitemaps(out, pages[-1], source, links[source.host])
    for bucket in out.buckets:
        bucket.sort(key=lambda line: (line.fp, line.source, line.position))
    return out, pages


def _links(crawl: Crawl, segment: Segment, partition: int) -> dict[str, list[Link]]:
    """Return the links of each host key that has any."""
    settings = crawl.job.settings.sitemaps
    if not settings.use and not settings.probe:
        return {}
    found: dict[str, list[Link]] = {}
    for line in read_log(segment.paths.host_log(partition), HostLogLine, sealed=True):
        copy = line.robots
        text = None if copy is None else copy.text
        urls = named_sitemaps(text, line.host) if text is not None and "map" in text.lower() else []
        if urls and settings.use:
            found[line.host] = _as_links(urls, "robots")
        elif not urls and settings.probe and copy is not None and copy.unreachable_since is None:
            found[line.host] = _as_links(guessed_sitemaps(line.host), "probe")
        else:
            found.pop(line.host, None)
    return found


def _as_links(urls: list[str], kind: str) -> list[Link]:
    return [Link(url, kind, None, (), position) for position, url in enumerate(urls)]


def _sources(segment: Segment, partition: int, links: Mapping[str, object]) -> list[Source]:
    """Return each host with depth and hops of its nearest URL in the segment."""
    nearest: dict[str, tuple[int, int]] = {}
    if links:
        for line in read_log(segment.paths.fetch_log(partition), FetchLogLine, sealed=True):
            if line.host in links:
                depth, hops = nearest.get(line.host, (line.depth, line.hops))
                nearest[line.host] = min(depth, line.depth), min(hops, line.hops)
    return [Source(host=host, depth=depth, hops=hops) for host, (depth, hops) in sorted(nearest.items())]
