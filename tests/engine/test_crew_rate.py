"""What a crew makes of its threads, by the virtual clock: delays cost it nothing, and slow hosts next to nothing."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from batchcrawl.engine.control import Control
from batchcrawl.engine.crew import SLOW_S, After, Crew
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.frontier import Frontier, Taken
from batchcrawl.policy.politeness import DelayRules, HostPoliteness
from tests.support.virtual_time import VirtualTime

RULES = DelayRules(delay_min_s=1.0, delay_max_s=60.0, response_factor=5.0)
ANSWER_S = 0.1
SILENCE_S = 10.0


class Crawl:
    """Hosts that answer after a tenth of a second, and some that let ten seconds go by, by a number of threads."""

    def __init__(
        self, hosts: Iterable[str], *, pages: int, threads: int, reserve: int = 0, silent: frozenset[str] = frozenset()
    ) -> None:
        self._silent = silent
        self._frontier: Frontier[int] = Frontier([0])
        self._politeness = {host: HostPoliteness.start(RULES) for host in hosts}
        for page in range(pages):
            for host in self._politeness:
                self._frontier.add(0, host, page)
        for host in self._politeness:
            self._frontier.set_gates(host, {f"domain {host}": 0.5, f"at {host}": 0.4})
        self.time = VirtualTime(threads=threads + reserve, finished=lambda: not self._frontier.left)
        self.ends: list[float] = []
        """When each page of a host that answers had come."""
        crew = Crew(
            self._frontier,
            self._visit,
            lambda _: None,
            threads=threads,
            reserve=reserve,
            clock=self.time,
            turn=self.time,
        )
        crew.run(Control(), time_limit_s=None, on_tick=lambda: None)

    @property
    def rate(self) -> float:
        """Pages a second of the hosts that answer."""
        return len(self.ends) / max(self.ends)

    def _visit(self, taken: Taken[int]) -> After:
        silent, host = taken.host in self._silent, self._politeness[taken.host]
        self.time.sleep(SILENCE_S if silent else ANSWER_S)
        now = self.time.now()
        if silent:
            host = host.after(FetchOutcome.TIMEOUT, now=now)
        else:
            host = host.after(FetchOutcome.FETCHED, status=200, response_s=ANSWER_S, now=now)
            self.ends.append(now)
        self._politeness[taken.host] = host
        return After(wait_s=host.next_contact(now) - now, drop_host=host.put_off)


def _hosts(number: int) -> list[str]:
    return [f"host{n}" for n in range(number)]


def test_with_threads_to_spare_only_the_delays_bound_the_rate() -> None:
    crawl = Crawl(_hosts(2000), pages=3, threads=250)
    first_turn_s = 2000 * ANSWER_S / 250
    ideal_s = first_turn_s + 2 * (RULES.delay_min_s + ANSWER_S)
    assert crawl.rate >= 0.95 * 2000 * 3 / ideal_s


def test_with_few_threads_only_the_answers_bound_the_rate() -> None:
    crawl = Crawl(_hosts(2000), pages=3, threads=100)
    assert crawl.rate >= 0.95 * 100 / ANSWER_S


def test_a_silent_tenth_of_the_hosts_takes_less_than_a_twentieth_of_the_rate_of_the_others() -> None:
    hosts = _hosts(200)
    silent = frozenset(hosts[::10])
    others = [host for host in hosts if host not in silent]
    without = Crawl(others, pages=30, threads=10)
    crawl = Crawl(hosts, pages=30, threads=10, reserve=30, silent=silent)
    assert len(crawl.ends) == len(without.ends)
    assert crawl.rate >= 0.95 * without.rate


VISITS = st.dictionaries(
    st.integers(0, 9).map(str),
    st.lists(st.tuples(st.sampled_from([0.0, 0.125, 0.5, 3.0]), st.sampled_from([0.0, 0.25, 1.0, 9.0])), max_size=5),
)
"""By host: how long each visit lasts, and how long the host is left alone after it, in sums without rounding."""


@settings(deadline=None)
@given(visits=VISITS, threads=st.integers(1, 4), reserve=st.integers(0, 4))
def test_no_host_waits_beyond_its_time_while_a_thread_may_take_it(
    visits: dict[str, list[tuple[float, float]]], threads: int, reserve: int
) -> None:
    frontier: Frontier[tuple[float, float]] = Frontier([0])
    for host, items in visits.items():
        for item in items:
            frontier.add(0, host, item)
    time = VirtualTime(threads=threads + reserve, finished=lambda: not frontier.left)
    due = dict.fromkeys(visits, 0.0)
    running: dict[str, float] = {}
    changed_at = 0.0
    """When a thread last became free, or a visit last became slow."""

    def visit(taken: Taken[tuple[float, float]]) -> After:
        nonlocal changed_at
        now, (lasts_s, wait_s) = time.now(), taken.item
        slow = [began for began in running.values() if began + SLOW_S <= now]
        assert taken.host not in running
        assert len(running) - len(slow) < threads
        changed = max([changed_at, *(began + SLOW_S for began in slow)])
        assert now == due[taken.host] or now == changed
        running[taken.host] = now
        time.sleep(lasts_s)
        changed_at = time.now()
        del running[taken.host]
        due[taken.host] = changed_at + wait_s
        return After(wait_s=wait_s)

    crew = Crew(frontier, visit, lambda _: None, threads=threads, reserve=reserve, clock=time, turn=time)
    crew.run(Control(), time_limit_s=None, on_tick=lambda: None)
    assert frontier.left == 0
