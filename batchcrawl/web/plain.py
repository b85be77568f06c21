"""Text without markup: of plain text files, and of what is turned into such."""

from batchcrawl.web.charset import decode_plain
from batchcrawl.web.page import Page
from batchcrawl.web.signature import count_tokens


def read_plain(body: bytes, content_type: str | None) -> Page:
    """Return a page of plain text; never raises."""
    text, charset = decode_plain(body, content_type)
    page = Page(charset=charset)
    set_text(page, text)
    return page


def set_text(page: Page, text: str) -> None:
    """Give a page its text, a line for each that is not blank, and what is counted of it."""
    lines = (" ".join(line.split()) for line in text.replace("\0", "").splitlines())
    page.text = "\n".join(filter(None, lines))
    tokens = page.text.split()
    page.words = len(tokens)
    page.tokens = count_tokens(tokens)
