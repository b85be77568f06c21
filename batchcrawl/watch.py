"""Watch: how a crawl stands now and what the step that works on it has done so far, again and again.

Reads: manifests, fetch lists and growing logs of segments, crawldb. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import msgspec

from batchcrawl.job.crawl import Crawl
from batchcrawl.model.entries import FetchEntry, FetchLogLine
from batchcrawl.standing import FAILURES, CrawlStatus, crawl_status
from batchcrawl.store.lock import holder_of
from batchcrawl.store.log_follower import LogFollower
from batchcrawl.store.metrics import Sample, family, segment_metrics
from batchcrawl.store.records import line_file_info, read_lines
from batchcrawl.store.segment import COMMANDS, Segment
from batchcrawl.store.snapshot import snapshots

BUCKET_S = 10
"""The rate is told for spans of so many seconds."""
BUCKETS = 180
LAST_MAX = 40
HOSTS_MAX = 25
_TEXT_MAX = 500
"""Longer words of the web are cut."""


class RatePoint(msgspec.Struct):
    """What came within a span of BUCKET_S seconds."""

    at: int
    """Its beginning."""
    pages: int = 0
    outcomes: int = 0
    body_bytes: int = 0


class Last(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An outcome of a URL."""

    at: float
    outcome: str
    url: str
    status: int | None = None
    detail: str | None = None


class HostLeft(msgspec.Struct):
    """A host with URLs that have no outcome yet."""

    host: str
    left: int


