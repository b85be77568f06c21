import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.entries import FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.exchange import NoAnswer
from batchcrawl.model.host import RobotsCopy
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.domain_state import DomainState
from batchcrawl.policy.host_state import HostState, follow_on, host_states, replay
from batchcrawl.policy.politeness import DelayRules
from tests.support.exchanges import answer

HOST = "http://a.test"
RULES = DelayRules(delay_min_s=1.0, delay_max_s=60.0, response_factor=5.0)
SHEET = HostSheet(host=HOST, domain="a.test", urls=9)
ROBOTS = RobotsCopy(fetched_at=10.0, expires_at=99.0, status=200, text="User-agent: *\nCrawl-delay: 3\nDisallow: /no")
UNREACHABLE = RobotsCopy(fetched_at=10.0, expires_at=99.0, status=500, unreachable_since=10.0)
DAY_S = 86_400.0


def host_state(sheet: HostSheet = SHEET, *, domain: DomainState | None = None, at: float = 0.0) -> HostState:
    return HostState(sheet, RULES, domain or DomainState.of(sheet, RULES), at=at)


def get_robots(
    host: HostState, copy: RobotsCopy, *, at: float | None = None, status: int = 200, retry_after: str | None = None
) -> None:
    """Let a host learn a copy from an answer with a status."""
    fields = () if retry_after is None else (("Retry-After", retry_after),)
    ended_at = copy.fetched_at if at is None else at
    got = answer(status=status, headers=fields, started_at=ended_at, ended_at=ended_at)
    host.learn_robots(copy, "batchcrawl", got)


def asked(at: float, outcome: FetchOutcome, *, status: int | None, took_s: float) -> FetchLogLine:
    """Return the line of an answer, or with status None of a failure, after one request."""
    return FetchLogLine(
        fp="", url="", host=HOST, outcome=outcome, status=status, started_at=at, ended_at=at + took_s, tries=1
    )


ANSWERS = st.sampled_from(
    [
        (FetchOutcome.FETCHED, 200, None),
        (FetchOutcome.NOT_FOUND, 404, None),
        (FetchOutcome.SERVER_ERROR, 500, None),
        (FetchOutcome.TLS_FAILED, None, None),
        (FetchOutcome.DEFERRED, 503, "120"),
    ]
)
CRAWL_DELAYS = st.sampled_from([None, 2.0, 30.0])


@given(st.lists(st.tuples(ANSWERS, st.floats(0, 9), CRAWL_DELAYS, st.booleans())))
def test_a_host_learns_the_same_from_the_logs_as_from_the_answers(
    answers: list[tuple[tuple[FetchOutcome, int | None, str | None], float, float | None, bool]],
) -> None:
    live, again = host_state(), host_state()
    known, lines = [], []
    for number, ((outcome, status, retry_after), took_s, crawl_delay_s, with_robots) in enumerate(answers):
        at = 20.0 * number
        if with_robots or number == 0:
            text = "" if crawl_delay_s is None else f"User-agent: *\nCrawl-delay: {crawl_delay_s}"
            get_robots(live, RobotsCopy(fetched_at=at, expires_at=at + 30.0, status=200, text=text))
            known.append(live.line(at))
        line = asked(at + 5.0, outcome, status=status, took_s=took_s)
        line.retry_after = retry_after
        live.learn_answer(line)
        lines.append(line)
    replay({HOST: again}, known, lines)
    assert again.line(5000.0) == live.line(5000.0)
    assert (again.free_at, again.changed) == (live.free_at, live.changed)
    assert again.politeness.put_off or not live.politeness.put_off


def test_what_the_end_of_a_step_has_written_down_is_not_learned_twice() -> None:
    live, again = host_state(), host_state()
    get_robots(live, ROBOTS)
    first = live.line(10.0)
    line = asked(20.0, FetchOutcome.TLS_FAILED, status=None, took_s=1.0)
    live.learn_answer(line)
    replay({HOST: again}, [first, live.line(20.0)], [line])
    assert again.line(500.0) == live.line(500.0)


def test_a_pause_before_a_url_is_asked_for_again_holds_across_a_kill() -> None:
    live, again = host_state(), host_state()
    get_robots(live, ROBOTS)
    known = [live.line(10.0)]
    live.learn_answer(asked(20.0, FetchOutcome.TIMEOUT, status=None, took_s=5.0))  # no outcome yet: tried again
    replay({HOST: again}, [*known, live.line(25.0)], [])
    assert again.politeness == live.politeness
    assert again.wait_s(25.0) == live.wait_s(25.0) == 30.0


