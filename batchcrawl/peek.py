"""Peek: one page is fetched, or read from a file, and parsed as the steps would; nothing of it is kept.

Reads: crawldb for what is known of the host, the network or a file. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from batchcrawl.engine.control import Control
from batchcrawl.engine.isolated import GivenUp, Items, run_isolated
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.client import client_settings, delay_rules, wanted_types
from batchcrawl.job.crawl import Crawl, UnbornCrawl
from batchcrawl.job.fetch_lists import host_sheet
from batchcrawl.job.load import require_contact
from batchcrawl.job.page_parser import PageParser, worker_limits
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchEntry, FetchLogLine, HostSheet, PageLine
from batchcrawl.model.exchange import NoAnswer
from batchcrawl.model.host import RobotsHop
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.net.failure import printable
from batchcrawl.net.robots import ask_for_robots, first_hop
from batchcrawl.policy.host_state import HostState, host_states
from batchcrawl.policy.log_lines import answered, failed, unasked
from batchcrawl.show import Located
from batchcrawl.store.crawldb import CrawlDb, Entry
from batchcrawl.store.page_links import PageLinks
from batchcrawl.web.charset import charset_evidence
from batchcrawl.web.codings import decode_body
from batchcrawl.web.fingerprint import HOST_PART_BYTES
from batchcrawl.web.media import is_html
from batchcrawl.web.urls import host_key, host_name, requested_url

PAUSE_MAX_S = 600.0
"""A host that is to be left alone for longer is not waited for."""


@dataclass(frozen=True)
class Peeked:
    """What came, and what parse makes of it."""

    line: FetchLogLine
    """As the fetch log would have it, but for where the answer is stored."""
    robots: str | None = None
    """What decided whether the URL may be asked for; None where nothing was asked for."""
    page: PageLine | None = None
    """None where nothing came that has a page or a redirect."""
    links: PageLinks = field(default_factory=lambda: PageLinks([]))
    """Those that are taken by partition, and a list of the others."""
    charset_evidence: str | None = None
    """By what the encoding of a page is known."""
    owed_s: float = 0.0
    """How long the host is to be left alone now."""


@dataclass(frozen=True)
class _Answer:
    line: FetchLogLine
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    robots: str | None = None
    owed_s: float = 0.0


@dataclass(frozen=True)
class _Task:
    crawl: Crawl
    located: Located
    url: str
    """What to ask for."""
    clock: Clock
    answer: _Answer | None = None
    """What is to be parsed."""


def peek(crawl: Crawl, located: Located, url: str, *, clock: Clock, control: Control) -> Peeked:
    """Fetch a page under the guards of the job and return what parse makes of it.

    robots.txt comes first unless a fresh copy is known, and the host's delay is kept before each request. The caller
    holds the crawl's lock, since a host gets one request at a time. `url` is the serialised URL as given; one that is
    known is asked for as it was linked. Raises JobFileError without a contact.
    """
    require_contact(crawl.job, [host_name(host_key(url))])
    task = _Task(crawl, located, requested_url(url), clock)
    [answer] = run_partitions(_fetch, [task], parallel=1, control=control)
    return _parsed(crawl, located, answer, clock, control)


def peek_at_body(
    crawl: Crawl, located: Located, url: str, body: bytes, *, content_type: str | None, clock: Clock, control: Control
) -> Peeked:
    """Return what parse makes of a body that would be the answer to a URL, cut where fetch would cut it."""
    bytes_max = crawl.job.settings.fetch.body_bytes_max
    [known] = run_partitions(_known, [_Task(crawl, located, requested_url(url), clock)], parallel=1, control=control)
    entry = known.entry
    line = unasked(entry, FetchOutcome.FETCHED, None, at=clock.now())
    line.truncated = "length" if len(body) > bytes_max else None
    body = body[:bytes_max]
    line.status, line.content_type, line.body_bytes = 200, content_type, len(body)
    return _parsed(crawl, located, _Answer(line, body=body), clock, control)


@dataclass(frozen=True)
class _Known:
    """What the steps would know of the URL and its host."""

    entry: FetchEntry
    sheet: HostSheet
    last_fetch_at: float | None = None
    """When the host was last asked for anything."""


def _known(task: _Task, control: Control) -> _Known:
    """Return what the crawldb knows; of a URL that it does not, what a seed would have."""
    crawl, located = task.crawl, task.located
    domains = crawl.domains()
    entry = FetchEntry(fp=located.fingerprint.hex(), url=task.url, host=host_key(task.url))
    name = host_name(entry.host)
    sheet = HostSheet(host=entry.host, domain=domains.registered(name), urls=1)
    if isinstance(crawl, UnbornCrawl):
        return _Known(entry, sheet)
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        part = located.fingerprint[:HOST_PART_BYTES]
        host, found = db.host(part), db.load(located.fingerprint)
        if found is not None:
            entry = _entry(found)
        if host is None:
            return _Known(entry, sheet)
        return _Known(entry, host_sheet(host, db.domain(part, host), entry.host, 1), host.last_fetch_at)


def _entry(found: Entry) -> FetchEntry:
    record = found.record
    url = record.fetch_url or record.url
    return FetchEntry(
        fp=found.fingerprint.hex(),
        url=url,
        host=host_key(url),
        depth=record.depth,
        hops=record.hops,
        kind=record.kind,
        sites=record.sites or [],
    )


def _fetch(task: _Task, control: Control) -> _Answer:
    return _Visit(task, _known(task, control), control).answer()


class _Visit:
    """One visit of one URL: robots.txt, then the page, each after the host's delay."""

    def __init__(self, task: _Task, known: _Known, control: Control) -> None:
        self._job = task.crawl.job
        self._clock = task.clock
        self._control = control
        self._entry = known.entry
        now = task.clock.now()
        self._host: HostState = host_states([known.sheet], delay_rules(self._job), at=now)[known.entry.host]
        if known.last_fetch_at is not None:  # a step may have asked it just now
            self._host.rest(min(known.last_fetch_at, now))
        self._asked = False
        """Something was asked of the host."""
        self._stopped = threading.Event()
        control.on_stop(self._stopped.set)

    def answer(self) -> _Answer:
        host, token = self._host, self._job.product_token
        client = Client(client_settings(self._job, threads=1), self._clock)
        with closing(client):
            refused = self._wait() or self._robots(client)
            if refused is not None:
                return _Answer(refused, robots=_why(host, token, self._entry.url), owed_s=self._owed_s)
            if not host.allowed.allowed(token, self._entry.url):
                why = host.allowed.deciding_line(token, self._entry.url).reason
                line = unasked(self._entry, FetchOutcome.ROBOTS_DENIED, printable(why), at=self._clock.now())
                return _Answer(line, robots=printable(why), owed_s=self._owed_s)
            return self._page(client)

    @property
    def _owed_s(self) -> float:
        """What is owed to the host before anybody asks it again; a longer pause is for those who remember it."""
        return self._host.politeness.delay_s if self._asked else 0.0

    def _robots(self, client: Client) -> FetchLogLine | None:
        """Ask for robots.txt where no good copy is known; return the line of the URL if it cannot be had."""
        host, cookie = self._host, None
        while host.needs_robots(self._clock.now()) and not host.politeness.put_off:
            hop = host.robots_hop or first_hop(host.name, ttl_s=self._job.settings.fetch.robots_ttl_s)
            self._asked = True
            got = ask_for_robots(client, hop, self._clock, previous=host.robots, cookie=cookie)
            cookie = got.cookie
            if not isinstance(got.answer, NoAnswer):
                got.answer.close()
            if isinstance(got.found, RobotsHop):
                host.learn_hop(got.found, got.answer.ended_at)
            else:
                host.learn_robots(got.found, self._job.product_token, got.answer)
                if got.found.is_unreachable(got.answer.ended_at):
                    detail = printable(f"robots.txt cannot be had: {got.found.detail}")
                    return unasked(self._entry, FetchOutcome.DEFERRED, detail, at=got.answer.ended_at)
            if (refused := self._wait()) is not None:
                return refused
        return None

    def _page(self, client: Client) -> _Answer:
        entry, host = self._entry, self._host
        named = entry.kind is UrlKind.SITEMAP
        self._asked = True
        sitemap_bytes_max = max(self._job.settings.fetch.body_bytes_max, self._job.settings.sitemaps.bytes_max)
        result = client.get(
            entry.url,
            headers=list(self._job.settings.fetch.headers.items()),
            wants=None if named else wanted_types(self._job),
            body_bytes_max=sitemap_bytes_max if named else None,
        )
        why = _why(host, self._job.product_token, entry.url)
        if isinstance(result, NoAnswer):
            line = failed(entry, result)
            host.learn_answer(line)
            return _Answer(line, robots=why, owed_s=self._owed_s)
        with closing(result):
            line = answered(entry, result, conditional=False)
            line.digest = result.payload_digest
            host.learn_answer(line)
            return _Answer(line, result.headers, result.whole_body(), why, self._owed_s)

    def _wait(self) -> FetchLogLine | None:
        """Keep the pause that the host is owed; return the line of the URL if that takes too long."""
        host, now = self._host, self._clock.now()
        host.follow_domain(now)
        host.refuse_delay(now)
        if host.politeness.put_off:
            return unasked(self._entry, FetchOutcome.DEFERRED, printable(host.why_put_off), at=now)
        pause_s = host.wait_s(now)
        if pause_s > PAUSE_MAX_S:
            detail = f"the host is to be left alone for {pause_s:,.0f} s"
            return unasked(self._entry, FetchOutcome.DEFERRED, detail, at=now)
        self._stopped.wait(pause_s)
        self._control.raise_if_stopping()
        return None


