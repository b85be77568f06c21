"""Sitemaps by sitemaps.org: what their XML says, their form as plain text, and what they may speak of.

Only the address and `lastmod` count: `changefreq` and `priority` are wishes, and say nothing that a crawl does not
learn by itself.
"""

import re
from collections.abc import Iterable, Iterator

from batchcrawl.web.listings.entry_reader import FIELD_CHARACTERS_MAX, EntryReader, RawEntry

NAMESPACES = frozenset({"http://www.sitemaps.org/schemas/sitemap/0.9", "https://www.sitemaps.org/schemas/sitemap/0.9"})


def is_below(url: str, sitemap: str) -> bool:
    """Tell whether a URL lies in the folder of a sitemap or below it; both are serialised.

    By the protocol ("Sitemap file location") a sitemap speaks of nothing else.
    """
    return url.startswith(sitemap.partition("?")[0].rpartition("/")[0] + "/")


def is_called_sitemap(url: str) -> bool:
    """Tell whether a URL's path ends like that of a file for machines; a page of HTML there stands for "not found"."""
    return url.partition("?")[0].lower().endswith((".xml", ".gz", ".txt"))


class SitemapReader(EntryReader):
    """Reads the entries of a urlset or a sitemapindex.

    An address without its `loc`, in a `url` in the `loc`, and several in one entry count, too.
    """

    ENTRIES = frozenset({"url", "sitemap"})
    FIELDS = frozenset({"", "loc", "lastmod"})

    def begins_entry(self, found: dict[str, str], name: str) -> bool:
        """A second address is another entry."""
        return name == "loc" and "loc" in found

    def entry_of(self, found: dict[str, str]) -> RawEntry | None:
        """Return the address and lastmod."""
        own = found.get("", "")
        location = found.get("loc") or (own if is_web_address(own) else "")
        return RawEntry(location, found.get("lastmod", "")) if location else None


def read_url_list(parts: Iterable[str]) -> Iterator[RawEntry]:
    """Yield the addresses of a sitemap as plain text, one a line; the parts, joined, are the text."""
    rest = ""
    for part in parts:
        text = rest + part.replace("\r", "\n")
        # The last line may go on in the next part.
        end = text.rfind("\n") + 1
        for found in _ADDRESS_LINE.finditer(text, 0, end):
            yield RawEntry(found[1])
        # What goes on for so long is no address, nor is what follows on its line.
        rest = text[end:] if len(text) - end <= FIELD_CHARACTERS_MAX else "-"
    for found in _ADDRESS_LINE.finditer(rest):
        yield RawEntry(found[1])


_ADDRESS_LINE = re.compile(r"^[ \t\f\v\xa0\ufeff]*+(https?://[^\n]++)", re.IGNORECASE | re.MULTILINE)


def is_web_address(text: str) -> bool:
    """Tell whether a text begins like an http or https URL."""
    return text[:8].lower().startswith(("http://", "https://"))
