"""Opens what must be there: a file that is missing was lost, and is told as such."""

from io import BufferedReader
from pathlib import Path

from batchcrawl.errors import CorruptData, CrawlError

ADVICE = "restore it from a copy; 'batchcrawl check JOB' shows the extent"
"""What to do about damage; of the crawldb, `repair` may have something back."""


def open_stored(path: Path) -> BufferedReader:
    """Open a file of the crawl. Raises CorruptData when it is missing, CrawlError when it cannot be opened."""
    try:
        return path.open("rb")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise CorruptData(f"{path} is missing; {ADVICE}") from error
    except OSError as error:
        raise CrawlError(f"{path} cannot be read: {error.strerror}") from error


def read_stored(path: Path) -> bytes:
    """Return the bytes of a small file of the crawl; raises as `open_stored`."""
    with open_stored(path) as file:
        return file.read()


def size_stored(path: Path) -> int:
    """Return the size of a file of the crawl in bytes. Raises CorruptData when it is missing."""
    if not path.is_file():
        raise CorruptData(f"{path} is missing; {ADVICE}")
    return path.stat().st_size
