"""The command that explains what became of a URL, and what decided."""

from collections.abc import Iterator

import click
import msgspec

from batchcrawl.cli.lines import echo_lines
from batchcrawl.cli.options import job_argument, json_option
from batchcrawl.cli.running import asked_url, command_clock, seen_crawl
from batchcrawl.explain import BEFORE_MAX, explain
from batchcrawl.job.source import printable
from batchcrawl.job.units import about
from batchcrawl.model.explanation import Admission, Explanation, FromPage, Robots, Ruling, Stay, Turn
from batchcrawl.web.urls import parse_url

_LINE_CHARACTERS_MAX = 3000


@click.command("explain")
@job_argument
@click.argument("url", metavar="URL")
@click.option("--from", "page", metavar="PAGE", help="The URL is a link on this page, as written there.")
@json_option
def explain_command(job: str, url: str, page: str | None, as_json: bool) -> None:
    """Explain what became of a URL or link, and what decided.

    \b
    Reads:   crawldb, files of the segments
    Writes:  nothing
    Example: batchcrawl explain mysite ../b.html --from https://www.example.org/docs/a.html
    Exit codes: 0 done, 2 wrong usage, 6 corrupt data
    """
    with seen_crawl(job) as crawl:
        now = command_clock().now()
        if page is None:
            found = explain(crawl, _as_given(url), page=None, now=now)
        else:
            found = explain(crawl, url, page=asked_url(page), now=now)
    if as_json:
        click.echo(msgspec.json.encode(found))
        return
    echo_lines(printable(f"{name:<12} {text}", _LINE_CHARACTERS_MAX) for name, text in _lines(found, now))


def _as_given(url: str) -> str:
    """Return a URL as it was given if it is one, so that its serialisation can be told, else the one that is meant."""
    is_whole = (parse_url(url) or "").startswith(("http://", "https://"))
    return url if is_whole else asked_url(url)


def _lines(found: Explanation, now: float) -> Iterator[tuple[str, str]]:
    """Yield what is told, each with what it is about; the words come from the web in part."""
    yield "url", found.url
    if found.source is not None:
        yield from _of_page(found.source)
    for step in found.steps:
        yield f"  {step.step}", step.url
    yield "canonical", found.canonical
    yield "fingerprint", f"{found.fp}, partition {found.partition}"
    yield "scope", _ruling(found.scope)
    for check in found.traps:
        yield f"  {check.trap}", f"{check.number} of at most {check.most}{': a trap' if check.trapped else ''}"
    yield "if new", _admission(found.admission)
    yield "robots.txt", _robots(found.robots, now)
    yield "crawldb", _record(found)
    for stay in found.segments:
        yield "segment", _stay(stay, now)
    yield "due", _turn(found.due, now)


def _of_page(source: FromPage) -> Iterator[tuple[str, str]]:
    read = f"as stored in segment {source.segment}" if source.segment is not None else "not read"
    yield "from", f"{source.page}, depth {source.depth}, hops {source.hops}, {read}"
    if source.note is not None:
        yield "  note", source.note
    yield "  base", source.base
    if source.nofollow:
        yield "  robots", "the page asks for no link to be followed"
    for reason, times in source.rejected.items():
        yield "  rejected", f"{times:,} links of the page as {reason}"
    for link in source.links:
        rel = f", rel {' '.join(link.rel)}" if link.rel else ""
        anchor = f', "{link.anchor}"' if link.anchor else ""
        yield f"  link {link.position}", f"{link.kind}, {link.url}{rel}{anchor}: {_ruling(link.ruling)}"
    if not source.links and source.note is None:
        yield "  link", "the page has none to this URL; judged as if it had"


def _ruling(ruling: Ruling) -> str:
    verdict = "taken" if ruling.taken else f"rejected as {ruling.rejection}"
    return f"{verdict} at depth {ruling.depth}, hops {ruling.hops}, by {ruling.place}: {ruling.rule}"


def _admission(admission: Admission) -> str:
    host = _of_budget(admission.host_urls, admission.host_urls_max)
    domain = _of_budget(admission.domain_urls, admission.domain_urls_max)
    costly = "not costly" if admission.costly is None else f"costly: {admission.costly}"
    verdict = "enters" if admission.refusal is None else f"refused as {admission.refusal}"
    return f"{verdict}; {costly}; URLs known of its host: {host}, of its domain: {domain}"


def _of_budget(urls: int, urls_max: int | None) -> str:
    return f"{urls:,}" if urls_max is None else f"{urls:,} of at most {urls_max:,}"


def _robots(robots: Robots, now: float) -> str:
    if robots.allowed is None or robots.fetched_at is None:
        return robots.why
    age = about(max(0.0, now - robots.fetched_at))
    return f"{'allowed' if robots.allowed else 'not allowed'}: {robots.why} ({robots.source}, fetched {age} ago)"


def _record(found: Explanation) -> str:
    record = found.record
    if record is None:
        return "not known"
    told = [f"{record['status']}, {record['place']}, level {record['level']}, depth {record['depth']}"]
    told += [f"hops {record['hops']}"] if record["hops"] else []
    told += ["a seed"] if record["seed"] else []
    told += ["costly"] if record["costly"] else []
    told += [f"last outcome {record['outcome']}"] if "outcome" in record else []
    told += [f"asked for as {record['fetch_url']}"] if "fetch_url" in record else []
    return ", ".join(told)


def _stay(stay: Stay, now: float) -> str:
    if stay.outcome is None:
        return f"{stay.segment}: no outcome yet, next: {stay.next}"
    told = [stay.outcome]
    told += [f"status {stay.status}"] if stay.status is not None else []
    told += [f"to {stay.redirect}"] if stay.redirect is not None else []
    told += [stay.detail] if stay.detail is not None else []
    told += [f"{about(max(0.0, now - stay.ended_at))} ago"] if stay.ended_at is not None else []
    told += [f"next: {stay.next}"] if stay.next is not None else []
    return f"{stay.segment}: {', '.join(told)}"


def _turn(turn: Turn, now: float) -> str:
    if turn.at is None:
        return f"not now: {turn.why}"
    if turn.at > now:
        return f"in {about(turn.at - now)}: {turn.why}"
    told = f"for {about(now - turn.at)}: {turn.why}"
    if turn.before is None:
        return told
    shown = f"{turn.before:,}{' or more' if turn.before >= BEFORE_MAX else ''}"
    limit = "" if turn.host_limit is None else f"; a segment takes at most {turn.host_limit:,} of the host"
    return f"{told}; ready URLs of its host before it: {shown}{limit}"
