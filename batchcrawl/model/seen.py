"""The lines by which partitions settle, within an update, what pages are to one another."""

from batchcrawl.model.entries import Line


class ClaimLine(Line):
    """What a visit changes in the indexes of content, for a partition that holds some of their keys."""

    fp: str
    """Fingerprint of the page."""
    gone: tuple[str, ...] = ()
    """What the page has no more: the kind of a key, the signature or SimHash, and the page's order, hex."""
    came: tuple[str, ...] = ()
    """What it has from now on."""
    stays: tuple[str, ...] = ()
    """What it had and has. Of all that came or stays, the page is told what it is to the others."""


class VerdictLine(Line):
    """What a page is to the others with the same content, as one partition sees it."""

    fp: str
    """Fingerprint of a page that was visited, or that takes or loses the place of the first by another's visit."""
    first: str | None = None
    """Fingerprint of the first page with its text; its own where it has just come to be that."""
    near: str | None = None
    """Order of the first page before it that has a text like its own, hex."""
