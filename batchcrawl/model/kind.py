"""What a URL is: a page, or a list of pages that comes and goes through the steps like one."""

from enum import IntEnum


class UrlKind(IntEnum):
    """What stands at a URL, or is said to stand there; the number is in the crawldb, the name in lines."""

    PAGE = 0
    SITEMAP = 1
    """A sitemap or sitemap index: named as one, or found to be one."""
    FEED = 2
    """An RSS or Atom feed, found to be one."""
