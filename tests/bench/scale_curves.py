"""Draws what `python -m tests.bench.scale` has measured: `python -m tests.bench.scale_curves FILE.png < FIGURES`.

FIGURES are lines of JSON, one a size. The charts are those of `batchcrawl report`; headless Chromium makes a picture of
them, so nothing has to be installed that draws.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from batchcrawl.figures.charts import Series, line_chart
from tests.bench.scale import MILLION, SEGMENT_URLS, Figures
from tests.support.browser import find_chromium

_WIDTH, _HEIGHT = 1340, 660
_STYLE = """\
:root { --ink: #1c2127; --faint: #aeb5bd; --chart-1: #2a6fb0; --chart-2: #c8641b; --chart-3: #2f8f5b; }
body { margin: 12px; background: #fff; color: var(--ink); font: 15px system-ui, sans-serif; }
main { display: grid; grid-template-columns: 1fr 1fr; gap: 10px 20px; }
h2 { font-size: 15px; margin: 0; }
"""


def page(figures: Sequence[Figures]) -> str:
    """Return the charts of all sizes as a page of HTML, the smallest size first."""
    labels = [f"{one.known / MILLION:,.2g} M" for one in figures]
    steps = {"generate": [one.generate for one in figures], "update": [one.update for one in figures]}
    charts: dict[str, Series] = {
        "processor time, s": {name: [step.cpu_s for step in of] for name, of in steps.items()},
        "time, s": {name: [step.wall_s for step in of] for name, of in steps.items()},
        "memory of all processes, MB": {name: [step.peak_bytes / 1e6 for step in of] for name, of in steps.items()},
        "bytes on disk a known URL": {
            "stored": [one.disk_bytes / one.known for one in figures],
            "allowed": [1.6 * one.url_bytes + 40 for one in figures],
        },
    }
    drawn = (
        f"<section><h2>{title}</h2>{line_chart(f'scale-{number}', labels, series)}</section>"
        for number, (title, series) in enumerate(charts.items())
    )
    what = f"A segment of {SEGMENT_URLS:,} pages and {figures[0].links:,} links, by known URLs; {figures[0].at}"
    return f"<!doctype html><meta charset=utf-8><style>{_STYLE}</style><p>{what}<main>{''.join(drawn)}</main>"


def main(arguments: list[str]) -> None:
    """Draw the figures that come on stdin."""
    (target,) = map(Path, arguments)
    figures = sorted(msgspec.json.Decoder(Figures).decode_lines(sys.stdin.read()), key=lambda one: one.known)
    with TemporaryDirectory(prefix="curves-") as name:
        drawn = Path(name) / "curves.html"
        drawn.write_text(page(figures), encoding="utf-8")
        command = [find_chromium() or "chromium", "--headless", "--disable-gpu", "--hide-scrollbars"]
        command += ["--no-sandbox"] if os.geteuid() == 0 else []
        command += [f"--window-size={_WIDTH},{_HEIGHT}", f"--screenshot={target.resolve()}", drawn.as_uri()]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main(sys.argv[1:])
