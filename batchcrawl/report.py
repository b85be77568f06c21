"""Report: a crawl as one page of HTML, with charts and tables, that needs no network.

Reads: crawldb, manifests of the segments, their counts of links not taken. Writes: the file.
Commits by: its rename. If killed: the report of before is still there.
"""

from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import accumulate
from pathlib import Path

from batchcrawl.errors import NothingDue
from batchcrawl.figures.charts import bar_chart, line_chart, row_chart, shown
from batchcrawl.figures.document import Table, document, figures, heading, paragraph, table, tiles
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.units import instant
from batchcrawl.model.host import HostRecord
from batchcrawl.model.record import UrlRecord
from batchcrawl.model.status import PageStatus
from batchcrawl.show import rejections
from batchcrawl.simulate import Simulation, simulate
from batchcrawl.standing import CrawlStatus, HostRow, crawl_status, host_rows
from batchcrawl.store.crawldb import CrawlDb
from batchcrawl.store.disk import Disk
from batchcrawl.store.rounds import Round, round_of
from batchcrawl.store.segment import Segment
from batchcrawl.store.whole_file import WholeFile

ROUNDS_MAX = 200
HOSTS_MAX = 100
ROWS_MAX = 20
TYPES_MAX = 1000
"""Content types that are told apart; a server may make up any number."""
_INTERVALS = {"6 h": 21_600, "1 day": 86_400, "3 days": 259_200, "1 week": 604_800, "1 month": 2_678_400}
_ANSWERS = {"0.1 s": 0.1, "0.25 s": 0.25, "0.5 s": 0.5, "1 s": 1.0, "2 s": 2.0, "5 s": 5.0, "10 s": 10.0}
_CHANGES = {"never": 0.0, "up to 10%": 0.1, "up to 25%": 0.25, "up to 50%": 0.5, "up to 75%": 0.75}
_MORE = "more"
BUDGETS = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Parts and multiples of the present budget of refetches that are compared."""


@dataclass
class Findings:
    """What is counted over all of a crawl."""

    status: CrawlStatus
    rounds: list[Round] = field(default_factory=list)
    """The newest, oldest first."""
    depths: Counter[int] = field(default_factory=Counter)
    types: Counter[str] = field(default_factory=Counter)
    """Pages by media type."""
    intervals: Counter[str] = field(default_factory=Counter)
    """Pages by the fetch interval last set."""
    changes: Counter[str] = field(default_factory=Counter)
    """Pages fetched twice at least, by how many of their later fetches saw a change."""
    answers: Counter[str] = field(default_factory=Counter)
    """Hosts by the time to the whole answer."""
    rejected: Counter[str] = field(default_factory=Counter)
    """Links not taken, by reason."""
    unreachable: list[tuple[str, str]] = field(default_factory=list)
    """Hosts whose robots.txt cannot be had, and why; the first of them."""
    hosts: list[HostRow] = field(default_factory=list)
    """Those with the most URLs."""
    budgets: Simulation | None = None
    """What budgets would buy; None while no page is stored."""


def report(crawl: Crawl, path: Path, *, disk: Disk, now: float) -> None:
    """Write the report of a crawl, as it is at an instant; costs a look at every record."""
    text = report_page(crawl.job.name, gather(crawl, now=now), now=now)
    disk.make_dir(path.parent)
    with WholeFile(disk, path) as file:
        file.write(text.encode("utf-8", "replace"))
        file.finish()


def gather(crawl: Crawl, *, now: float) -> Findings:
    """Count all that the report tells; memory is bounded by its tables and by what `host_rows` holds."""
    found = Findings(crawl_status(crawl, now=now, full=True))
    with suppress(NothingDue):
        found.budgets = simulate(crawl, budget=None, factors=BUDGETS)
    for name in crawl.layout.segment_ids():
        segment = Segment(crawl.layout.segment(name))
        found.rounds = [*found.rounds, round_of(segment)][-ROUNDS_MAX:]
        if segment.is_done("parsed"):
            for line in rejections(segment):
                found.rejected[line.reason] += line.links
    for p in range(crawl.partitions):
        with CrawlDb(crawl.layout.crawldb(p)) as db:
            for _, record in db.records():
                _add_record(found, record)
            for _, host in db.hosts():
                _add_host(found, host, now)
    found.hosts = nlargest(HOSTS_MAX, host_rows(crawl, now=now), key=lambda row: row.known)
    return found


def report_page(name: str, found: Findings, *, now: float) -> str:
    """Return the page of HTML."""
    return document(
        f"Crawl {name}",
        [
            heading(f"Crawl {name}", level=1),
            paragraph(f"as of {instant(now)}", faint=True),
            paragraph(f"What limits it now: {found.status.limit}"),
            _tiles(found.status),
            figures(_rounds_drawn(found)),
            heading("Rounds"),
            table(_rounds(found.rounds)),
            heading("Pages"),
            figures(_pages_drawn(found)),
            heading("Hosts"),
            paragraph(f"The {len(found.hosts):,} with the most URLs, of {found.status.hosts:,}.", faint=True),
            table(_hosts(found.hosts)),
            heading("What was left out, and why"),
            table(_left_out(found), empty="nothing"),
            heading("Hosts whose robots.txt cannot be had"),
            table(Table(("host", "why"), found.unreachable), empty="none"),
        ],
    )


def _add_record(found: Findings, record: UrlRecord) -> None:
    found.depths[record.depth] += 1
    if record.status not in (PageStatus.FETCHED, PageStatus.DUPLICATE):
        return
    media_type = (record.content_type or "none").partition(";")[0].strip().lower()[:80]
    found.types[media_type if media_type in found.types or len(found.types) < TYPES_MAX else _MORE] += 1
    if record.interval_s is not None:
        found.intervals[_bucket(record.interval_s, _INTERVALS)] += 1
    if record.fetches > 1:
        found.changes[_bucket(record.changes / (record.fetches - 1), _CHANGES)] += 1


def _add_host(found: Findings, host: HostRecord, now: float) -> None:
    if host.response_s is not None:
        found.answers[_bucket(host.response_s, _ANSWERS)] += 1
    if host.robots is not None and host.robots.is_unreachable(now) and len(found.unreachable) < HOSTS_MAX:
        found.unreachable.append((host.host, host.robots.detail or ""))


def _bucket(number: float, bounds: Mapping[str, float]) -> str:
    return next((name for name, bound in bounds.items() if number <= bound), _MORE)


def _tiles(status: CrawlStatus) -> str:
    refetching = []
    if status.freshness is not None and status.freshness.copies:
        refetching += [("of the copies still right", f"{status.freshness.plain:.1%}")]
    if status.budget is not None:
        refetching += [(f"refetches today, of {shown(status.budget.budget)}", shown(status.refetches_today or 0))]
    return tiles(
        [
            ("URLs known", shown(status.known)),
            ("pages", shown(status.statuses["fetched"])),
            ("duplicates", shown(status.duplicates)),
            ("hosts", shown(status.hosts)),
            ("hosts put off", shown(status.put_off_hosts)),
            ("due now", shown(status.ready)),
            ("due within a day", shown(status.due_1d)),
            ("MB of bodies", shown(round(status.body_bytes / 1e6))),
            *refetching,
        ]
    )


def _rounds_drawn(found: Findings) -> list[tuple[str, str]]:
    rounds = found.rounds
    names = [instant(told.created_at)[5:16].replace("T", " ") for told in rounds]
    known = list(accumulate([found.status.known, *(-told.new for told in reversed(rounds[1:]))]))[::-1]
    pages = list(accumulate(told.pages for told in rounds))
    outcomes: Counter[str] = Counter()
    for told in rounds:
        outcomes.update(told.outcomes)
    most = outcomes.most_common(ROWS_MAX)
    return [
        ("URLs known after each round", line_chart("known", names, {"known": known if rounds else []})),
        ("Pages fetched, all rounds so far", line_chart("pages", names, {"pages": pages})),
        ("URLs and pages by round", bar_chart("rounds", names, _by_round(rounds, "urls", "pages"))),
        ("Pages a second by round", bar_chart("rate", names, _by_round(rounds, "pages_per_s"))),
        ("MB by round", bar_chart("bytes", names, {"MB": [told.body_bytes / 1e6 for told in rounds]})),
        ("Outcomes", row_chart("outcomes", [name for name, _ in most], {"URLs": [urls for _, urls in most]})),
    ]


def _by_round(rounds: list[Round], *names: str) -> dict[str, list[float]]:
    return {name: [getattr(told, name) for told in rounds] for name in names}


def _pages_drawn(found: Findings) -> list[tuple[str, str]]:
    depths = sorted(found.depths)[:40]
    types = found.types.most_common(10)
    return [
        ("URLs by depth", bar_chart("depth", list(map(str, depths)), {"URLs": [found.depths[d] for d in depths]})),
        ("Pages by content type", row_chart("types", [name for name, _ in types], {"pages": [n for _, n in types]})),
        ("Pages by fetch interval, at most", _buckets("intervals", found.intervals, _INTERVALS, "pages")),
        ("Pages by how many fetches saw a change", _buckets("changes", found.changes, _CHANGES, "pages")),
        ("Hosts by time to the whole answer, at most", _buckets("answers", found.answers, _ANSWERS, "hosts")),
        ("Copies that would be right, %, by refetches a day", _budgets_drawn(found.budgets)),
    ]


def _budgets_drawn(found: Simulation | None) -> str:
    outlooks = [] if found is None else [one for _, one in found.outlooks]
    series = {
        "by weight": [100 * one.fresh for one in outlooks],
        "all at one interval": [100 * one.fresh_alike for one in outlooks],
    }
    return line_chart("budgets", [shown(round(one.fetches_a_day, 1)) for one in outlooks], series)


def _buckets(name: str, counts: Counter[str], bounds: Mapping[str, float], what: str) -> str:
    labels = [*bounds, _MORE]
    return bar_chart(name, labels, {what: [counts[label] for label in labels]})


def _rounds(rounds: list[Round]) -> Table:
    head = ("segment", "URLs", "hosts", "pages", "new URLs", "links", "MB", "pages/s", "minutes", "ended")
    return Table(
        head,
        [
            (
                *(told.segment, told.urls, told.hosts, told.pages, told.new, told.links, told.body_bytes / 1e6),
                *(told.pages_per_s, told.duration_s / 60, told.why),
            )
            for told in reversed(rounds)
        ],
    )


def _hosts(rows: list[HostRow]) -> Table:
    head = ("host", "URLs", "pages", "due", "later", "requests", "MB", "delay, s", "answer, s", "why")
    return Table(
        head,
        [
            (
                *(row.host, row.known, row.fetched, row.due, row.waiting, row.requests, row.body_bytes / 1e6),
                *(row.delay_s, row.response_s, row.reason),
            )
            for row in rows
        ],
    )


def _left_out(found: Findings) -> Table:
    status = found.status
    rows: list[tuple[str, str, int, str]] = [
        ("link", reason, links, "") for reason, links in sorted(found.rejected.items(), key=lambda entry: -entry[1])
    ]
    rows += [
        ("trap or budget", name, trap.urls + trap.rejected, f"most on {trap.most}")
        for name, trap in sorted(status.traps.items())
    ]
    rows += [
        ("page", name, status.statuses[name], "") for name in ("blocked", "skipped", "gone") if status.statuses[name]
    ]
    rows += [("fetch, last rounds", name, times, "") for name, times in status.errors.most_common()]
    return Table(("what", "reason", "times", "where"), rows)
