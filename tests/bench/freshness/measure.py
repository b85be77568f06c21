"""How fresh each policy keeps each population, as a share of what the oracle reaches, as a table."""

import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from statistics import fmean

from tests.bench.freshness.ours import ByValue
from tests.bench.freshness.rivals import (
    GRID,
    Doubling,
    Intervals,
    LikelyRate,
    NutchAdaptive,
    Oracle,
    StormCrawlerAdaptive,
    Uniform,
)
from tests.bench.freshness.scenarios import SCENARIOS, Population, Scenario, population
from tests.bench.freshness.world import Policy, freshness
from tests.bench.table import Row

PAGES, SEEDS = 20_000, 5
OURS = "ours: by value, levels and price"
RIVALS: dict[str, list[Callable[[Population], Policy]]] = {
    "same interval for all": [Uniform],
    "Nutch default, 30 days": [partial(Intervals, start=30.0, order="weight")],
    "Nutch adaptive, default settings": [NutchAdaptive],
    "Nutch adaptive, best of a grid": [
        partial(NutchAdaptive, start=start, inc=inc, dec=dec, sync=False) for start, inc, dec in GRID
    ],
    "StormCrawler adaptive": [StormCrawlerAdaptive],
    "double after five same, halve on change": [partial(Doubling, start=30.0, order="weight")],
    "the same from 1 day, by weight and overdue": [partial(Doubling, start=1.0, order="overdue")],
    "likely rate and threshold": [LikelyRate],
}
"""Of more than one setting the best counts, in each scenario."""
WANTED = {"base": 0.97, "tight": 0.94, "rich": 0.99, "hosts": 0.96}
"""Least share of the oracle's freshness that ours is to reach."""

Shares = dict[str, dict[str, float]]
"""By scenario and policy: mean share of what the oracle reaches."""


def run(*, quick: bool) -> list[Row]:
    """Play every policy on every population, print the table, and return ours beside the best other."""
    shares = measured(SCENARIOS, pages=2_000 if quick else PAGES, seeds=range(1 if quick else SEEDS))
    print(grid(shares))
    return [_row(name, by_policy) for name, by_policy in shares.items()]


def measured(
    scenarios: Sequence[Scenario], *, pages: int, seeds: Iterable[int], processes: int | None = None
) -> Shares:
    """Return the shares of all policies, by so many processes, or as many as there are cores."""
    tasks = [(scenario, seed) for scenario in scenarios for seed in seeds]
    found: dict[str, list[dict[str, float]]] = {scenario.name: [] for scenario in scenarios}
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = [(scenario.name, pool.submit(played, scenario, pages=pages, seed=seed)) for scenario, seed in tasks]
        for name, future in futures:
            found[name].append(future.result())
            print(f"{name}: {found[name][-1][OURS]:.2%} of the oracle", file=sys.stderr)
    return {name: {policy: fmean(one[policy] for one in runs) for policy in runs[0]} for name, runs in found.items()}


def played(scenario: Scenario, *, pages: int, seed: int) -> dict[str, float]:
    """Return what each policy reaches on one population, by what the oracle reaches."""
    people = population(scenario, pages=pages, seed=seed)
    oracle = freshness(Oracle(people), people, seed=seed)
    shares = {name: max(freshness(new(people), people, seed=seed) for new in news) for name, news in RIVALS.items()}
    shares[OURS] = freshness(ByValue(people), people, seed=seed)
    return {name: share / oracle for name, share in shares.items()}


def grid(shares: Shares) -> str:
    """Return the shares in per cent: a line a policy, a column a scenario."""
    names = list(shares)
    policies = list(shares[names[0]])
    first = max(len(policy) for policy in policies)
    lines = ["% of the oracle".ljust(first) + "".join(f"  {name}" for name in names)]
    for policy in policies:
        cells = (f"  {100 * shares[name][policy]:{len(name)}.1f}" for name in names)
        lines.append(policy.ljust(first) + "".join(cells))
    return "\n".join(lines)


def _row(name: str, by_policy: dict[str, float]) -> Row:
    others = {policy: share for policy, share in by_policy.items() if policy != OURS}
    best = max(others, key=others.__getitem__)
    ours = 100 * by_policy[OURS]
    wanted = WANTED.get(name)
    if wanted is not None:
        what = f"freshness, {name}"
        return Row(what=what, ours=ours, unit="%", other=100.0, other_name="oracle", wanted=wanted)
    return Row(what=f"freshness, {name}", ours=ours, unit="%", other=100 * others[best], other_name=best, wanted=1.0)
