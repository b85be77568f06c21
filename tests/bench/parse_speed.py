"""What is taken from a page, beside loops that take less; measured on pages of documentation that Debian packages."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from multiprocessing.context import SpawnContext
from pathlib import Path

from lxml import etree

from batchcrawl.web.canonical import canonicalise
from batchcrawl.web.domains import Domains, bundled_list
from batchcrawl.web.fingerprint import Fingerprinter
from batchcrawl.web.html.parse import parse_page
from batchcrawl.web.html.walk import walk
from batchcrawl.web.links import Resolvers
from batchcrawl.web.signature import simhash, text_signature
from tests.bench.spent import ProgramFailed
from tests.bench.table import Row

Sample = list[tuple[str, bytes]]
"""URLs and pages."""

DOCUMENTATION = (Path("/usr/share/doc/python3.11/html"), Path("/usr/share/doc/apache2-doc/manual/en"))
_PARTS = 20
"""A loop's time is the sum over as many parts of the sample, each the least of its passes: the machine is noisy."""
_PASSES = 5


def run(*, quick: bool) -> list[Row]:
    """Return pages a second of each loop, links a second, and what a second process adds."""
    pages = _sample(40 if quick else 400)
    what = f"parse, {sum(len(body) for _, body in pages) / len(pages) / 1024:.0f} KiB a page"
    ours = len(pages) / _least_s(_Ours().take, pages)
    bare = len(pages) / _least_s(_hrefs, pages)
    rows = [Row(what=what, ours=ours, unit="pages/s", other=bare, other_name="lxml and hrefs", wanted=0.7)]
    if find_spec("scrapy") is not None:
        scrapy = len(pages) / _least_s(_link_extractor(), pages)
        rows.append(Row(what=what, ours=ours, unit="pages/s", other=scrapy, other_name="LinkExtractor", wanted=3.0))
    rows.append(
        Row(what="URLs", ours=_links_a_second(pages), unit="links/s", other=1e6 / 3, other_name="3 us", wanted=1)
    )
    one, two = _rate(pages, processes=1), _rate(pages, processes=2)
    rows.append(Row(what="parse, two processes", ours=two, unit="pages/s", other=one, other_name="one", wanted=1.8))
    return rows


def _sample(count: int) -> Sample:
    files = sorted(file for folder in DOCUMENTATION for file in folder.rglob("*.html"))
    if not files:
        raise ProgramFailed(f"none of {', '.join(map(str, DOCUMENTATION))} is installed")
    chosen = random.Random(1).sample(files, min(count, len(files)))
    return [(f"http://docs.test{file}", file.read_bytes()) for file in chosen]


class _Ours:
    """Does what the parse step does with one page after another of a site."""

    def __init__(self) -> None:
        self._resolvers = Resolvers()

    def take(self, url: str, body: bytes) -> None:
        page = parse_page(body, url=url, content_type="text/html", links_max=5000, resolvers=self._resolvers)
        text_signature(page.text)
        simhash(page.tokens)


def _hrefs(url: str, body: bytes) -> None:
    tree = etree.fromstring(body, etree.HTMLParser())
    for link in tree.iter("a"):
        link.get("href")


def _link_extractor() -> Callable[[str, bytes], None]:
    from scrapy.http import HtmlResponse  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
    from scrapy.linkextractors import (  # type: ignore[import-not-found, unused-ignore]  # noqa: PLC0415
        LinkExtractor,
    )

    extractor = LinkExtractor()

    def take(url: str, body: bytes) -> None:
        extractor.extract_links(HtmlResponse(url, body=body, encoding="utf-8"))

    return take


def _least_s(take: Callable[[str, bytes], None], pages: Sample) -> float:
    return sum(min(_pass_s(take, part) for _ in range(_PASSES)) for part in _parts(pages))


def _parts(pages: Sample) -> Iterator[Sample]:
    size = -(-len(pages) // _PARTS)
    for start in range(0, len(pages), size):
        yield pages[start : start + size]


def _pass_s(take: Callable[[str, bytes], None], pages: Sample) -> float:
    started = time.process_time()
    for url, body in pages:
        take(url, body)
    return time.process_time() - started


def _links_a_second(pages: Sample) -> float:
    """Resolve, canonicalise and fingerprint the links of every page, as they come for the first time."""
    found = [(url, walk(body.decode("utf-8", "replace")).links) for url, body in pages]
    resolvers, fingerprinter = Resolvers(), Fingerprinter(Domains(bundled_list()))
    known: dict[str, bytes] = {}
    started = time.process_time()
    for url, links in found:
        resolver = resolvers.of_page(url=url, base_href=None, encoding="utf-8")
        for link in links:
            target = resolver.resolve(link.href)
            if isinstance(target, str) and target not in known:
                known[target] = fingerprinter.of(canonicalise(target))
    return sum(len(links) for _, links in found) / (time.process_time() - started)


def _rate(pages: Sample, *, processes: int) -> float:
    """Return pages a second by the clock, each process with pages of its own."""
    with SpawnContext().Pool(processes) as pool:
        pool.map(_wall_s, [pages[:1]] * processes, chunksize=1)
        return max(processes * len(pages) / max(pool.map(_wall_s, [pages] * processes, chunksize=1)) for _ in range(3))


def _wall_s(pages: Sequence[tuple[str, bytes]]) -> float:
    ours = _Ours()
    started = time.monotonic()
    for url, body in pages:
        ours.take(url, body)
    return time.monotonic() - started
