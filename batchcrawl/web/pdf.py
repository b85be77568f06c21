"""The text of a PDF, where the extra `pdf` is installed."""

import logging
from io import BytesIO

from batchcrawl.web.page import Page
from batchcrawl.web.plain import set_text

PAGES_MAX = 2000
CHARACTERS_MAX = 4_000_000
"""Read until there are so many, and then to the end of the page."""
TITLE_CHARACTERS_MAX = 1000


def read_pdf(body: bytes) -> Page:
    """Return the title and the text of a PDF; never raises but for want of memory.

    Without pypdf a page that has neither. What cannot be read, and what needs a password, is told in `failed`.
    """
    page = Page()
    try:
        from pypdf import PdfReader  # noqa: PLC0415  # an extra, and as slow to import as all the rest
    except ModuleNotFoundError:
        return page
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # each fault of each file
    try:
        reader = PdfReader(BytesIO(body))
        title = reader.metadata.title if reader.metadata is not None else None
        page.title = " ".join((title or "").split())[:TITLE_CHARACTERS_MAX].rstrip() or None
        texts: list[str] = []
        room = CHARACTERS_MAX
        for _, sheet in zip(range(PAGES_MAX), reader.pages, strict=False):
            texts.append(sheet.extract_text())
            room -= len(texts[-1])
            if room < 0:
                break
        set_text(page, "\n".join(texts))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  # its authors say that a broken file may cause any
        page.failed = f"the PDF cannot be read: {type(error).__name__}: {error}"[:200]
    return page
