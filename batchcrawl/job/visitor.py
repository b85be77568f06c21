"""A worker's visit of one URL: robots.txt first, then the page, then its line in the log."""

from collections import Counter
from collections.abc import Iterable
from contextlib import closing

from batchcrawl.engine.control import Control
from batchcrawl.engine.crew import After
from batchcrawl.job.client import client_settings, delay_rules, gaps, wanted_types
from batchcrawl.job.crawl import Crawl
from batchcrawl.model.clock import Clock
from batchcrawl.model.entries import FetchEntry, FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.host import RobotsHop
from batchcrawl.model.kind import UrlKind
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.net.failure import printable
from batchcrawl.net.robots import ask_for_robots, first_hop
from batchcrawl.policy.frontier import Taken
from batchcrawl.policy.host_state import HostState, follow_on, host_states, replay
from batchcrawl.policy.log_lines import answered, failed, unasked
from batchcrawl.policy.politeness import REACTIONS, HostPoliteness
from batchcrawl.policy.revisits import VALIDATORS_FAILED, find_revisit, validators
from batchcrawl.store.fetch_output import FetchOutput
from batchcrawl.web.urls import host_name

ROBOTS_FP = "robots.txt"
"""Stands for the fingerprint in the record ids of robots.txt, which is no page."""


