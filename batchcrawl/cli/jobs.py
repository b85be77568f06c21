"""The commands that make and check job files."""

import os
from pathlib import Path

import click
import msgspec

from batchcrawl.cli.completing import complete_job
from batchcrawl.cli.group import Group, Place
from batchcrawl.cli.lines import echo_lines
from batchcrawl.errors import JobFileError, UsageError
from batchcrawl.job.agent import is_contact
from batchcrawl.job.crawl import fixed_at_birth
from batchcrawl.job.effective import Effective, effective_settings
from batchcrawl.job.load import Job, find_job, load_job, require_contact
from batchcrawl.job.seeds import BadUrl, parse_seed_url
from batchcrawl.job.source import printable
from batchcrawl.job.spelling import toml_value
from batchcrawl.job.template import hosts_of, job_text
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import Identity, read_identity
from batchcrawl.store.layout import Layout


@click.command()
@click.argument("name")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--contact", help="URL or e-mail address where the owner of a host can reach you.")
def new(name: str, urls: tuple[str, ...], contact: str | None) -> None:
    """Write a commented job file for the hosts of some URLs.

    \b
    Reads:   nothing
    Writes:  jobs/NAME.toml, or the path NAME if it ends in .toml; never over a file that is there
    Example: batchcrawl new mysite https://www.example.org/ --contact me@example.org
    Exit codes: 0 done, 2 wrong usage, 3 out of disk space
    """
    path, shown = find_job(name, cwd=Path.cwd())
    if os.path.lexists(path):
        raise UsageError(f"{shown} is there already; take another name, or remove the file first")
    if contact is not None and not is_contact(contact):
        raise UsageError(
            f"--contact: {printable(toml_value(contact))} is not allowed; "
            "allowed: a URL such as https://example.org/crawler or an address such as me@example.org"
        )
    text = job_text(name, urls=[_url(url) for url in urls], contact=contact)
    disk = Disk()
    disk.make_dir(path.parent)
    disk.write_file(path, text.encode())
    click.echo(shown)
    _tell_contact(load_job(name, cwd=Path.cwd()))


@click.group(
    cls=Group, places={"check": Place("jobs", "check", "Print every setting in force and where it comes from.")}
)
def job() -> None:
    """Look at job files.

    \b
    Reads:   job files
    Writes:  nothing
    Example: batchcrawl job check mysite
    Exit codes: 0 done, 2 wrong usage or job file
    """


@click.command()
@click.argument("name", metavar="JOB", shell_complete=complete_job)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line: setting, value, source, meaning.")
def check(name: str, as_json: bool) -> None:
    """Print every setting in force and where it comes from.

    \b
    Reads:   jobs/JOB.toml, or the path JOB if it ends in .toml; crawl.toml of the crawl, where it is born
    Writes:  nothing
    Example: batchcrawl job check mysite
    Exit codes: 0 the job file is right, 2 it is not
    """
    found = load_job(name, cwd=Path.cwd())
    rows = effective_settings(found, cores=os.cpu_count() or 1)
    identity = Layout(found.data_dir).identity
    if identity.exists():
        rows = _in_force(found, rows, read_identity(identity))
    if as_json:
        for line in _json_lines(rows):
            click.echo(line)
    else:
        echo_lines(_columns(rows))
    _tell_contact(found)


def _in_force(job: Job, rows: list[Effective], identity: Identity) -> list[Effective]:
    """Put what the crawl was born with in the place of what the job would give a new one."""
    born = {"crawl.partitions": identity.partitions, "crawl.canonical_steps": list(identity.canonical_steps)}
    for line in fixed_at_birth(job, identity):
        click.echo(line, err=True)
    return [
        msgspec.structs.replace(row, value=born[row.setting], source="crawl.toml (fixed at birth)")
        if row.setting in born
        else row
        for row in rows
    ]


def _url(text: str) -> str:
    url = parse_seed_url(text)
    if isinstance(url, BadUrl):
        raise UsageError(url.reason)
    return url


def _tell_contact(job: Job) -> None:
    """Say on stderr that the fetch step will refuse a host of the job's own seeds."""
    urls = [url for seed in job.settings.seeds if not isinstance(url := parse_seed_url(seed), BadUrl)]
    try:
        require_contact(job, hosts_of(urls))
    except JobFileError as error:
        click.echo(error, err=True)


def _json_lines(rows: list[Effective]) -> list[str]:
    return [msgspec.json.encode(row).decode() for row in rows]


def _columns(rows: list[Effective]) -> list[str]:
    table = [(row.setting, "not set" if row.value is None else toml_value(row.value), row.source) for row in rows]
    name_width = max(len(name) for name, _, _ in table)
    value_width = min(48, max(len(value) for _, value, _ in table))
    return [f"{name:{name_width}}  {value:{value_width}}  {source}" for name, value, source in table]
