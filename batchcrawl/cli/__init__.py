"""The command line. Data goes to stdout, progress and messages to stderr."""

import click

from batchcrawl import __version__
from batchcrawl.cli.group import Group, Place
from batchcrawl.errors import ExitCode

PLACES = {
    "new": Place("jobs", "new", "Write a commented job file for the hosts of some URLs."),
    "job": Place("jobs", "job", "Look at job files."),
    "inject": Place("seeding", "inject", "Put seeds into the crawldb; without any, those of the job file."),
    "generate": Place("steps", "generate", "Make a segment of the best URLs that may be taken now."),
    "freegen": Place("listed", "freegen", "Make a segment of the URLs of a list, whether they are due or not."),
    "fetch": Place("steps", "fetch", "Fetch the URLs of a segment; an interrupted fetch goes on."),
    "parse": Place("steps", "parse", "Turn the pages of a segment into text, signatures and links."),
    "parse test": Place("trying", "parse_test", "Fetch or read one page, and print all that parse would write of it."),
    "update": Place("steps", "update", "Bring what a segment saw into the crawldb."),
    "round": Place("steps", "round_", "Run one round: finish the segment under way, or make one and finish it."),
    "crawl": Place("steps", "crawl", "Run rounds one after the other; an interrupted crawl goes on."),
    "status": Place("standing", "status", "Say how a crawl stands."),
    "segments": Place("standing", "segments", "List the segments of a crawl, oldest first."),
    "segment": Place("look", "segment", "Look into a segment; ID may be `newest`."),
    "drop": Place(
        "dropping", "drop_command", "Give up a segment that is not applied: remove it and let its URLs be taken again."
    ),
    "purge": Place("purging", "purge_command", "Take URLs out of the crawldb: by status, age, scope or any condition."),
    "delete": Place("purging", "delete", "Take URLs out of the crawldb by their names."),
    "gc": Place("collecting", "gc_command", "List the segments that nothing needs any more, and delete them if asked."),
    "snapshot": Place("saving", "snapshot", "Keep a crawl as it is now, under a name; default: the time in UTC."),
    "snapshots": Place("saving", "list_snapshots", "List the snapshots of a crawl, oldest first."),
    "restore": Place("saving", "restore", "Put a crawl back to what it was when a snapshot was made."),
    "url": Place("look", "url", "Print what the crawldb knows of a URL and its host, as JSON."),
    "explain": Place("explaining", "explain_command", "Explain what became of a URL or link, and what decided."),
    "scope": Place("trying", "scope", "Try out the rules of a job."),
    "schedule": Place(
        "scheduling", "schedule_command", "Explain when a URL comes again: belief, weight, value, levels, price."
    ),
    "simulate": Place(
        "simulating",
        "simulate_command",
        "Say how fresh the copies would be in the long run under half, twice and four times the budget.",
    ),
    "hosts": Place(
        "hosts",
        "hosts",
        "List the hosts of a crawl: URLs due and waiting, delay and why, and until when a host is put off.",
    ),
    "robots": Place("hosts", "robots", "Look at what robots.txt files say."),
    "get": Place(
        "finding",
        "get_command",
        "Print what a segment has of a URL, as JSON; it needs no crawl, only the directory SEGMENT.",
    ),
    "grep": Place(
        "finding",
        "grep_command",
        "Search the URLs, titles, descriptions and texts of a segment; it needs no crawl, only the directory SEGMENT.",
    ),
    "dump": Place(
        "look",
        "dump_command",
        "Print the whole crawldb as JSON lines, URLs and hosts; of a segment's directory, its URLs and pages.",
    ),
    "db": Place("db", "db", "Move the whole crawldb, or tidy it up."),
    "export": Place(
        "exporting",
        "export_command",
        "Write out the latest version of each page, its links, or an index of all that is stored.",
    ),
    "report": Place(
        "reporting",
        "report_command",
        "Write a page of HTML with charts and tables that tell how a crawl stands and how it came there.",
    ),
    "dashboard": Place("dashboard", "dashboard", "Show live in a browser how a crawl stands, until Ctrl-C."),
    "check": Place("check", "check", "Prove that a crawl is what was written, by records and checksums."),
    "repair": Place("repairing", "repair_command", "Have back what can be had of a damaged crawldb."),
    "fakeweb": Place("fakeweb", "fakeweb", "Serve a seeded synthetic web on loopback."),
    "completion": Place("completing", "completion", "Print what lets a shell complete commands, jobs and segments."),
    "compare": Place(
        "comparing",
        "compare_command",
        "Compare a crawl of a synthetic web with its truth.",
    ),
}
"""In the order of the flow, which is the order of the help."""

EXIT_STATUS = "\b\nExit status:\n" + "\n".join(f"  {int(code):>2}  {code.sentence}" for code in ExitCode)


@click.group(cls=Group, places=PLACES, epilog=EXIT_STATUS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="batchcrawl")
def main() -> None:
    """Crawl the web in rounds: inject, then generate, fetch, parse, update, and again.

    JOB is the name of a file in jobs/ (without .toml) or a path to one.
    """
