"""Named points at which a test can kill the program, to prove that a restart continues.

`BATCHCRAWL_FAILPOINT=warc.appended:3` in the environment kills the whole process group with SIGKILL when
the point `warc.appended` is passed for the third time in one process; without a number, the first time.
Whoever sets it starts the program in a session of its own, since the group dies with it.

A point stands directly behind an act that changes the disk, and is named `<what>.<act done>`. To add one,
call `failpoint` with a literal name and add the name to FAILPOINTS; a test holds the two equal.
"""

import os
import signal
from itertools import count

from batchcrawl.errors import UsageError

VARIABLE = "BATCHCRAWL_FAILPOINT"

FAILPOINTS = (
    "file.synced",
    "file.renamed",
    "lines.synced",
    "lines.finished",
    "crawldb.commit",
    "crawldb.committed",
    "segment.built",
    "segment.visible",
    "log.recovered",
    "warc.recovered",
    "spool.created",
    "warc.opened",
    "warc.appended",
    "log.appended",
    "warc.synced",
    "log.synced",
    "warc.closed",
    "parse.links_written",
    "update.surveyed",
    "update.settled",
    "purge.decided",
    "purge.settled",
    "purge.ended",
    "snapshot.visible",
    "restore.begun",
    "export.kept",
)
"""Every name in the program, in the order of the flow."""


def failpoint(name: str) -> None:
    """Kill the process group here if the environment asks for it; else do nothing."""
    if _armed is not None and _armed[0] == name and next(_hits) == _armed[1]:
        os.killpg(os.getpgrp(), signal.SIGKILL)


def parse_failpoint(setting: str | None) -> tuple[str, int] | None:
    """Return name and number of the hit that kills. Raises UsageError for a name that is not in FAILPOINTS."""
    if not setting:
        return None
    name, _, number = setting.partition(":")
    hit = int(number) if number.isdecimal() else 0 if number else 1
    if name not in FAILPOINTS or hit < 1:
        raise UsageError(f"{VARIABLE} is {setting!r}; it must be <name> or <name>:<hit>, with one of {FAILPOINTS}")
    return name, hit


_armed = parse_failpoint(os.environ.get(VARIABLE))
_hits = count(1)
