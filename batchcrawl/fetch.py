"""Fetch: the URLs of a segment are asked for, politely, and every one gets its outcome.

Reads: fetch list, host sheet, the network. Writes: WARC files, fetch log, host log.
Commits by: appending to the log, synced in groups; the stamp `.fetched` once all files are sealed.
If killed: the log says what is done; the same command cuts the torn tails and fetches the rest.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from batchcrawl.engine.control import Control, Progress
from batchcrawl.engine.crew import Crew
from batchcrawl.engine.partitions import run_partitions
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.load import require_contact
from batchcrawl.job.visitor import Visitor
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchEntry, FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.frontier import Frontier
from batchcrawl.policy.priority import draw_pattern
from batchcrawl.store.disk import Disk
from batchcrawl.store.fetch_output import FetchOutput
from batchcrawl.store.layout import SegmentPaths
from batchcrawl.store.open_files import allow_open_files
from batchcrawl.store.records import FileInfo, read_lines, read_log
from batchcrawl.store.segment import Segment, StepInfo, fetched_since
from batchcrawl.store.space import below_floor
from batchcrawl.store.upkeep import Upkeep
from batchcrawl.web.urls import host_name

SYNC_S = 1.0
"""Longest time between a line's append and its sync."""
RESERVE_TIMES = 3
"""So many times the job's threads stand by for those that wait for slow hosts."""
RESERVE_MAX = 256
"""And no more of a partition: each may hold a connection."""
FILES_OF_THREAD = 4
"""A connection, two files of a large body, and one more connection that is kept."""
OTHER_FILES = 1000
"""Those of the resolver, logs and WARC files."""
KEPT_MAX = 1500
"""Connections of a partition that stay open while their hosts wait for their delay: a new one costs as much as a page,
and a kept one some 10 kB, with TLS 30."""


@dataclass(frozen=True)
class Task:
    """What a partition needs to know."""

    crawl: Crawl
    segment: Segment
    partition: int
    threads: int
    disk: Disk
    clock: Clock
    since: tuple[SegmentPaths, ...] = ()
    """Segments that were fetched since this one was made, oldest first: its host sheets do not know of them."""


@dataclass
class Fetched:
    """What a partition's fetch ended with."""

    counts: Counter[str] = field(default_factory=Counter)
    files: dict[str, FileInfo] = field(default_factory=dict)


def fetch(crawl: Crawl, segment: Segment, *, disk: Disk, clock: Clock, control: Control) -> Counter[str]:
    """Fetch what is left of a segment and return its outcomes.

    Raises Interrupted when asked to stop, and DiskFull when less space is left than the job's floor; the segment stays
    as it is, to be continued.
    """
    segment.require("fetchlist", "hosts", partitions=crawl.partitions)
    if (full := below_floor(segment.path, crawl.job.settings.fetch.disk_free_min)) is not None:
        raise full
    hosts = [segment.entry(f"hosts/{p}.jsonl.zst").lines for p in range(crawl.partitions)]
    require_contact(
        crawl.job, (host_name(sheet.host) for p in range(crawl.partitions) for sheet in _sheets(segment, p))
    )
    threads = crawl.job.settings.fetch.threads
    since = tuple(fetched_since(crawl.layout, segment))
    shares = [_share(threads, count, sum(hosts)) for count in hosts]
    tasks = [Task(crawl, segment, p, share, disk, clock, since) for p, share in enumerate(shares)]
    counts: Counter[str] = Counter()
    files: dict[str, FileInfo] = {}
    for part in run_partitions(fetch_partition, tasks, parallel=crawl.partitions, control=control):
        counts.update(part.counts)
        files |= part.files
    reason = "time limit" if counts[FetchOutcome.TIME_LIMIT.value] else None
    info = StepInfo(ended_at=clock.now(), counts=dict(sorted(counts.items())), reason=reason)
    segment.finish(disk, "fetched", info, files)
    return counts


