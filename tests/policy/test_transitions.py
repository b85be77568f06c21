"""The whole status table: every old status x every fetch outcome, before and after the tries are used up."""

import pytest

from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.status import PageStatus
from batchcrawl.policy.transitions import transition

FAILURES_MAX = 3

# One line an outcome: what becomes of a URL that was, in this order,
OLD = ("unfetched", "fetched", "duplicate", "redirect", "gone", "blocked", "skipped")
# `=` stands for the old status. After the status: what follows. `!` marks what is a failure, not a conclusive answer.
TABLE = """
fetched          fetched/recrawl   in every column
redirect         redirect/recrawl  in every column
not_found        gone/rarely       in every column
gone             gone/rarely       in every column
denied           blocked/rarely    in every column
address_refused  blocked/rarely    in every column
robots_denied    blocked/recrawl   in every column
skipped_type     skipped/recrawl   in every column
not_modified     =/retry!  =/recrawl  =/recrawl  =/retry!  =/retry!  =/retry!  =/retry!
server_error     =/retry!          in every column
timeout          =/retry!          in every column
connect_failed   =/retry!          in every column
dns_failed       =/retry!          in every column
tls_failed       =/retry!          in every column
protocol_error   =/retry!          in every column
redirect_invalid =/retry!          in every column
deferred         =/return          in every column
time_limit       =/return          in every column
"""


def rows() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for line in TABLE.strip().splitlines():
        outcome, *cells = line.removesuffix("in every column").split()
        table[outcome] = cells if len(cells) > 1 else cells * len(OLD)
    return table


CELLS = [(old, outcome, cell) for outcome, cells in rows().items() for old, cell in zip(OLD, cells, strict=True)]


def told(old: str, outcome: str, *, failures: int) -> str:
    cell = transition(
        PageStatus[old.upper()], FetchOutcome[outcome.upper()], failures=failures, failures_max=FAILURES_MAX
    )
    status = cell.status.name.lower()
    mark = "!" if cell.failure else ""
    return f"{'=' if status == old else status}/{cell.next.value}{mark}"


def same(cell: str, old: str) -> str:
    return cell.replace(f"{old}/", "=/") if cell.startswith(f"{old}/") else cell


def test_the_table_has_every_cell() -> None:
    assert {status.name.lower() for status in PageStatus} == set(OLD)
    assert {outcome.value for outcome in FetchOutcome} == set(rows())
    assert len(CELLS) == len(PageStatus) * len(FetchOutcome)


@pytest.mark.parametrize(("old", "outcome", "cell"), CELLS)
def test_while_tries_are_left(old: str, outcome: str, cell: str) -> None:
    for failures in (1, FAILURES_MAX):
        assert told(old, outcome, failures=failures) == same(cell, old)


@pytest.mark.parametrize(("old", "outcome", "cell"), CELLS)
def test_a_failure_too_many_makes_the_url_gone_and_no_other_outcome_cares(old: str, outcome: str, cell: str) -> None:
    expected = "gone/rarely!" if cell.endswith("!") else cell
    assert told(old, outcome, failures=FAILURES_MAX + 1) == same(expected, old)


@pytest.mark.parametrize("outcome", FetchOutcome)
@pytest.mark.parametrize("old", PageStatus)
def test_an_outcome_is_conclusive_or_a_failure_or_says_nothing(old: PageStatus, outcome: FetchOutcome) -> None:
    cell = transition(old, outcome, failures=1, failures_max=FAILURES_MAX)
    kinds = (cell.conclusive, cell.failure, cell.next.value == "return")
    assert sum(kinds) == 1


def test_with_no_tries_at_all_the_first_failure_makes_the_url_gone() -> None:
    cell = transition(PageStatus.UNFETCHED, FetchOutcome.TIMEOUT, failures=1, failures_max=0)
    assert cell.status is PageStatus.GONE
