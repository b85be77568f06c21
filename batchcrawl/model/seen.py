"""The lines by which partitions settle, within an update, which page was the first with a text."""

from batchcrawl.model.entries import Line


class ClaimLine(Line):
    """What a visit changes in the indexes of content, for the partition that holds their keys."""

    fp: str
    """Fingerprint of the page."""
    gone: tuple[str, ...] = ()
    """Keys that the page has no more, hex."""
    came: tuple[str, ...] = ()
    """Keys that it has from now on."""
    stays: tuple[str, ...] = ()
    """Keys that it had and has. Of each key that came or stays, the page is told what it is to the others."""


class VerdictLine(Line):
    """What a page is to the others with the same content, as one partition sees it."""

    fp: str
    """Fingerprint of a page that was visited, or that takes or loses the place of the first by another's visit."""
    first: str | None = None
    """Fingerprint of the first page with its text; its own where it has just come to be that."""
