"""The command that says what other budgets would buy."""

import click
import msgspec

from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import seen_crawl
from batchcrawl.policy.outlook import Outlook
from batchcrawl.simulate import simulate


@click.command("simulate")
@job_argument
@click.option(
    "--budget",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Refetches a day that count as the present budget; else the job's, or what it asks for without one.",
)
@json_option
def simulate_command(job: str, budget: float | None, as_json: bool) -> None:
    """Say how fresh the copies would be in the long run under half, twice and four times the budget.

    Reckoned, not drawn: by what the crawl believes of the change rates of a sample of its stored pages, without the
    limits of hosts. A copy is fresh while it is what the page is.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl simulate mysite
    Exit codes: 0 done, 2 wrong usage, 4 no page is stored yet, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        found = simulate(crawl, budget=budget)
    if as_json:
        for factor, one in found.outlooks:
            click.echo(msgspec.json.encode({"factor": factor, **msgspec.to_builtins(one)}))
        return
    click.echo(f"{crawl.job.name}: {found.known:,} pages stored, {found.looked_at:,} of them looked at")
    click.echo(
        f"{'budget':>7} {'refetches/day':>14} {'price':>9} {'fresh':>7} {'plain':>7} {'alike':>7} {'given up':>9}"
    )
    for factor, one in found.outlooks:
        click.echo(_line(factor, one))
    click.echo("fresh: by weight; plain: every page alike; alike: by weight, if all came at the same interval")


def _line(factor: float, one: Outlook) -> str:
    return (
        f"{f'x{factor:g}':>7} {one.fetches_a_day:>14,.1f} {one.price:>9.3g} {one.fresh:>7.1%} {one.fresh_plain:>7.1%} "
        f"{one.fresh_alike:>7.1%} {one.given_up:>9.1%}"
    )