class SegmentNow(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A segment and how far its next step is."""

    id: str
    step: str | None = None
    """The command that is next or at work; absent when all are done."""
    done: int = 0
    """URLs fetched, or pages parsed; of other steps nothing is told before their end."""
    total: int = 0
    urls: int = 0
    hosts: int = 0
    hosts_left: int = 0
    hosts_waiting: list[HostLeft] = []
    """Those with the most URLs left."""
    outcomes: dict[str, int] = {}
    errors: dict[str, int] = {}
    """Those of the outcomes that did not give what was asked for."""
    body_bytes: int = 0
    rate: list[RatePoint] = []
    last: list[Last] = []
    """The newest first."""
    last_errors: list[Last] = []


class Live(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a dashboard shows."""

    job: str
    at: float
    at_work: int | None = None
    """The process that works on the crawl."""
    segment: SegmentNow | None = None
    """The one that is fetched now, or else the newest."""
    unfinished: dict[str, str] = {}
    """Segments with a step left, and its command."""
    status: CrawlStatus | None = None
    """Absent until it was counted for the first time."""
    status_at: float | None = None
    problem: str | None = None
    """Why something could not be looked at."""


class Watcher:
    """Looks at a crawl. `look` and `take_stock` may be called from a thread each, and by one thread at a time."""

    def __init__(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._followed: _Followed | None = None
        self._status: tuple[CrawlStatus, float] | None = None
        self._done: set[str] = set()
        """Segments that have no step left; that stays so."""

    def take_stock(self, *, now: float) -> None:
        """Count what the crawldb holds; costs a look at every host and index entry."""
        layout = self._crawl.layout
        with snapshots(layout.crawldbs, range(self._crawl.partitions)) as folder:
            crawl = replace(self._crawl, layout=replace(layout, snapshot=folder))
            self._status = crawl_status(crawl, now=now), now

    def look(self, *, now: float) -> Live:
        """Return the state; costs what has been logged since the last look."""
        layout = self._crawl.layout
        live = Live(job=self._crawl.job.name, at=now, at_work=holder_of(layout.lock))
        if self._status is not None:
            live.status, live.status_at = self._status
        unfinished = self._unfinished()
        live.unfinished = {name: COMMANDS[step] for name, step in unfinished.items()}
        fetching = [name for name, step in unfinished.items() if step == "fetched"]
        shown = fetching[:1] or layout.segment_ids()[-1:]
        live.segment = self._segment(shown[0], now) if shown else None
        return live

    def metrics(self, *, now: float) -> str:
        """Return the state in Prometheus' text format: what --metrics writes of the newest segment, and what is now."""
        live, layout = self.look(now=now), self._crawl.layout
        ids = layout.segment_ids()
        told = [segment_metrics(Segment(layout.segment(ids[-1])))] if ids else []
        return "".join([*told, *_families(live)])

    def _unfinished(self) -> dict[str, str]:
        """Return the segments with a step left, and its stamp."""
        unfinished = {}
        for name in self._crawl.layout.segment_ids():
            if name in self._done:
                continue
            step = Segment(self._crawl.layout.segment(name)).next_step()
            if step is None:
                self._done.add(name)
            else:
                unfinished[name] = step
        return unfinished

    def _segment(self, name: str, now: float) -> SegmentNow:
        segment = Segment(self._crawl.layout.segment(name))
        followed = self._followed
        if followed is None or not followed.is_of(segment) or followed.was_cut:
            followed = _Followed(segment)
        self._followed = None  # unless all of it can be read
        told = followed.look(segment, now)
        self._followed = followed
        return told


class _Followed:
    """What has been read of one segment."""

    def __init__(self, segment: Segment) -> None:
        partitions = range(segment.manifest.partitions)
        self._name = segment.content_name
        self._logs = [LogFollower(segment.paths.fetch_log(p), FetchLogLine) for p in partitions]
        self._left: Counter[str] = Counter()
        for p in partitions:
            self._left.update(entry.host for entry in read_lines(segment.paths.fetch_list(p), FetchEntry))
        self._outcomes: Counter[str] = Counter()
        self._body_bytes = 0
        self._rate: deque[RatePoint] = deque(maxlen=BUCKETS)
        self._last: deque[Last] = deque(maxlen=LAST_MAX)
        self._last_errors: deque[Last] = deque(maxlen=LAST_MAX)
        self._parsed: dict[str, int] = {}
        """Lines of each chunk of pages; a chunk never changes."""

    @property
    def was_cut(self) -> bool:
        return any(log.was_cut for log in self._logs)

    def is_of(self, segment: Segment) -> bool:
        return self._name == segment.content_name

    def look(self, segment: Segment, now: float) -> SegmentNow:
        for log in self._logs:
            while lines := log.next_lines():
                for line in lines:
                    self._take(line)
        step = segment.next_step()
        done, total = self._progress(segment, step)
        left = sorted(self._left.items(), key=lambda host: (-host[1], host[0]))
        return SegmentNow(
            id=segment.id,
            step=None if step is None else COMMANDS[step],
            done=done,
            total=total,
            urls=segment.manifest.urls,
            hosts=segment.manifest.hosts,
            hosts_left=len(left),
            hosts_waiting=[HostLeft(host[:_TEXT_MAX], urls) for host, urls in islice(left, HOSTS_MAX)],
            outcomes=dict(self._outcomes.most_common()),
            errors={name: times for name, times in self._outcomes.most_common() if name in FAILURES},
            body_bytes=self._body_bytes,
            rate=list(self._points(now)),
            last=sorted(self._last, key=lambda last: -last.at),
            last_errors=sorted(self._last_errors, key=lambda last: -last.at),
        )

    def _take(self, line: FetchLogLine) -> None:
        outcome = line.outcome.value
        self._outcomes[outcome] += 1
        self._body_bytes += line.body_bytes or 0
        self._left[line.host] -= 1
        if self._left[line.host] <= 0:
            del self._left[line.host]
        point = self._point(int(line.ended_at or 0) // BUCKET_S * BUCKET_S)
        point.outcomes += 1
        point.pages += outcome in ("fetched", "not_modified")
        point.body_bytes += line.body_bytes or 0
        last = Last(
            at=line.ended_at or 0.0,
            outcome=outcome,
            url=line.url[:_TEXT_MAX],
            status=line.status,
            detail=(line.detail or line.redirect or "")[:_TEXT_MAX] or None,
        )
        self._last.append(last)
        if outcome in FAILURES:
            self._last_errors.append(last)

    def _point(self, at: int) -> RatePoint:
        """Return the span that an instant is in; logs of several partitions are only about in order."""
        for point in reversed(self._rate):
            if point.at == at:
                return point
        self._rate.append(RatePoint(at))
        return self._rate[-1]

    def _points(self, now: float) -> Iterator[RatePoint]:
        """Yield the spans up to now or, of a fetch that is over, up to its last; those in which nothing came, too."""
        points = {point.at: point for point in self._rate}
        if not points:
            return
        end = int(now) // BUCKET_S * BUCKET_S
        end = end if end - max(points) < BUCKETS * BUCKET_S else max(points)
        begin = max(min(points), end - (BUCKETS - 1) * BUCKET_S)
        for at in range(begin, end + 1, BUCKET_S):
            yield points.get(at) or RatePoint(at)

    def _progress(self, segment: Segment, step: str | None) -> tuple[int, int]:
        if step == "fetched":
            return self._outcomes.total(), segment.manifest.urls
        if step != "parsed":
            return 0, 0
        for p in range(segment.manifest.partitions):
            for path in segment.paths.all_pages(p):
                if path.name not in self._parsed:
                    self._parsed[path.name] = line_file_info(path).lines
        counts = segment.step("fetched").counts
        total = counts.get("fetched", 0) + counts.get("redirect", 0) - counts.get("revisits", 0)
        return sum(self._parsed.values()), max(total, 0)


def _families(live: Live) -> Iterator[str]:
    job = {"job": live.job}
    yield family("at_work", "1 while a process works on the crawl.", [(job, int(live.at_work is not None))])
    if live.segment is not None:
        outcomes: list[Sample] = [({**job, "outcome": name}, n) for name, n in live.segment.outcomes.items()]
        yield family("segment_outcomes", "Outcomes of the segment that is fetched now, or was last.", outcomes)
        yield family("segment_hosts_left", "Hosts of it with URLs left.", [(job, live.segment.hosts_left)])
    status = live.status
    if status is None or live.status_at is None:
        return
    known: list[Sample] = [({**job, "status": name}, urls) for name, urls in sorted(status.statuses.items())]
    yield family("urls", "URLs known, by page status.", known)
    numbers = {"ready": status.ready, "hosts": status.hosts, "hosts_put_off": status.put_off_hosts}
    for name, number in numbers.items():
        yield family(f"crawl_{name}", f"As status counts: {name.replace('_', ' ')}.", [(job, number)])
    yield family("crawl_age_seconds", "How long ago that was counted.", [(job, live.at - live.status_at)])
