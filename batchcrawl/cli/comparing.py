"""The command that compares a crawl with what there was to find."""

import sys
from pathlib import Path

import click

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument
from batchcrawl.cli.running import seen_crawl
from batchcrawl.compare import compare
from batchcrawl.errors import ExitCode


@click.command("compare")
@job_argument
@click.argument("truth", type=click.Path(path_type=Path), metavar="TRUTH")
def compare_command(job: str, truth: Path) -> None:
    """Compare a crawl of a synthetic web with its truth.

    TRUTH is what `fakeweb --truth` writes: a JSON line a URL.

    \b
    Reads:   crawldb, the file TRUTH
    Writes:  nothing
    Example: batchcrawl compare demo data/demo/truth.jsonl
    Exit codes: 0 equal, 1 different, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        found = compare(crawl, truth)
    click.echo(f"{'outcome':<22} {'expected':>10} {'agreeing':>10}")
    for name, urls in sorted(found.expected.items()):
        click.echo(f"{name:<22} {urls:>10,} {found.agreeing[name]:>10,}")
    click.echo(f"{'all':<22} {found.expected.total():>10,} {found.agreeing.total():>10,}")
    echo_lines(found.differences)
    click.echo(f"{found.different:,} differences")
    if found.different:
        sys.exit(int(ExitCode.FAILED))