def fetch_partition(task: Task, control: Control) -> Fetched:
    """Fetch what is left of one partition's fetch list."""
    job, paths = task.crawl.job, task.segment.paths
    was_cut = paths.fetch_log(task.partition).exists()
    output = FetchOutput(
        task.disk,
        paths,
        task.partition,
        info={"http-header-user-agent": job.user_agent, "operator": job.settings.contact or "not given"},
        clock=task.clock,
        warc_bytes_max=job.settings.fetch.warc_bytes_max,
    )
    try:
        names = _fetch_rest(task, output, control, was_cut=was_cut)
    except BaseException:
        output.suspend()
        raise
    result = Fetched(Counter(names), output.seal())
    for line in read_log(paths.fetch_log(task.partition), FetchLogLine, sealed=True):
        result.counts[line.outcome.value] += 1
        result.counts["body_bytes"] += line.body_bytes or 0
        if line.revisit is not None:
            result.counts["revisits"] += 1
    return result


def _fetch_rest(task: Task, output: FetchOutput, control: Control, *, was_cut: bool) -> dict[str, int]:
    """Return how host names were found, as counts of the step."""
    settings = task.crawl.job.settings.fetch
    entries = list(read_lines(task.segment.paths.fetch_list(task.partition), FetchEntry))
    frontier: Frontier[FetchEntry] = Frontier(draw_pattern(sorted({e.level for e in entries})) or [0])
    logged = output.logged()
    for entry in entries:
        if entry.fp not in logged:
            frontier.add(entry.level, entry.host, entry)
    sheets = _sheets(task.segment, task.partition)
    kept = _connections_kept(task)
    visitor = Visitor(task.crawl, sheets, output, clock=task.clock, threads=task.threads, hosts_kept=kept)
    logs = (other.host_log(task.partition) for other in task.since)
    visitor.recall(line for log in logs for line in read_log(log, HostLogLine, sealed=True))
    visitor.recover_robots(control)
    for host, gaps_s in visitor.gates().items():
        frontier.set_gates(host, gaps_s)
    for host, wait_s in visitor.waits(was_cut=was_cut).items():
        frontier.put_off(host, until=task.clock.monotonic() + wait_s)
    crew = Crew(
        frontier,
        visitor.visit,
        visitor.defer,
        threads=task.threads,
        reserve=_reserve(task.threads, visitor.hosts),
        clock=task.clock,
    )
    upkeep = Upkeep(task.clock, output, every_s=SYNC_S, floor_bytes=settings.disk_free_min)

    def on_tick() -> None:
        if upkeep.tick():
            control.wind_down()
        active, waiting = crew.active_and_waiting()
        done = len(entries) - frontier.left
        control.report(Progress(done, len(entries), visitor.body_bytes, active, waiting))

    on_tick()  # also a partition with nothing left counts in the total
    crew.run(control, time_limit_s=settings.time_limit_s, on_tick=on_tick)
    visitor.close()
    if upkeep.full is not None:
        raise upkeep.full
    control.raise_if_stopping()
    visitor.give_back(frontier.drain())
    return visitor.names


def _sheets(segment: Segment, p: int) -> Iterator[HostSheet]:
    return read_lines(segment.paths.host_sheet(p), HostSheet)


def _connections_kept(task: Task) -> int:
    """Return how many connections may stay open, and raise the limit of open files.

    That limit is no host's fault: a socket that cannot be opened would be taken for one.
    """
    files = OTHER_FILES + FILES_OF_THREAD * (1 + RESERVE_TIMES) * task.threads
    return max(0, allow_open_files(files + KEPT_MAX) - files)


def _share(threads: int, hosts: int, everybody: int) -> int:
    """Divide the threads by hosts, since a host takes one at a time; never more than hosts."""
    return min(hosts, max(1, threads * hosts // max(1, everybody)))


def _reserve(threads: int, hosts: int) -> int:
    """Return how many threads stand by for those that slow hosts hold."""
    return max(0, min(RESERVE_TIMES * threads, RESERVE_MAX, hosts - threads))