def _why(host: HostState, token: str, url: str) -> str | None:
    if host.robots is None:
        return None
    if host.robots.text is None:
        return "there is none" if host.robots.unreachable_since is None else "it cannot be had"
    return printable(host.allowed.deciding_line(token, url).reason)


def _parsed(crawl: Crawl, located: Located, answer: _Answer, clock: Clock, control: Control) -> Peeked:
    line = answer.line
    if line.outcome not in (FetchOutcome.FETCHED, FetchOutcome.REDIRECT):
        return Peeked(line, answer.robots, owed_s=answer.owed_s)
    task = _Task(crawl, located, line.url, clock, answer)
    limits = worker_limits(crawl.job.settings.parse)
    [[peeked]] = run_isolated(_parse, [task], parallel=1, limits=limits, control=control)
    return peeked


def _parse(task: _Task, control: Control, items: Items[Peeked]) -> Iterator[Peeked]:
    answer = task.answer
    if answer is None or items.parts:
        return
    parser = PageParser(task.crawl, task.crawl.layout.segments, listing=True)

    def read(answer: _Answer) -> tuple[PageLine, PageLinks, str | None]:
        if answer.line.outcome is FetchOutcome.REDIRECT:
            return (*parser.parse(answer.line), None)
        page, links = parser.parse_answer(answer.line, answer.headers, answer.body)
        return page, links, _evidence(task.crawl, page, answer)

    found = items.attempt(0, read, answer)
    page, links, evidence = (*parser.failed(answer.line, found.cause), None) if isinstance(found, GivenUp) else found
    yield Peeked(answer.line, answer.robots, page, links, evidence, answer.owed_s)


def _evidence(crawl: Crawl, page: PageLine, answer: _Answer) -> str | None:
    if page.charset is None or page.kind is not UrlKind.PAGE:
        return None
    coding = next((value for name, value in answer.headers if name.lower() == "content-encoding"), None)
    body = decode_body(answer.body, coding, bytes_max=crawl.job.settings.parse.decoded_bytes_max) or b""
    is_page = page.media_type is not None and is_html(body, page.media_type)
    return charset_evidence(body, answer.line.content_type, is_page=is_page)
