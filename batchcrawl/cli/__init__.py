"""The command line. Data goes to stdout, progress and messages to stderr."""

import click

from batchcrawl import __version__
from batchcrawl.cli.fakeweb import fakeweb
from batchcrawl.cli.hosts import hosts, robots
from batchcrawl.cli.jobs import job, new
from batchcrawl.cli.look import compare_command, dump_command, segment, segments, status, url
from batchcrawl.cli.seeding import inject
from batchcrawl.cli.steps import crawl, fetch, generate, parse, round_, update
from batchcrawl.errors import ExitCode

COMMANDS = (
    new, job, inject, generate, fetch, parse, update, round_, crawl,
    status, segments, segment, url, hosts, robots, dump_command, fakeweb, compare_command,
)  # fmt: skip
"""In the order of the flow, which is the order of the help."""


class Group(click.Group):
    """Lists its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.commands)


EXIT_STATUS = "\b\nExit status:\n" + "\n".join(f"  {int(code):>2}  {code.sentence}" for code in ExitCode)


@click.group(cls=Group, epilog=EXIT_STATUS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="batchcrawl")
def main() -> None:
    """Crawl the web in rounds: inject, then generate, fetch, parse, update, and again.

    JOB is the name of a file in jobs/ (without .toml) or a path to one.
    """


for command in COMMANDS:
    main.add_command(command)
