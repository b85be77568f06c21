"""Measure some of the scenarios: `python -m tests.bench.freshness [--pages N] [--seeds N] [SCENARIO...]`."""

import argparse

from tests.bench.freshness.measure import PAGES, SEEDS, grid, measured
from tests.bench.freshness.scenarios import SCENARIOS

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.freshness")
    parser.add_argument("names", nargs="*", metavar="SCENARIO", help=", ".join(one.name for one in SCENARIOS))
    parser.add_argument("--pages", type=int, default=PAGES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--processes", type=int, default=None)
    options = parser.parse_args()
    chosen = [one for one in SCENARIOS if one.name in (options.names or [one.name])]
    print(grid(measured(chosen, pages=options.pages, seeds=range(options.seeds), processes=options.processes)))
