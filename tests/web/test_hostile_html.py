"""Pages made to cost much: each costs a worker about what a plain page of the same size costs it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from batchcrawl.engine.control import Control
from batchcrawl.engine.isolated import GivenUp, Items, Limits, run_isolated
from batchcrawl.web.html.parse import parse_page

URL = "http://example.org/a/b.html"
LINKS_MAX = 5000
MB = 1_000_000
TIMES_CPU = 25
"""So many times the CPU time of the plain page a hostile one may take."""
TIMES_MEMORY = 6
LIMITS = Limits(cpu_s=120, wall_s=600, memory_bytes=2000 * MB)


@dataclass
class Cost:
    """What it took to read a page."""

    cpu_s: float
    peak_bytes: int
    """Beyond what the worker had before."""


def read(body: bytes) -> int:
    page = parse_page(body, url=URL, content_type=None, links_max=LINKS_MAX)
    return len(page.links) + sum(page.rejected.values())


def measure(body: bytes, control: Control, items: Items[Cost]) -> Iterator[Cost]:
    """Read a plain page first, so that what is loaded once counts for nobody."""
    read(b"<p>a <a href=b>b</a>")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before, began = status("VmRSS"), time.process_time()
    done = items.attempt(0, read, body)
    assert not isinstance(done, GivenUp), done.cause
    yield Cost(time.process_time() - began, status("VmHWM") - before)


def status(name: str) -> int:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1024


def costs(*bodies: bytes) -> list[Cost]:
    found = run_isolated(measure, bodies, parallel=1, limits=LIMITS, control=Control())
    return [cost for [cost] in found]


def plain(size: int) -> bytes:
    """Return a page of that size as people write them."""
    part = (
        b'<div class=entry><p>Some words of a page that nobody made to harm. <a href="page/%d.html">On</a></p></div>\n'
    )
    pages = (part % number for number in range(size // len(part) + 1))
    return b"".join(pages)


HOSTILE = {
    "one attribute of 5 MB": b"<a title='" + b"x" * 5 * MB + b"' href=x>x</a>",
    "a link of 5 MB": b"<a href='/" + b"x" * 5 * MB + b"'>x</a>",
    "a rel of 5 MB": b"<a href=x rel='" + b"ab " * (5 * MB // 3) + b"'>x</a>",
    "a class of 5 MB": b"<a href=x class='" + b"ab " * (5 * MB // 3) + b"'>x</a>",
    "meta robots of 5 MB": b"<meta name=robots content='" + b"ab," * (5 * MB // 3) + b"'>",
    "meta robots of 5 MB of nothing": b"<meta name=robots content='" + b"," * 5 * MB + b"'>",
    "a refresh of 5 MB": b"<meta http-equiv=refresh content='1;url=" + b"x" * 5 * MB + b"'>",
    "a title of 5 MB": b"<title>" + b"ab " * (5 * MB // 3) + b"</title>",
    "a base of 4 MB before 50,000 links": b"<base href='/" + b"x" * 4 * MB + b"/'>" + b"<a href=x>x</a>" * 50_000,
    "a base of 8,000 bytes before 50,000 links": b"<base href='/" + b"x" * 8000 + b"/'>" + b"<a href=x>x</a>" * 50_000,
    "100,000 attributes": b"<a " + b" ".join(b"a%d=1" % n for n in range(100_000)) + b" href=x>x</a>",
    "100,000 nested tags": b"<div>" * 100_000 + b"<a href=x>x</a>",
    "100,000 nested anchors": b"<a href=x>x" * 100_000,
    "300,000 links": b"<a href=x>x</a>" * 300_000,
    "300,000 links that differ": b"".join(b"<a href=/%d>x</a>" % n for n in range(300_000)),
    "300,000 links without a scheme of the web": b"".join(b"<a href=x:%d>x</a>" % n for n in range(300_000)),
    "NUL bytes": b"\0" * 5 * MB + b"<a href=x>x</a>",
    "NUL bytes in links": b"<a hr\0ef='\0x\0'>x</a>" * 200_000,
    "UTF-16 that is cut": "\ufeff<a href=x>é</a>".encode("utf-16-le") * 100_000 + b"<",
    "white space": b" \n\t\f\r" * MB + b"<a href=x>x</a>",
    "white space in tags": b"<a" + b" \n" * 2 * MB + b"href=x>x</a>",
    "comments without an end": b"<!-- " * MB,
    "comments and templates without an end": b"<template></template>" + b"<!-- <script >" * 300_000,
    "a template before less-than signs": b"<template></template>" + b"<" * 3 * MB,
    "character references": b"<p>" + b"&amp;&#x41;&notit;" * 250_000,
    "open svg": b"<svg><g>" * 300_000 + b"<p>",
    "scripts": b"<script></script>" * 250_000,
    "end tags of nothing": b"</i>" * MB,
    "bytes of no encoding": bytes(range(128, 256)) * 30_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_page_costs_about_what_a_plain_one_of_its_size_costs(body: bytes) -> None:
    hostile, usual = costs(body, plain(len(body)))
    assert hostile.cpu_s < TIMES_CPU * usual.cpu_s
    assert hostile.peak_bytes < TIMES_MEMORY * usual.peak_bytes


LONG_THEN_LINKS = b"<a href='" + b"x" * 5 * MB + b"'>y</a>" + b"<a href=z>z</a>" * 1000


def read_whole(body: bytes, control: Control, items: Items[int | GivenUp]) -> Iterator[int | GivenUp]:
    yield items.attempt(0, read, body)


@pytest.mark.parametrize("memory_mb", range(4, 48, 4))
def test_a_page_for_which_the_parser_finds_no_memory_is_given_up_and_never_cut(memory_mb: int) -> None:
    limits = Limits(cpu_s=120, wall_s=600, memory_bytes=memory_mb * MB)
    [[links]] = run_isolated(read_whole, [LONG_THEN_LINKS], parallel=1, limits=limits, control=Control())
    assert links in (1001, GivenUp(f"needed more than {memory_mb} MB of memory"))
