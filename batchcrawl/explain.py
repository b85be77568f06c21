"""Explain: what became of a URL or a link, step by step, and which rule decided.

Reads: crawldb, files of the segments. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from dataclasses import dataclass
from itertools import islice, takewhile

from batchcrawl.errors import UsageError
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.outlinks import Judged, Outlinks
from batchcrawl.job.page_reader import PageReader
from batchcrawl.model.entries import FetchLogLine
from batchcrawl.model.explanation import (
    Admission,
    Check,
    Explanation,
    FromPage,
    LinkFound,
    Robots,
    Ruling,
    Stay,
    Step,
    Turn,
)
from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.model.status import Place
from batchcrawl.policy.admission import costliness, domain_refusal, host_refusal, new_host
from batchcrawl.policy.due import due_of
from batchcrawl.policy.scope import Decision
from batchcrawl.policy.selection import host_limit
from batchcrawl.policy.traps import measures
from batchcrawl.show import Located, body_of, known_robots, locate, page_of, stays
from batchcrawl.store.candidates import owed_delay
from batchcrawl.store.crawldb import CrawlDb, Entry
from batchcrawl.store.portable import record_row
from batchcrawl.store.segment import COMMANDS, Segment
from batchcrawl.web.canonical import changes
from batchcrawl.web.directives import says_nofollow
from batchcrawl.web.links import Resolvers
from batchcrawl.web.page import Link, Page
from batchcrawl.web.urls import host_key, parse_url, requested_url

BEFORE_MAX = 100_000
"""So many ready URLs of a host are counted before one of them."""


@dataclass
class _Known:
    """What the crawldb knows of a URL and of what it belongs to."""

    entry: Entry | None
    host: HostRecord
    domain: DomainRecord
    before: int | None = None

    @property
    def record(self) -> UrlRecord | None:
        return None if self.entry is None else self.entry.record


def explain(crawl: Crawl, text: str, *, page: str | None, now: float) -> Explanation:
    """Return what is known of a URL and what decides on it; with `page`, of a link as that page has it.

    Raises UsageError for what is no http or https URL.
    """
    source = None if page is None else _on_page(crawl, text, page)
    resolved = text if source is None else source.url
    located = locate(crawl, resolved)
    known = _known(crawl, located)
    linked = requested_url(parse_url(resolved) or resolved)
    asked = linked if known.record is None else known.record.fetch_url or known.record.url
    return Explanation(
        url=text,
        source=None if source is None else source.told,
        steps=_steps(crawl, resolved),
        canonical=located.canonical,
        fp=located.fingerprint.hex(),
        partition=located.partition,
        scope=_scope(crawl, located, known.record) if source is None else source.ruling,
        traps=[
            Check(trap=m.reason.value.removeprefix("trap_"), number=m.number, most=m.most, trapped=m.number > m.most)
            for m in measures(located.canonical, crawl.job.scope.limits)
        ],
        admission=_admission(crawl, located, known),
        robots=_robots(crawl, asked, now),
        record=None if known.record is None else record_row(known.record),
        segments=[_stay(segment, line) for segment, line in stays(crawl, located)],
        due=_turn(crawl, known, now),
    )


@dataclass(frozen=True)
class _Source:
    """A link as a page has it."""

    url: str
    """Resolved."""
    told: FromPage
    ruling: Ruling


def _on_page(crawl: Crawl, text: str, page_url: str) -> _Source:
    line, page, segment, note = _read_page(crawl, locate(crawl, page_url))
    resolver = Resolvers().of_page(url=page.base or line.url, base_href=None, encoding=page.charset or "utf-8")
    target = resolver.resolve(text)
    if isinstance(target, Rejection):
        raise UsageError(f"{text!r} on {resolver.base} is no http or https URL")
    outlinks, canonical = Outlinks(crawl), crawl.canonical(target)
    found = [link for link in _links(page) if link.url == target or crawl.canonical(link.url) == canonical]
    told = FromPage(
        page=line.url,
        segment=segment,
        note=note,
        base=resolver.base,
        depth=line.depth,
        hops=line.hops,
        nofollow=says_nofollow(page.robots),
        rejected=page.rejected,
        links=[_found(link, _judged(outlinks, line, page, link)) for link in found],
    )
    unseen = Link(target, "a", None, (), 0)
    rulings = [link.ruling for link in told.links] or [_ruling(_judged(outlinks, line, page, unseen))]
    return _Source(target, told, next((ruling for ruling in rulings if ruling.taken), rulings[0]))


def _read_page(crawl: Crawl, located: Located) -> tuple[FetchLogLine, Page, str | None, str | None]:
    """Return how a page was fetched last, what it holds, the segment that has it, and why nothing was read."""
    answers = [(segment, line) for segment, line in stays(crawl, located) if line is not None and _has_links(line)]
    if not answers:
        return _unread(crawl, located), Page(), None, "no answer with links is stored of it; judged by its URL alone"
    segment, line = answers[-1]
    if line.outcome is FetchOutcome.REDIRECT:
        return line, Page(kind=line.kind, links=[Link(line.redirect or "", "redirect", None, (), 0)]), segment.id, None
    try:
        stored = body_of(crawl, segment, line)
    except UsageError as error:
        return line, Page(kind=line.kind), None, str(error)
    parsed = page_of(stored.segment, located)
    if parsed is not None and parsed.failed is not None:  # reading it once more might take this process along
        return stored.line, Page(kind=parsed.kind), stored.segment.id, f"it could not be parsed: {parsed.failed}"
    reader = PageReader(crawl, stored.segment.paths.fetch_dir, places=True)
    return stored.line, reader.read(stored.line), stored.segment.id, None


def _has_links(line: FetchLogLine) -> bool:
    return line.outcome in (FetchOutcome.FETCHED, FetchOutcome.REDIRECT) or line.revisit is not None


def _unread(crawl: Crawl, located: Located) -> FetchLogLine:
    """Return what stands for the fetch of a page that was not fetched: as deep as it is known, or as a seed."""
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        entry = db.load(located.fingerprint)
    depth, hops = (0, 0) if entry is None else (entry.record.depth, entry.record.hops)
    return FetchLogLine(
        fp=located.fingerprint.hex(),
        url=located.canonical,
        host=host_key(located.canonical),
        outcome=FetchOutcome.FETCHED,
        depth=depth,
        hops=hops,
    )


def _links(page: Page) -> list[Link]:
    return page.links if page.refresh is None else [*page.links, page.refresh]


def _judged(outlinks: Outlinks, line: FetchLogLine, page: Page, link: Link) -> Judged:
    if line.outcome is FetchOutcome.REDIRECT:
        return outlinks.judge_redirect(line, link)
    if page.kind is not UrlKind.PAGE:
        return outlinks.judge_listed(outlinks.lister(line), link)
    nofollow = says_nofollow(page.robots) and link is not page.refresh
    return outlinks.judge(line.fp, outlinks.way_from(line), link, nofollow=nofollow)


def _found(link: Link, judged: Judged) -> LinkFound:
    return LinkFound(
        position=link.position,
        kind=link.kind,
        url=link.url,
        anchor=link.anchor,
        rel=link.rel,
        ruling=_ruling(judged),
    )


def _ruling(judged: Judged) -> Ruling:
    return _ruled(judged.decision, depth=judged.target.depth, hops=judged.target.hops)


def _ruled(decision: Decision, *, depth: int, hops: int) -> Ruling:
    return Ruling(
        taken=decision.rejection is None,
        rejection=None if decision.rejection is None else decision.rejection.value,
        rule=decision.rule,
        place=decision.place,
        depth=depth,
        hops=hops,
    )


def _known(crawl: Crawl, located: Located) -> _Known:
    new_one = new_host(host_key(located.canonical), crawl.domains(), at=0)
    with CrawlDb(crawl.layout.crawldb(located.partition)) as db:
        entry = db.load(located.fingerprint)
        new = Entry.new(located.fingerprint, UrlRecord(located.canonical)) if entry is None else entry
        host = db.host(new.host_part) or new_one
        known = _Known(entry=entry, host=host, domain=db.batch().domain(new.host_part, host))
        if entry is not None and entry.record.place in (Place.READY, Place.RISING):
            ready = islice(db.ready(entry.host_part), BEFORE_MAX)
            known.before = sum(1 for _ in takewhile(lambda key: key not in entry.stored_index, ready))
        return known


def _steps(crawl: Crawl, text: str) -> list[Step]:
    url = parse_url(text) or text
    steps = [] if url == text else [Step(step="serialised", url=url)]
    return steps + [Step(step=name, url=left) for name, left in changes(url, frozenset(crawl.identity.canonical_steps))]


def _scope(crawl: Crawl, located: Located, record: UrlRecord | None) -> Ruling:
    """Return how the scope judges the URL by the nearest way that is known to it, or as a seed."""
    scope, host = crawl.scope(), host_key(located.canonical)
    depth = 0 if record is None else record.depth
    hops = record.hops if record is not None else 0 if scope.owns(host) else 1
    return _ruled(scope.decide(located.canonical, host=host, depth=depth, hops=hops), depth=depth, hops=hops)


def _admission(crawl: Crawl, located: Located, known: _Known) -> Admission:
    budgets = crawl.job.budgets
    costly = costliness(located.canonical, known.host, budgets)
    refusal = domain_refusal(known.domain, budgets) or host_refusal(known.host, costly, budgets)
    return Admission(
        host_urls=sum(known.host.urls.values()),
        host_urls_max=budgets.host_urls_max,
        domain_urls=known.domain.urls,
        domain_urls_max=budgets.domain_urls_max,
        costly=None if costly is None else costly.value,
        refusal=None if refusal is None else refusal.value,
    )


def _robots(crawl: Crawl, asked: str, now: float) -> Robots:
    verdict = known_robots(crawl, asked, now=now)
    if verdict is None:
        return Robots(url=asked, why="no copy of robots.txt is known: the fetch step asks for it first")
    return Robots(
        url=verdict.url,
        allowed=verdict.allowed,
        why=verdict.why,
        line=verdict.line_number,
        source=verdict.source,
        fetched_at=verdict.copy.fetched_at,
    )


def _stay(segment: Segment, line: FetchLogLine | None) -> Stay:
    waiting = segment.next_step()
    stay = Stay(segment=segment.id, next=None if waiting is None else COMMANDS[waiting])
    if line is not None:
        stay.outcome, stay.status, stay.ended_at = line.outcome.value, line.status, line.ended_at
        stay.detail, stay.redirect = line.detail, line.redirect
    return stay


def _turn(crawl: Crawl, known: _Known, now: float) -> Turn:
    if known.record is None:
        return Turn(why="it is not known: no seed names it, and no link to it was taken")
    due = due_of(known.record, known.host, known.domain, now=now)
    settings = crawl.job.settings
    limit = host_limit(
        duration_s=settings.generate.duration_s,
        delay_s=owed_delay(known.host, delay_min_s=settings.politeness.delay_min_s),
        urls_max=settings.generate.host_urls_max,
    )
    return Turn(at=due.at, why=due.why, before=known.before, host_limit=limit)