def test_a_pause_that_an_answer_has_ended_is_not_kept() -> None:
    live, again = host_state(), host_state()
    get_robots(live, ROBOTS)
    known = [live.line(10.0)]
    live.learn_answer(asked(20.0, FetchOutcome.TIMEOUT, status=None, took_s=5.0))
    known.append(live.line(25.0))
    line = asked(60.0, FetchOutcome.FETCHED, status=200, took_s=0.1)
    live.learn_answer(line)
    replay({HOST: again}, known, [line])
    assert again.politeness == live.politeness
    assert again.wait_s(60.1) == live.wait_s(60.1) == 3.0


def test_a_host_whose_robots_txt_could_not_be_had_stays_put_off() -> None:
    live, again = host_state(), host_state()
    get_robots(live, UNREACHABLE, status=503, retry_after="600")
    replay({HOST: again}, [live.line(10.0)], [])
    assert again.politeness.put_off
    assert again.line(10.0) == live.line(10.0)
    assert again.line(10.0).deferred_until == 610.0


def test_a_robots_txt_that_could_not_be_had_is_asked_for_before_it_expires() -> None:
    assert host_state(HostSheet(host=HOST, domain="a.test", urls=1, robots=UNREACHABLE)).needs_robots(11.0)


def test_a_robots_txt_is_kept_until_it_expires() -> None:
    state = host_state(HostSheet(host=HOST, domain="a.test", urls=1, robots=ROBOTS))
    assert (state.needs_robots(98.0), state.needs_robots(99.0)) == (False, True)
    assert not state.allowed.allowed("batchcrawl", f"{HOST}/no")


def test_a_robots_txt_that_expires_while_its_host_waits_is_good_for_the_next_request_and_no_other() -> None:
    state = host_state()
    get_robots(state, ROBOTS)
    assert not state.needs_robots(500.0)
    state.learn_answer(asked(500.0, FetchOutcome.FETCHED, status=200, took_s=1.0))
    assert state.needs_robots(501.0)


def test_a_robots_txt_that_expired_while_the_step_was_cut_is_asked_for_again() -> None:
    live, again = host_state(), host_state()
    get_robots(live, ROBOTS)
    replay({HOST: again}, [live.line(10.0)], [])
    assert (again.needs_robots(98.0), again.needs_robots(99.0)) == (False, True)


def test_newer_rules_take_the_place_of_those_that_expired() -> None:
    state = host_state(HostSheet(host=HOST, domain="a.test", urls=1, robots=ROBOTS))
    get_robots(state, RobotsCopy(fetched_at=99.0, expires_at=200.0, status=200, text="User-agent: *\nDisallow: /yes"))
    assert state.allowed.allowed("batchcrawl", f"{HOST}/no")
    assert not state.allowed.allowed("batchcrawl", f"{HOST}/yes")


def test_a_host_that_refuses_its_robots_txt_is_put_off_while_the_last_good_copy_is_kept() -> None:
    state = host_state(HostSheet(host=HOST, domain="a.test", urls=1, robots=ROBOTS))
    get_robots(state, ROBOTS, at=100.0, status=429, retry_after="300")
    assert state.politeness.put_off
    assert state.line(100.0).deferred_until == 400.0
    assert not state.allowed.allowed("batchcrawl", f"{HOST}/no")


def test_a_host_that_fails_its_robots_txt_is_left_alone_as_for_a_page() -> None:
    state = host_state(HostSheet(host=HOST, domain="a.test", urls=1, robots=ROBOTS))
    failed = NoAnswer(url=HOST, outcome=FetchOutcome.TIMEOUT, detail="", started_at=100.0, ended_at=120.0)
    state.learn_robots(ROBOTS, "batchcrawl", failed)
    assert (state.politeness.failures, state.politeness.put_off) == (1, False)
    assert state.wait_s(120.0) == 0.5 * RULES.backoff_min_s


def test_a_robots_txt_does_not_make_up_for_the_failures_of_pages() -> None:
    state = host_state()
    state.learn_answer(asked(5.0, FetchOutcome.SERVER_ERROR, status=500, took_s=0.1))
    get_robots(state, ROBOTS)
    assert state.politeness.failures == 1


def test_a_robots_txt_that_a_power_failure_took_is_found_missing() -> None:
    state = host_state()
    line = asked(20.0, FetchOutcome.FETCHED, status=200, took_s=1.0)
    assert replay({HOST: state}, [], [line]) == [state]
    known = HostLogLine(host=HOST, at=10.0, robots=ROBOTS)
    assert replay({HOST: host_state()}, [known], [line]) == []
    known = HostLogLine(host=HOST, at=20.0, robots=UNREACHABLE)
    assert replay({HOST: host_state()}, [known], [line]) == []


def test_a_newer_robots_txt_that_a_power_failure_took_is_found_missing_too() -> None:
    state = host_state()
    line = asked(150.0, FetchOutcome.FETCHED, status=200, took_s=1.0)
    earlier = asked(20.0, FetchOutcome.FETCHED, status=200, took_s=1.0)
    assert replay({HOST: state}, [HostLogLine(host=HOST, at=10.0, robots=ROBOTS)], [earlier, line]) == [state]


