"""The command that explains when a URL comes again."""

from collections.abc import Iterator

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import asked_url, command_clock, seen_crawl
from batchcrawl.job.source import printable
from batchcrawl.job.units import about
from batchcrawl.model.schedule import Prior, Schedule, Value
from batchcrawl.schedule import schedule

_LINE_CHARACTERS_MAX = 3000


@click.command("schedule")
@job_argument
@click.argument("url", metavar="URL")
@json_option
def schedule_command(job: str, url: str, as_json: bool) -> None:
    """Explain when a URL comes again: belief, weight, value, levels, price.

    Values are weighted days: days for which the copy is right that would else be stale, times the weight.

    \b
    Reads:   crawldb
    Writes:  nothing
    Example: batchcrawl schedule mysite https://www.example.org/
    Exit codes: 0 done, 2 wrong usage or a URL that is not known, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        found = schedule(crawl, asked_url(url), now=now)
    if as_json:
        click.echo(msgspec.json.encode(found))
        return
    echo_lines(printable(f"{name:<12} {text}", _LINE_CHARACTERS_MAX) for name, text in _lines(found, now))


def _lines(found: Schedule, now: float) -> Iterator[tuple[str, str]]:
    weight = found.weight
    yield "url", found.url
    yield "crawldb", f"{found.status}, {found.place}, level {found.level}"
    if found.last_fetch_at is not None:
        yield "last fetch", f"{about(now - found.last_fetch_at)} ago; {found.fetches} answers, {found.changes} changes"
    yield "belief", f"{found.changes_a_day:.3g} changes a day (a {found.a:.3g}, b {found.b:.3g} days)"
    yield "prior", _prior_told(found.prior)
    if found.dated:
        yield "changes", "dated by Last-Modified, which has proved right on its host"
    parts = {
        "depth": weight.depth,
        "score": weight.score,
        "inlinks": weight.inlinks,
        "costly": weight.costly,
        "kind": weight.kind,
        "rule": weight.rule,
    }
    yield "weight", f"{weight.weight:.3g} = {' x '.join(f'{name} {part:.3g}' for name, part in parts.items())}"
    for rule in found.rules:
        yield f"rule {rule.number}", f"{rule.text} ({rule.place}); decides {', '.join(rule.decides)}"
    yield "price", f"{found.price:.3g} weighted days; pages wait until they are worth the floor, {found.floor:.3g}"
    if found.value is not None:
        yield from _of_value(found.value, now)
    elif found.interval_s is not None:
        yield "interval", f"{about(found.interval_s)}, by instant and not by value: {found.why}"
    if found.value is None and found.next_fetch_at is not None:
        yield "due", f"{_when(found.next_fetch_at, now)}: {found.why}"


def _prior_told(prior: Prior) -> str:
    host = f"{prior.host_pages:,} pages of its host" + ("" if prior.host_rate is None else f" at {prior.host_rate:.3g}")
    crawl = f"{prior.crawl_pages:,} of the crawl, taken for {prior.crawl_rate:.3g}"
    told = f"{prior.changes_a_day:.3g} changes a day by {host}, {crawl}"
    return told if prior.in_force else f"{told}; the page's own refetches count by now"


def _of_value(value: Value, now: float) -> Iterator[tuple[str, str]]:
    yield "worth now", f"{value.worth:.3g} weighted days, level {value.level}"
    yield "still right", f"{value.still_right:.1%}"
    clipped = "" if value.clipped is None else f", by {value.clipped}"
    yield "due", f"{_when(value.due_at, now)}{clipped}"
    for rise in value.rises:
        yield f"  level {rise.level}", _when(rise.at, now)


def _when(at: float, now: float) -> str:
    return f"in {about(at - now)}" if at > now else f"since {about(now - at)}"
