from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.entries import FetchLogLine, HostLogLine, HostSheet
from batchcrawl.model.host import RobotsCopy
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.host_state import HostState, replay
from batchcrawl.policy.politeness import DelayRules

HOST = "http://a.test"
RULES = DelayRules(delay_min_s=1.0, delay_max_s=60.0, response_factor=5.0)
SHEET = HostSheet(host=HOST, domain="a.test", urls=9)
ROBOTS = RobotsCopy(fetched_at=10.0, expires_at=99.0, status=200, text="User-agent: *\nCrawl-delay: 3\nDisallow: /no")
UNREACHABLE = RobotsCopy(fetched_at=10.0, expires_at=99.0, status=500, unreachable_since=10.0)


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


@given(st.lists(st.tuples(ANSWERS, st.floats(0, 9))), st.booleans())
def test_a_host_learns_the_same_from_the_logs_as_from_the_answers(
    answers: list[tuple[tuple[FetchOutcome, int | None, str | None], float]], with_robots: bool
) -> None:
    live, again = HostState(SHEET, RULES), HostState(SHEET, RULES)
    known = []
    if with_robots:
        live.learn_robots(ROBOTS, "batchcrawl")
        known = [live.line(10.0)]
    lines = []
    for number, ((outcome, status, retry_after), took_s) in enumerate(answers):
        line = asked(20.0 * number + 20, outcome, status=status, took_s=took_s)
        line.retry_after = retry_after
        live.learn_answer(line)
        lines.append(line)
    replay({HOST: again}, known, lines, "batchcrawl")
    assert again.line(500.0) == live.line(500.0)
    assert (again.free_at, again.changed, again.politeness) == (live.free_at, live.changed, live.politeness)


def test_a_host_whose_robots_txt_could_not_be_had_stays_put_off() -> None:
    live, again = HostState(SHEET, RULES), HostState(SHEET, RULES)
    live.learn_robots(UNREACHABLE, "batchcrawl")
    replay({HOST: again}, [live.line(10.0)], [], "batchcrawl")
    assert again.politeness.put_off
    assert again.line(10.0) == live.line(10.0)


def test_a_robots_txt_that_could_not_be_had_is_asked_for_before_it_expires() -> None:
    sheet = HostSheet(host=HOST, domain="a.test", urls=1, robots=UNREACHABLE)
    assert HostState(sheet, RULES).needs_robots(11.0)


def test_a_robots_txt_is_kept_until_it_expires() -> None:
    state = HostState(HostSheet(host=HOST, domain="a.test", urls=1, robots=ROBOTS), RULES)
    assert (state.needs_robots(98.0), state.needs_robots(99.0)) == (False, True)
    assert not state.allowed.allowed("batchcrawl", f"{HOST}/no")


def test_a_robots_txt_that_a_power_failure_took_is_found_missing() -> None:
    state = HostState(SHEET, RULES)
    line = asked(20.0, FetchOutcome.FETCHED, status=200, took_s=1.0)
    assert replay({HOST: state}, [], [line], "batchcrawl") == [state]
    known = HostLogLine(host=HOST, at=10.0, robots=ROBOTS)
    assert replay({HOST: HostState(SHEET, RULES)}, [known], [line], "batchcrawl") == []
    known = HostLogLine(host=HOST, at=10.0, robots=UNREACHABLE)
    assert replay({HOST: HostState(SHEET, RULES)}, [known], [line], "batchcrawl") == []


def test_outcomes_without_a_request_teach_nothing() -> None:
    state = HostState(SHEET, RULES)
    line = FetchLogLine(fp="", url="", host=HOST, outcome=FetchOutcome.ROBOTS_DENIED, ended_at=5.0)
    replay({HOST: state}, [], [line], "batchcrawl")
    assert (state.changed, state.free_at) == (False, 0.0)


def test_a_host_that_was_asked_is_left_alone_for_its_delay() -> None:
    state = HostState(SHEET, RULES)
    state.learn_answer(asked(100.0, FetchOutcome.FETCHED, status=200, took_s=2.0))
    assert state.wait_s(103.0) == 9.0  # five times the response time, from its end


def test_a_host_that_is_put_off_gives_its_urls_back_at_once() -> None:
    state = HostState(SHEET, RULES)
    state.learn_answer(asked(100.0, FetchOutcome.DEFERRED, status=503, took_s=0.1))
    assert state.politeness.put_off
    assert state.wait_s(101.0) == 0.0


def test_a_host_that_asks_for_too_long_a_delay_is_put_off_at_once_and_again_while_its_file_is_fresh() -> None:
    robots = RobotsCopy(fetched_at=10.0, expires_at=1e6, status=200, text="User-agent: *\nCrawl-delay: 99999")
    host = HostState(SHEET, RULES)
    host.learn_robots(robots, "batchcrawl")
    assert host.politeness.put_off
    assert host.wait_s(10.0) == 0.0
    sheet = HostSheet(host=HOST, domain="a.test", urls=9, robots=robots, crawl_delay_s=99999.0)
    later = HostState(sheet, RULES)
    later.refuse_delay(100_000.0)
    assert later.line(100_000.0).deferred_until == 186_400.0
    assert later.changed


def test_a_robots_txt_that_could_not_be_had_for_thirty_days_counts_as_absent() -> None:
    day_29, day_31 = (RobotsCopy(fetched_at=d * 86_400.0, expires_at=1e9, unreachable_since=0.0) for d in (29, 31))
    for copy, put_off in ((day_29, True), (day_31, False)):
        host = HostState(SHEET, RULES)
        host.learn_robots(copy, "batchcrawl")
        assert host.politeness.put_off is put_off
    assert host.allowed.allowed("batchcrawl", f"{HOST}/any")
