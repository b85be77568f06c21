"""The robots.txt of each host, as text to send and as rules that the truth reads."""

from dataclasses import dataclass

from batchcrawl.fakeweb.rolls import roll
from batchcrawl.fakeweb.spec import WebSpec

MOVED_PATH = "/robots-moved.txt"
CRAWL_DELAY_S = 1
BARRED_TOKEN = "badbot"
"""A product token that hosts with a robots.txt of rules keep out altogether."""


@dataclass(frozen=True, kw_only=True)
class RobotsFile:
    """What a host answers for /robots.txt."""

    status: int
    """200 or 404 or 403; `moved` files stand behind a redirect."""
    moved: bool = False
    closed: bool = False
    """Everything is denied to everybody."""
    rules: bool = False
    """The private area is denied, but for its open part."""
    crawl_delay_s: int | None = None
    sitemap: bool = False
    """The sitemap index of the host is named."""

    def text(self, sitemap: str) -> str:
        """Return the file; `sitemap` is the URL of the host's sitemap index."""
        lines = []
        if self.rules:
            lines += [f"User-agent: {BARRED_TOKEN}", "Disallow: /", ""]
        lines += ["# a synthetic web", "User-agent: *"]
        if self.closed:
            lines.append("Disallow: /")
        elif self.rules:
            lines += ["Disallow: /private/", "Allow: /private/open/"]
        else:
            lines.append("Disallow:")
        if self.crawl_delay_s is not None:
            lines.append(f"Crawl-delay: {self.crawl_delay_s}")
        if self.sitemap:
            lines.append(f"Sitemap: {sitemap}")
        return "\n".join(lines) + "\n"

    def denies(self, product_token: str, path: str) -> bool:
        """Tell whether the file forbids a path to a crawler of this product token (RFC 9309, 2.2)."""
        if self.rules and product_token.lower() == BARRED_TOKEN:
            return True
        if self.closed:
            return True
        return self.rules and path.startswith("/private/") and not path.startswith("/private/open/")


def robots_file(spec: WebSpec, host: int) -> RobotsFile:
    """Return the robots.txt of a host. The first host is never closed."""
    chance = roll(spec.seed, "robots", host)
    delay = CRAWL_DELAY_S if "crawl_delay" in spec.faults and chance // 16 % 8 == 0 else None
    sitemap = "sitemaps" in spec.faults and spec.pages is not None
    if "robots" not in spec.faults:
        return RobotsFile(status=200 if delay or sitemap else 404, crawl_delay_s=delay, sitemap=sitemap)
    style = chance % 16
    if style == 0:
        return RobotsFile(status=404)
    if style == 1:
        return RobotsFile(status=403)
    if style == 2 and host:
        return RobotsFile(status=200, closed=True)
    return RobotsFile(status=200, rules=True, moved=style in (3, 4), crawl_delay_s=delay, sitemap=sitemap)
