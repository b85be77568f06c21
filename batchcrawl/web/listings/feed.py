"""Feeds: RSS 0.9 to 2.0 (also as RDF) and Atom (RFC 4287, and 0.3)."""

from typing import ClassVar

from batchcrawl.web.listings.entry_reader import EntryReader, RawEntry
from batchcrawl.web.listings.sitemap import is_web_address
from batchcrawl.web.listings.xml_scan import attribute


class RssReader(EntryReader):
    """Reads the items of an RSS feed: link, or else a guid that is an address, and the date of publication."""

    ENTRIES = frozenset({"item"})
    FIELDS = frozenset({"link", "guid", "pubDate", "dc:date"})

    def see_attributes(self, found: dict[str, str], name: str, attributes: str) -> None:
        """Take the address of an item in RDF."""
        about = attribute(attributes, "rdf:about") if name == "item" else None
        if about is not None:
            found["about"] = about

    def entry_of(self, found: dict[str, str]) -> RawEntry | None:
        """Return the address and date. A guid that is said to be no permalink is often one all the same."""
        others = (found.get("guid", ""), found.get("about", ""))
        location = found.get("link") or next(filter(is_web_address, others), "")
        return RawEntry(location, found.get("pubDate") or found.get("dc:date", "")) if location else None


class AtomReader(EntryReader):
    """Reads the entries of an Atom feed: the first alternate link, and the date of the last change."""

    ENTRIES = frozenset({"entry"})
    FIELDS = frozenset({"updated", "modified", "published", "issued"})
    _DATES: ClassVar = ("updated", "modified", "published", "issued")

    def __init__(self, own_prefixes: frozenset[str], *, entries_max: int, base: str | None) -> None:
        """`base` is the xml:base of the feed."""
        super().__init__(own_prefixes, entries_max=entries_max)
        self._base = base

    def see_attributes(self, found: dict[str, str], name: str, attributes: str) -> None:
        """Take the entry's base and its links."""
        if name == "entry":
            base = attribute(attributes, "xml:base")
            if base is not None:
                found["base"] = base
        elif name == "link" and (attribute(attributes, "rel") or "alternate").strip().lower() == "alternate":
            found.setdefault("link", attribute(attributes, "href") or "")

    def entry_of(self, found: dict[str, str]) -> RawEntry | None:
        """Return the address and date."""
        location = found.get("link", "").strip()
        date = next((found[name] for name in self._DATES if name in found), "")
        return RawEntry(location, date, found.get("base", self._base)) if location else None
