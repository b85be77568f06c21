"""The table of failures in docs/ARCHITECTURE.md against the one in the code."""

import math
import re
from pathlib import Path

import pytest

from batchcrawl.job.settings import PolitenessSettings
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.politeness import REACTIONS, DelayRules, HostPoliteness

PAGE = (Path(__file__).parents[1] / "docs" / "ARCHITECTURE.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+)`[^|]*\| (\d+) s[^|]*\| (\d) \| (\d+)[^|]*\|$", PAGE, re.MULTILINE)
JOB = PolitenessSettings()
RULES = DelayRules(
    delay_min_s=JOB.delay_min_s,
    delay_max_s=JOB.delay_max_s,
    response_factor=JOB.factor,
    backoff_min_s=JOB.backoff_min_s,
    backoff_max_s=JOB.backoff_max_s,
    host_failures_max=JOB.host_failures_max,
)


def test_the_table_in_the_docs_is_that_of_the_code() -> None:
    told = {name: (float(wait_s), int(requests), int(failures)) for name, wait_s, requests, failures in ROWS}
    assert told == {
        outcome.value: (
            RULES.backoff_s(reaction, 1),
            reaction.tries,
            max(1, math.ceil(reaction.patience * RULES.host_failures_max)),
        )
        for outcome, reaction in REACTIONS.items()
    }


def test_the_docs_tell_after_how_many_refusals_a_domain_is_put_off() -> None:
    assert f"1, and {RULES.host_failures_max} of its hosts the domain" in PAGE


@pytest.mark.parametrize("row", ROWS)
def test_a_host_does_what_its_row_says(row: tuple[str, str, str, str]) -> None:
    [outcome] = [outcome for outcome in FetchOutcome if outcome.value == row[0]]
    wait_s, failures = float(row[1]), int(row[3])
    status = 503 if outcome is FetchOutcome.DEFERRED else None
    host, waits, put_off = HostPoliteness.start(RULES), [], []
    for _ in range(failures):
        host = host.after(outcome, status=status, now=0.0)
        waits.append(host.deferred_until)
        put_off.append(host.put_off)
    assert waits == [wait_s * 2**number for number in range(failures)]
    assert put_off == [False] * (failures - 1) + [True]


@pytest.mark.parametrize("outcome", [outcome for outcome in FetchOutcome if outcome not in REACTIONS])
def test_all_other_outcomes_are_no_failure_of_the_host(outcome: FetchOutcome) -> None:
    assert HostPoliteness.start(RULES).after(outcome, status=404, now=0.0).failures == 0
