"""The lines and the manifest of a purge: what it takes out of the crawldb, settled before anything is."""

import msgspec

from batchcrawl.model.entries import Line


class PurgedLine(Line):
    """A URL that goes."""

    fp: str
    """Its fingerprint, hex."""


class ContentLine(Line):
    """What a page that goes has in the indexes of content."""

    content: str
    """The kind of a key, the signature or SimHash, and the page's order, hex."""


class PurgeManifest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """purge.json: what all partitions go by."""

    at: float
    """When the purge was decided, in seconds since 1970."""
    urls: int
    """How many go."""
    follow_duplicates: bool = False
    """Links of duplicates were taken: a page that takes the place of the first need not come again."""
