"""The crawl that is measured beside ours: Scrapy's own link extraction, duplicate filter and queue on disk.

`python -m tests.bench.scrapy_spider SEEDS JOBDIR` crawls through the proxy of the environment variable http_proxy,
and writes the number of pages and of all requests to stdout.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from scrapy import Request, Spider  # type: ignore[import-not-found, unused-ignore]  # in the group bench alone
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found, unused-ignore]
from scrapy.http import HtmlResponse, Response  # type: ignore[import-not-found, unused-ignore]
from scrapy.linkextractors import LinkExtractor  # type: ignore[import-not-found, unused-ignore]

_SETTINGS = {
    "ROBOTSTXT_OBEY": True,
    "AUTOTHROTTLE_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "RANDOMIZE_DOWNLOAD_DELAY": False,
    "CONCURRENT_REQUESTS": 32,
    # One connection pool leads to the proxy; as many connections as requests let all of them be used again.
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
    "USER_AGENT": "batchcrawl-bench",
}


class WebSpider(Spider):  # type: ignore[misc, unused-ignore]  # Scrapy may not be installed where types are checked
    """Follows every link of every page."""

    name = "web"
    seeds: list[str] = []
    pages = 0

    async def start(self):  # type: ignore[no-untyped-def]  # an override of Scrapy's
        """Yield the seeds."""
        for url in self.seeds:
            yield Request(url)

    def parse(self, response: Response) -> Iterator[Request]:  # type: ignore[override, unused-ignore]
        """Count a page and yield what it links to."""
        WebSpider.pages += 1
        if isinstance(response, HtmlResponse):
            for link in LINKS.extract_links(response):
                yield Request(link.url)


LINKS = LinkExtractor(deny_extensions=[])


def main(seeds: Path, jobdir: str) -> None:
    """Crawl from the seeds of a file to the end."""
    process = CrawlerProcess({**_SETTINGS, "JOBDIR": jobdir})
    crawler = process.create_crawler(WebSpider)
    WebSpider.seeds = seeds.read_text(encoding="utf-8").split()
    process.crawl(crawler)
    process.start()
    stats = crawler.stats
    assert stats is not None
    assert stats.get_value("finish_reason") == "finished", stats.get_stats()
    print(WebSpider.pages, stats.get_value("downloader/request_count"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