def test_outcomes_without_a_request_teach_nothing() -> None:
    state = host_state()
    line = FetchLogLine(fp="", url="", host=HOST, outcome=FetchOutcome.ROBOTS_DENIED, ended_at=5.0)
    replay({HOST: state}, [], [line])
    assert (state.changed, state.free_at) == (False, 0.0)


def test_a_host_that_was_asked_is_left_alone_for_its_delay() -> None:
    state = host_state()
    state.learn_answer(asked(100.0, FetchOutcome.FETCHED, status=200, took_s=2.0))
    assert state.wait_s(103.0) == 9.0  # five times the response time, from its end


def test_a_host_that_is_put_off_gives_its_urls_back_at_once() -> None:
    state = host_state()
    state.learn_answer(asked(100.0, FetchOutcome.DEFERRED, status=503, took_s=0.1))
    assert state.politeness.put_off
    assert state.wait_s(101.0) == 0.0


def test_a_host_waits_for_each_pause_of_its_domain_once() -> None:
    state = host_state()
    assert not state.follow_domain(100.0)
    state.domain.learn(429, started_at=100.0, ended_at=101.0)
    assert (state.follow_domain(111.0), state.wait_s(111.0)) == (True, 50.0)
    assert not state.follow_domain(111.0)
    state.domain.learn(503, started_at=161.0, ended_at=162.0)
    assert (state.follow_domain(170.0), state.wait_s(170.0)) == (True, 112.0)
    assert not state.politeness.put_off


def test_a_host_is_put_off_with_its_domain_and_blamed_for_nothing() -> None:
    state = host_state()
    for number in range(RULES.host_failures_max):
        state.domain.learn(503, started_at=1000.0 * number, ended_at=1000.0 * number)
    assert state.follow_domain(2000.0)
    assert (state.politeness.put_off, state.is_put_off_with_domain, state.changed) == (True, True, False)
    line = state.last_line(2000.0)
    assert (line.failures, line.deferred_until) == (0, None)
    assert (line.domain_refusals, line.domain_deferred_until) == (3, 2240.0)


def test_a_host_whose_domain_is_put_off_in_its_sheet_gives_its_urls_back_until_then() -> None:
    sheet = HostSheet(host=HOST, domain="a.test", urls=9, domain_refusals=3, domain_deferred_until=500.0)
    early, late = host_state(sheet), host_state(sheet)
    assert (early.follow_domain(499.0), early.politeness.put_off) == (True, True)
    assert (late.follow_domain(500.0), late.politeness.put_off) == (False, False)


def test_only_hosts_of_one_domain_wait_for_each_other() -> None:
    sheets = [
        HostSheet(host="http://a.test", domain="test", urls=1),
        HostSheet(host="http://b.test", domain="test", urls=1),
        HostSheet(host="http://x.c.test", domain="test", budget_domain="c.test", urls=1),
        HostSheet(host="http://y.c.test", domain="test", budget_domain="c.test", urls=1),
    ]
    a, b, x, y = host_states(sheets, RULES, at=0.0).values()
    a.domain.learn(429, started_at=0.0, ended_at=0.0)
    assert [host.follow_domain(1.0) for host in (a, b, x, y)] == [True, True, False, False]
    x.domain.learn(429, started_at=0.0, ended_at=2.0)
    assert [host.follow_domain(3.0) for host in (a, b, x, y)] == [False, False, True, True]


REFUSALS = st.sampled_from(
    [(200, False), (404, False), (429, False), (503, False), (500, False), (503, True), (429, True)]
)


@given(st.lists(st.tuples(REFUSALS, st.integers(0, 2), st.floats(1, 400)), max_size=30))
def test_a_domain_learns_the_same_from_the_logs_of_its_hosts_as_from_their_answers(
    answers: list[tuple[tuple[int, bool], int, float]],
) -> None:
    sheets = [HostSheet(host=f"http://{n}.test", domain="test", urls=9) for n in range(3)]
    live, again = (host_states(sheets, RULES, at=0.0) for _ in range(2))
    known, lines, now = [], [], 0.0
    for (status, is_robots), number, later_s in answers:
        now, name = now + later_s, sheets[number].host
        if is_robots:
            copy = RobotsCopy(fetched_at=now, expires_at=now + 9, status=status, unreachable_since=now)
            get_robots(live[name], copy, status=status)
            known.append(live[name].line(now))
            continue
        outcome = FetchOutcome.DEFERRED if status in (429, 503) else FetchOutcome.FETCHED
        line = FetchLogLine(
            fp="", url="", host=name, outcome=outcome, status=status, started_at=now, ended_at=now + 0.5, tries=1
        )
        live[name].learn_answer(line)
        lines.append(line)
    known += [host.last_line(now) for host in live.values() if host.changed]  # killed just before the seal
    replay(again, known, lines)
    domain, relearned = live["http://0.test"].domain, again["http://0.test"].domain
    assert (relearned.refusals, relearned.until, relearned.changed) == (domain.refusals, domain.until, domain.changed)
    changed = {name for name, host in again.items() if host.changed}
    assert changed == {name for name, host in live.items() if host.changed}
    assert not domain.changed or changed


