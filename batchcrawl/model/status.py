"""Page status: what the crawldb knows of a URL, whatever its place in the queues."""

from enum import IntEnum


class PageStatus(IntEnum):
    """What the last conclusive fetch of a URL said; the number is on disk."""

    UNFETCHED = 1
    """Known from a seed or a link; no conclusive answer yet."""
    FETCHED = 2
    """A page with content of its own is stored."""
    DUPLICATE = 3
    """A page is stored whose content is that of another URL."""
    REDIRECT = 4
    """Points to another URL."""
    GONE = 5
    """Not there (404 or 410), or given up after too many failures."""
    BLOCKED = 6
    """Forbidden by robots.txt, by the server (401, 403 and their like) or by the address rules."""
    SKIPPED = 7
    """Answers with a content type that the job does not keep."""


class Place(IntEnum):
    """Where the crawldb keeps a URL now, and so which index entries it has."""

    NONE = 0
    """Never again by itself."""
    READY = 1
    """In the ready index, at its level: generate may take it."""
    TIMER = 2
    """In the timer index: becomes ready at an instant, or is looked at anew then."""
    LEASED = 3
    """Handed to a segment; no other segment may take it."""
    RISING = 4
    """In both: may be taken at its level, and rises to a higher one at an instant."""
