"""What a URL is: a page, or a list of pages that goes through the steps like one."""

from enum import Enum


class UrlKind(Enum):
    """What stands at a URL, or is said to; the value is its name in lines."""

    PAGE = "page"
    SITEMAP = "sitemap"
    """A sitemap or sitemap index: named as one, or found to be one."""
    FEED = "feed"
    """An RSS or Atom feed, found to be one."""