def test_a_host_stays_put_off_in_the_next_segment_until_its_time() -> None:
    sheet = HostSheet(host=HOST, domain="a.test", urls=9, failures=1, deferred_until=500.0)
    assert host_state(sheet, at=499.0).politeness.put_off
    assert not host_state(sheet, at=500.0).politeness.put_off


def test_a_host_follows_on_what_a_segment_has_learned_that_was_fetched_after_its_sheet_was_made() -> None:
    before = host_state()
    get_robots(before, ROBOTS)
    before.learn_answer(asked(20.0, FetchOutcome.FETCHED, status=200, took_s=0.1))
    host = host_state(at=21.0)
    follow_on({HOST: host}, [before.line(20.5), HostLogLine(host="http://other.test", at=20.5)])
    assert not host.needs_robots(21.0)
    assert not host.allowed.allowed("batchcrawl", f"{HOST}/no")
    assert (host.politeness.delay_s, host.wait_s(21.0)) == (3.0, 2.5)


def test_a_host_that_such_a_segment_has_put_off_stays_so() -> None:
    line = HostLogLine(host=HOST, at=20.0, failures=3, deferred_until=500.0, domain_refusals=4)
    line.domain_deferred_until = 600.0
    host = host_state(at=499.0)
    follow_on({HOST: host}, [HostLogLine(host=HOST, at=10.0), line])
    assert (host.politeness.put_off, host.domain.is_put_off, host.domain.until) == (True, True, 600.0)
    host = host_state(at=500.0)
    follow_on({HOST: host}, [line])
    assert not host.politeness.put_off


def test_what_is_followed_on_is_learned_before_what_the_own_log_tells() -> None:
    earlier, own = HostLogLine(host=HOST, at=20.0, robots=UNREACHABLE), host_state()
    get_robots(own, ROBOTS, at=30.0)
    host = host_state(at=40.0)
    follow_on({HOST: host}, [earlier])
    replay({HOST: host}, [own.line(30.0)], [])
    assert host.robots == ROBOTS


def test_the_delay_of_a_host_goes_on_in_the_next_segment() -> None:
    last = host_state()
    for at in (100.0, 200.0):
        last.learn_answer(asked(at, FetchOutcome.FETCHED, status=200, took_s=at / 50))
    line = last.line(300.0)
    sheet = HostSheet(host=HOST, domain="a.test", urls=9, delay_s=line.delay_s, response_s=line.response_s)
    assert host_state(sheet).politeness.delay_s == last.politeness.delay_s == 20.0


def test_a_host_that_asks_for_too_long_a_delay_is_put_off_at_once_and_again_while_its_file_is_fresh() -> None:
    robots = RobotsCopy(fetched_at=10.0, expires_at=1e6, status=200, text="User-agent: *\nCrawl-delay: 99999")
    host = host_state()
    get_robots(host, robots)
    assert host.politeness.put_off
    assert host.wait_s(10.0) == 0.0
    sheet = HostSheet(host=HOST, domain="a.test", urls=9, robots=robots, crawl_delay_s=99999.0)
    later = host_state(sheet)
    later.refuse_delay(100_000.0)
    assert later.line(100_000.0).deferred_until == 186_400.0
    assert later.changed


def test_a_robots_txt_that_could_not_be_had_for_thirty_days_counts_as_absent() -> None:
    day_29, day_31 = (RobotsCopy(fetched_at=d * DAY_S, expires_at=1e9, unreachable_since=0.0) for d in (29, 31))
    for copy, put_off in ((day_29, True), (day_31, False)):
        host = host_state()
        get_robots(host, copy, status=500)
        assert host.politeness.put_off is put_off
    assert host.allowed.allowed("batchcrawl", f"{HOST}/any")


@pytest.mark.parametrize("set_back_s", [0.0, 6 * 3600.0, 400 * 86_400.0])
def test_a_wall_clock_that_is_set_back_makes_no_pause_longer(set_back_s: float) -> None:
    at = 500 * DAY_S
    state = host_state(at=at)
    state.rest(at)
    assert state.wait_s(at) > 0
    assert state.wait_s(at - set_back_s) == state.wait_s(at)
