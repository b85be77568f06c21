"""The command `fakeweb`: a synthetic web on loopback, its seeds, and what a crawl of it must find."""

from typing import TextIO, TypedDict, Unpack

import click
import msgspec

from batchcrawl.errors import UsageError
from batchcrawl.fakeweb.server import ServeSettings, serve
from batchcrawl.fakeweb.spec import FAULTS, TRAPS, WebSpec, parse_faults
from batchcrawl.fakeweb.truth import truth
from batchcrawl.fakeweb.web import FakeWeb
from batchcrawl.model.clock import SystemClock

_DEFAULTS = WebSpec()
_HELP = f"""Serve a seeded synthetic web on loopback, to rehearse, test and measure a crawl.

Writes its address, like http://127.0.0.1:8080, to stdout and serves until Ctrl-C. Use the address as the job's
proxy, or name its hosts (h0000.d000.test, ...) in the job's table of addresses. Equal options give equal bytes.
--truth and --seeds write files for the crawl before serving starts.

\b
Writes:  the files of --seeds, --truth and --log; the address to stdout
Example:
  batchcrawl fakeweb --hosts 20 --pages 5000 --seed 7 --clock 1790000000 \\
      --port 8080 --seeds seeds.txt --truth truth.jsonl

\b
Faults:
{chr(10).join(f"  {name:<12} {meaning}" for name, meaning in FAULTS.items())}

\b
Traps, which are no part of `all`; `traps` stands for all of them:
{chr(10).join(f"  {name:<20} {meaning}" for name, meaning in TRAPS.items())}

\b
Exit codes: 0 done or ended by a signal, 1 port taken, 2 wrong usage
"""


class Options(TypedDict):
    """The options as click hands them over."""

    hosts: int
    pages: int
    endless: bool
    seed: int
    faults: str
    page_bytes: int
    links: int
    slow: float
    port: int
    workers: int
    latency: float
    log: str | None
    clock: float | None
    speed: float | None
    warm: bool
    seeds: TextIO | None
    truth: TextIO | None
    product_token: str
    obey_nofollow: bool
    no_serve: bool


@click.command("fakeweb", help=_HELP, short_help="Serve a seeded synthetic web on loopback.")
@click.option("--hosts", type=int, default=_DEFAULTS.hosts, show_default=True, help="Hosts, four a domain.")
@click.option("--pages", type=int, default=_DEFAULTS.pages, show_default=True, help="Pages in all; faults come on top.")
@click.option("--endless", is_flag=True, help="Hosts have pages without end; --pages has no effect.")
@click.option("--seed", type=int, default=_DEFAULTS.seed, show_default=True, help="Decides all that is left open.")
@click.option("--faults", default="all", show_default=True, help="`all`, `none`, or a comma-separated list.")
@click.option("--page-bytes", type=int, default=_DEFAULTS.page_bytes, show_default=True, help="About a page's size.")
@click.option("--links", type=int, default=_DEFAULTS.links, show_default=True, help="About how many links a page has.")
@click.option("--slow", type=float, default=_DEFAULTS.slow_s, show_default=True, help="Seconds a slow host waits.")
@click.option("--port", type=int, default=0, help="Loopback port; a free one by default.")
@click.option("--workers", type=int, default=1, show_default=True, help="Processes that serve.")
@click.option("--latency", type=float, default=0.0, show_default=True, help="Seconds to wait before each answer.")
@click.option("--log", type=click.Path(dir_okay=False), help="Append each request as a JSON line, at once.")
@click.option("--clock", type=float, help="Stand still at this instant (seconds since 1970 UTC); default now, running.")
@click.option("--speed", type=float, help="Seconds that pass in the web for each of ours.")
@click.option("--warm", is_flag=True, help="Render every page before serving.")
@click.option("--seeds", type=click.File("w"), help="Write the front page of each host, one URL a line.")
@click.option("--truth", type=click.File("w"), help="Write a JSON line for each reachable URL and its answer.")
@click.option("--product-token", default="batchcrawl", show_default=True, help="The crawler's name, for --truth.")
@click.option("--obey-nofollow", is_flag=True, help="The crawler takes no nofollow link, for --truth.")
@click.option("--no-serve", is_flag=True, help="Only write the files.")
def fakeweb(**options: Unpack[Options]) -> None:
    """Write what is asked for, then serve."""
    web = FakeWeb(_spec(options))
    if options["seeds"] is not None:
        for url in web.seeds():
            options["seeds"].write(f"{url}\n")
        options["seeds"].flush()
    if options["truth"] is not None:
        _write_truth(web, options, options["truth"])
    if not options["no_serve"]:
        serve(web, _serve_settings(options), clock=SystemClock(), ready=click.echo)


def _spec(options: Options) -> WebSpec:
    return WebSpec(
        hosts=options["hosts"],
        pages=None if options["endless"] else options["pages"],
        seed=options["seed"],
        page_bytes=options["page_bytes"],
        links=options["links"],
        faults=parse_faults(options["faults"]),
        slow_s=options["slow"],
    )


def _write_truth(web: FakeWeb, options: Options, out: TextIO) -> None:
    if web.spec.endless:
        raise UsageError("the truth of an endless web has no end; leave out --truth, or --endless and the traps")
    at = options["clock"]
    if at is None:
        at = SystemClock().now()
        if "changes" in web.spec.faults:
            click.echo("The truth holds for this instant; pages change after it. Stop them by --clock.", err=True)
    lines = truth(web, at=at, product_token=options["product_token"], obey_nofollow=options["obey_nofollow"])
    for line in lines:
        out.write(msgspec.json.encode(line).decode() + "\n")
    out.flush()


def _serve_settings(options: Options) -> ServeSettings:
    return ServeSettings(
        port=options["port"],
        workers=options["workers"],
        latency_s=options["latency"],
        log=options["log"],
        clock_at=options["clock"],
        speed=options["speed"],
        warm=options["warm"],
    )