class Visitor:
    """Visits one entry after another: robots.txt first, then the page, then the log."""

    def __init__(
        self,
        crawl: Crawl,
        sheets: Iterable[HostSheet],
        output: FetchOutput,
        *,
        clock: Clock,
        threads: int,
        hosts_kept: int,
    ) -> None:
        """`sheets` are the hosts of the entries that it is to visit; to `hosts_kept` of them connections stay open."""
        job = crawl.job
        self._clock = clock
        self._output = output
        self._client = Client(
            client_settings(job, threads=threads, hosts_kept=hosts_kept), clock, open_spool=output.spool
        )
        self._token = job.product_token
        self._robots_ttl_s = job.settings.fetch.robots_ttl_s
        self._own_headers = tuple(job.settings.fetch.headers.items())
        self._full_every = job.settings.fetch.full_every if job.settings.fetch.conditional else 1
        self._wants = wanted_types(job)
        self._sitemap_bytes_max = max(job.settings.fetch.body_bytes_max, job.settings.sitemaps.bytes_max)
        self._tries: Counter[str] = Counter()
        self._cookies: dict[str, str] = {}
        """What a URL that redirects to itself is asked past with, by its fingerprint; a robots.txt by its host."""
        self._unconditional: set[str] = set()
        """Fingerprints of URLs that were refused because of their validators (412) and are asked for without any."""
        self._gaps = gaps(job, partitions=crawl.partitions)
        self._hosts = host_states(sheets, delay_rules(job), at=clock.now())
        self._without_robots: list[HostState] = []
        """Hosts whose robots.txt a power failure took."""
        self.body_bytes = 0

    def recall(self, earlier: Iterable[HostLogLine]) -> None:
        """Learn what host logs of earlier segments tell that the sheets do not know of, then what the own logs tell."""
        follow_on(self._hosts, earlier)
        self._without_robots = replay(self._hosts, self._output.host_lines(), self._output.lines())

    @property
    def names(self) -> dict[str, int]:
        """How often a host name was looked up, how often that needed no question or found nothing; without zeros."""
        found = self._client.resolver_counts
        counts = {"asked": found.asked, "cached": found.cached, "failed": found.failed + found.silent}
        return {f"names_{name}": number for name, number in counts.items() if number}

    @property
    def hosts(self) -> int:
        """Hosts of the partition."""
        return len(self._hosts)

    def visit(self, taken: Taken[FetchEntry]) -> After:
        """Give an entry its outcome, or find that the host needs something else first."""
        entry, now = taken.item, self._clock.now()
        host = self._hosts[entry.host]
        if not host.located and self._gaps.address_s > 0:
            return self._locate(host)
        if host.follow_domain(now) and not host.politeness.put_off:
            return After(wait_s=host.wait_s(now), again=True)
        if host.needs_robots(now) and not host.politeness.put_off:
            self._ask_for_robots(host)
            return After(wait_s=host.owed_s, again=True)
        host.refuse_delay(now)
        if host.politeness.put_off:
            self._log(host, unasked(entry, FetchOutcome.DEFERRED, host.why_put_off, at=now))
            return After(wait_s=0.0, drop_host=True)
        if not host.allowed.allowed(self._token, entry.url):
            why = host.allowed.deciding_line(self._token, entry.url).reason
            self._log(host, unasked(entry, FetchOutcome.ROBOTS_DENIED, printable(why), at=now))
            return After(wait_s=0.0)
        return self._visit_page(host, entry)

    def defer(self, entries: list[FetchEntry]) -> None:
        """Give entries of a host that is put off back to the crawldb; none of them was next."""
        now, why = self._clock.now(), self._hosts[entries[0].host].why_put_off
        self._output.log(*(unasked(entry, FetchOutcome.DEFERRED, why, at=now) for entry in entries))

    def give_back(self, entries: list[FetchEntry]) -> None:
        """Give what the step had no time for back to the crawldb; the first entry of each host was next."""
        now = self._clock.now()
        lines = [unasked(entry, FetchOutcome.TIME_LIMIT, "the step's time was over", at=now) for entry in entries]
        for line in {line.host: line for line in reversed(lines)}.values():
            self._take_turn(self._hosts[line.host], line)
        self._output.log(*lines)

    def recover_robots(self, control: Control) -> None:
        """Ask again for each robots.txt that a power failure took."""
        for host in self._without_robots:
            while not control.stopping and self._ask_for_robots(host):
                pass

    def gates(self) -> dict[str, dict[str, float]]:
        """Return the gaps in seconds that each host shares with others, by the name of what is shared."""
        return {name: self._gates(host) for name, host in self._hosts.items()}

    def waits(self, *, was_cut: bool) -> dict[str, float]:
        """Return the hosts that are to be left alone for a while, and for how many seconds.

        A step that was killed leaves no trace of the requests that were under way: any host may have had one.
        """
        now, waits = self._clock.now(), {}
        for name, host in self._hosts.items():
            delay_s = host.politeness.delay_s if was_cut and not host.politeness.put_off else 0.0
            waits[name] = max(host.wait_s(now), delay_s)
        return {name: wait_s for name, wait_s in waits.items() if wait_s}

    def close(self) -> None:
        """Write down what was learned of the hosts, and close the connections."""
        now = self._clock.now()
        for host in self._hosts.values():
            if host.changed:
                self._output.log_host(host.last_line(now))
        self._client.close()

    def _gates(self, host: HostState) -> dict[str, float]:
        domain, address = f"domain {host.registered_domain}", f"at {host.address}"
        gaps_s = {domain: self._gaps.domain_s, address: self._gaps.address_s}
        return {name: gap_s for name, gap_s in gaps_s.items() if gap_s > 0 and name != "at None"}

    def _locate(self, host: HostState) -> After:
        """Find a host's address before its first request, so that the gap of the address holds for that, too."""
        host.located = True
        host.address = self._client.address_of(host_name(host.name)) or host.address
        return After(wait_s=host.wait_s(self._clock.now()), again=True, gates=self._gates(host))

    def _ask_for_robots(self, host: HostState) -> bool:
        """Send one request for robots.txt; return whether there is to be another, to where a redirect leads."""
        hop = host.robots_hop or first_hop(host.name, ttl_s=self._robots_ttl_s)
        cookie = self._cookies.pop(host.name, None)
        got = ask_for_robots(self._client, hop, self._clock, previous=host.robots, cookie=cookie)
        if isinstance(got.answer, Answer):
            with closing(got.answer):
                self._output.store(got.answer, fp=ROBOTS_FP)
        if got.cookie is not None:
            self._cookies[host.name] = got.cookie
        if isinstance(got.found, RobotsHop):
            host.learn_hop(got.found, got.answer.ended_at)
        else:
            host.learn_robots(got.found, self._token, got.answer)
        self._output.log_host(host.line(self._clock.now()))
        return host.robots_hop is not None

    def _visit_page(self, host: HostState, entry: FetchEntry) -> After:
        delay_s = host.politeness.delay_s
        self._tries[entry.fp] += 1
        asked = [] if entry.fp in self._unconditional else validators(entry, full_every=self._full_every)
        cookie = self._cookies.pop(entry.fp, None)
        named = entry.kind is UrlKind.SITEMAP  # may be of any type, and as large as sitemaps may be
        result = self._client.get(
            entry.url,
            headers=[*self._own_headers, *asked],
            wants=None if named else self._wants,
            cookie=cookie,
            body_bytes_max=self._sitemap_bytes_max if named else None,
        )
        ended = self._clock.monotonic()
        if isinstance(result, NoAnswer):
            line = failed(entry, result)
        else:
            with closing(result):
                if self._is_asked_past(host, entry, result, cookie, conditional=bool(asked)):
                    return self._ask_again(host)
                line = self._stored(entry, result, conditional=bool(asked))
        line.delay_s = delay_s
        host.learn_answer(line)
        if _is_tried_again(line.outcome, host.politeness, tries=self._tries[entry.fp]):
            return self._ask_again(host)
        wait_s = max(0.0, host.owed_s - (self._clock.monotonic() - ended))
        self._log(host, line)
        self.body_bytes += line.body_bytes or 0
        return After(wait_s=wait_s, drop_host=host.politeness.put_off)

    def _ask_again(self, host: HostState) -> After:
        """Leave a URL the next of its host, and write down the pause, which no line of the fetch log tells."""
        self._output.log_host(host.line(self._clock.now()))
        return After(wait_s=host.owed_s, again=True)

    def _is_asked_past(
        self, host: HostState, entry: FetchEntry, answer: Answer, cookie: str | None, *, conditional: bool
    ) -> bool:
        """Keep an answer that says nothing of the page, and tell whether it was one: its URL is next again.

        That is a redirect to itself that wants a cookie, or a 412 because of validators. Each is asked past once.
        """
        wanted = self._client.cookie_past(answer) if cookie is None else None
        if wanted is not None:
            self._cookies[entry.fp] = wanted
        elif conditional and answer.status == VALIDATORS_FAILED:
            self._unconditional.add(entry.fp)
        else:
            return False
        self._output.store(answer, fp=entry.fp)
        host.rest(answer.ended_at)
        return True

    def _stored(self, entry: FetchEntry, answer: Answer, *, conditional: bool) -> FetchLogLine:
        line = answered(entry, answer, conditional=conditional)
        revisit = find_revisit(entry, answer, line.outcome)
        at = self._output.store(answer, fp=entry.fp, revisit=revisit)
        line.digest, line.warc, line.offset, line.length = at.digest, at.file, at.offset, at.length
        if revisit is not None:
            line.revisit, line.body_at, line.body_segment = revisit.profile, entry.body_at, entry.body_segment
        return line

    def _log(self, host: HostState, line: FetchLogLine) -> None:
        """Write down the outcome of the URL that was the next of its host."""
        self._take_turn(host, line)
        self._output.log(line)

    def _take_turn(self, host: HostState, line: FetchLogLine) -> None:
        line.queued_at, line.tries = host.next_at, self._tries.pop(line.fp, 0)
        host.next_at = line.ended_at or host.next_at


def _is_tried_again(outcome: FetchOutcome, polite: HostPoliteness, *, tries: int) -> bool:
    reaction = REACTIONS.get(outcome)
    return reaction is not None and tries < reaction.tries and not polite.put_off
