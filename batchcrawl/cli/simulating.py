"""The command that says what other budgets would buy."""

from collections.abc import Iterator

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import seen_crawl
from batchcrawl.policy.outlook import Outlook
from batchcrawl.policy.play import POLICIES, ROUNDS_A_DAY
from batchcrawl.policy.populations import POPULATIONS
from batchcrawl.simulate import Play, Simulation, play, simulate

BAR_CHARACTERS = 50


@click.command("simulate")
@job_argument
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Refetches a day that count as the present budget; else the job's, or what it asks for without one.",
)
@click.option(
    "--synthetic",
    type=click.Choice(list(POPULATIONS)),
    help="Take 4,000 synthetic pages instead of the crawl's: a web as a study found it, log-normal rates, or extremes.",
)
@click.option(
    "--play",
    "days",
    type=click.IntRange(min=1, max=3650),
    metavar="DAYS",
    help="Play so many days under each policy of recrawling, with changes that are drawn.",
)
@click.option("--seed", type=int, default=0, metavar="N", help="With --play: other draws; default: 0.")
@json_option
def simulate_command(
    job: str, budget: float | None, synthetic: str | None, days: int | None, seed: int, as_json: bool
) -> None:
    """Say how fresh the copies would be in the long run under half, twice and four times the budget.

    Reckoned by what the crawl believes of the change rates of a sample of its stored pages, without limits of hosts, or
    with --play played over at most 1,000 of them. A copy is fresh while it is what the page is.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl simulate mysite --play 60
    Exit codes: 0 done, 2 wrong usage, 4 no page is stored yet, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        name = crawl.job.name if synthetic is None else synthetic
        if days is None:
            found = simulate(crawl, budget=budget, synthetic=synthetic)
        else:
            plays = play(crawl, budget=budget, synthetic=synthetic, days=days, seed=seed)
    if days is None:
        echo_lines(_reckoned_json(found) if as_json else _reckoned(name, found))
    else:
        echo_lines(_played_json(plays) if as_json else _played(name, plays, days))


def _reckoned_json(found: Simulation) -> Iterator[str]:
    for factor, one in found.outlooks:
        yield msgspec.json.encode({"factor": factor, **msgspec.to_builtins(one)}).decode()


def _reckoned(name: str, found: Simulation) -> Iterator[str]:
    yield f"{name}: {found.known:,} pages stored, {found.looked_at:,} of them looked at"
    yield f"{'budget':>7} {'refetches/day':>14} {'price':>9} {'fresh':>7} {'plain':>7} {'alike':>7} {'given up':>9}"
    for factor, one in found.outlooks:
        yield _line(factor, one)
    yield "fresh: by weight; plain: every page alike; alike: by weight, if all came at the same interval"
    for factor, one in found.outlooks:
        yield _bar(factor, one.fresh)


def _line(factor: float, one: Outlook) -> str:
    return (
        f"{f'x{factor:g}':>7} {one.fetches_a_day:>14,.1f} {one.price:>9.3g} {one.fresh:>7.1%} {one.fresh_plain:>7.1%} "
        f"{one.fresh_alike:>7.1%} {one.given_up:>9.1%}"
    )


def _played_json(plays: list[Play]) -> Iterator[str]:
    for one in plays:
        yield msgspec.json.encode(one).decode()


def _played(name: str, plays: list[Play], days: int) -> Iterator[str]:
    yield f"{name}: {days:,} days played, {ROUNDS_A_DAY} rounds a day; fresh by weight under each policy"
    yield f"{'budget':>7} {'refetches/day':>14}" + "".join(f" {policy:>9}" for policy in POLICIES)
    for one in plays:
        shares = "".join(f" {one.fresh[policy]:>9.1%}" for policy in POLICIES)
        yield f"{f'x{one.factor:g}':>7} {one.fetches_a_day:>14,.1f}{shares}"
    yield "value, fixed, adaptive: as recrawl.policy; known: if every change rate were known"
    for one in plays:
        yield _bar(one.factor, one.fresh["value"])


def _bar(factor: float, fresh: float) -> str:
    """Return a line of a drawing of freshness by budget."""
    return f"{f'x{factor:g}':>7} |{'#' * round(fresh * BAR_CHARACTERS):<{BAR_CHARACTERS}}| {fresh:.1%}"
