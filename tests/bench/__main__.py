"""Measure and print the figures as a table: `python -m tests.bench [--quick] [NAME...]`.

`freshness` and `scale` take the better part of an hour, `soak [--minutes N]` as long as it is told to; so they run only
when they are named.
"""

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from tests.bench import (
    by_step,
    crawldb_reads,
    fetch_speed,
    latency,
    memory,
    parse_speed,
    polite,
    scale,
    soak,
    whole_round,
)
from tests.bench.freshness import measure as freshness
from tests.bench.spent import ProgramFailed
from tests.bench.table import Row, machine, table
from tests.support.nginx import NginxFailed

BENCHES: dict[str, Callable[..., list[Row]]] = {
    "fetch": fetch_speed.run,
    "latency": latency.run,
    "memory": memory.run,
    "polite": polite.run,
    "parse": parse_speed.run,
    "crawldb": crawldb_reads.run,
    "round": whole_round.run,
    "steps": by_step.run,
    "freshness": freshness.run,
    "scale": scale.run,
}
"""By name, in the order in which they run."""
LONG = frozenset({"freshness", "scale"})
"""Those that take the better part of an hour, and run only when they are named."""
SOAK = "soak"


def main(arguments: list[str]) -> int:
    """Run the benches of the names, or all but the long ones; return 1 if one cannot be measured here."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measure batchcrawl; no figure fails.")
    parser.add_argument(
        "names", nargs="*", choices=[[], *BENCHES, SOAK], metavar="NAME", help=", ".join([*BENCHES, SOAK])
    )
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that the benches work, not how fast")
    parser.add_argument("--minutes", type=float, default=soak.MINUTES, help="how long `soak` crawls")
    options = parser.parse_args(arguments)
    print(f"{machine()}, {datetime.now(UTC):%Y-%m-%d}", flush=True)
    rows: list[Row] = []
    failed = False
    for name in options.names or [name for name in BENCHES if name not in LONG]:
        print(f"measuring: {name}", file=sys.stderr)
        try:
            more = soak.run(quick=options.quick, minutes=options.minutes) if name == SOAK else None
            rows += BENCHES[name](quick=options.quick) if more is None else more
        except (NginxFailed, ProgramFailed) as error:
            failed = True
            print(f"{name}: not measured: {error}", file=sys.stderr)
    print(table(rows))
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
