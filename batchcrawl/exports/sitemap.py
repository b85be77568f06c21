"""A sitemap of one site by the protocol of sitemaps.org: files of at most 50,000 URLs, and an index of them if need be.

Pages that ask not to be indexed, and those that name another URL as their canonical one, are left out. The index tells
the others by URLs at the root of the site, and gets its name last.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.sax.saxutils import escape

from batchcrawl.errors import UsageError
from batchcrawl.exports.rows import Item
from batchcrawl.job.units import instant
from batchcrawl.store.disk import Disk
from batchcrawl.store.latest_pages import LatestPage
from batchcrawl.store.whole_file import WholeFile
from batchcrawl.web.urls import host_key

URLS_MAX = 50_000
BYTES_MAX = 50_000_000
_URL_CHARACTERS_MAX = 2047
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_NOT_INDEXED = frozenset({"noindex", "none"})


def write_sitemap(
    items: Iterator[Item], path: Path, disk: Disk, *, canonical: Callable[[str], str], urls_max: int = URLS_MAX
) -> list[Path]:
    """Write the sitemap of pages that are all on one host, and return its files.

    `canonical` gives the canonical URL of one that a page names as its own. A sitemap of one file is `path` itself; of
    more, `path` is the index and they are `path` with numbers. Raises UsageError for pages of two hosts.
    """
    host: str | None = None
    parts: list[Path] = []
    out: WholeFile | None = None
    urls = 0
    try:
        for url, at in _entries(items, canonical):
            host = _one_host(host, url)
            if out is None or urls == urls_max or out.taken > BYTES_MAX - 8 * _URL_CHARACTERS_MAX:
                _end(out, "urlset")
                out, urls = _begin(disk, _numbered(path, len(parts) + 1), "urlset"), 0
                parts.append(out.path)
            out.write(_entry("url", url, at))
            urls += 1
        _end(out or _begin(disk, path, "urlset"), "urlset")
        out = None
    finally:
        if out is not None:
            out.__exit__(None, None, None)
    if len(parts) <= 1:
        if parts:
            disk.rename(parts[0], path)
        return [path]
    with _begin(disk, path, "sitemapindex") as index:
        for part in parts:
            index.write(_entry("sitemap", f"{host}/{part.name}", None))
        _end(index, "sitemapindex")
    return [path, *parts]


def _entries(items: Iterator[Item], canonical: Callable[[str], str]) -> Iterator[tuple[str, int | None]]:
    """Yield the URLs that belong into a sitemap, each with the instant of its last change, if one is known."""
    for item in items:
        url, page = item.record.url, item.page if isinstance(item, LatestPage) else None
        if page is None or page.failed is not None or len(url) > _URL_CHARACTERS_MAX:
            continue
        own = page.canonical is None or page.canonical in (url, page.url) or canonical(page.canonical) == url
        if own and not _NOT_INDEXED.intersection(page.robots):
            yield url, item.record.last_change_at or item.record.content_at


def _one_host(host: str | None, url: str) -> str:
    found = host_key(url)
    if host not in (None, found):
        raise UsageError(f"a sitemap is of one site, and there are pages on {host} and {found}; choose one by --host")
    return found


def _begin(disk: Disk, path: Path, kind: str) -> WholeFile:
    out = WholeFile(disk, path)
    out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<{kind} xmlns="{_NAMESPACE}">\n'.encode())
    return out


def _entry(kind: str, url: str, at: int | None) -> bytes:
    lastmod = "" if at is None else f"<lastmod>{instant(at)}</lastmod>"
    return f"<{kind}><loc>{escape(url)}</loc>{lastmod}</{kind}>\n".encode()


def _end(out: WholeFile | None, kind: str) -> None:
    if out is not None:
        out.write(f"</{kind}>\n".encode())
        out.finish()


def _numbered(path: Path, number: int) -> Path:
    """Return `sitemap-00001.xml.gz` for `sitemap.xml.gz`."""
    name, dot, rest = path.name.partition(".")
    return path.with_name(f"{name}-{number:05}{dot}{rest}")
