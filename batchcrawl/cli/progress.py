"""How far a step is: a live bar on a terminal, elsewhere a line every half minute. All of it goes to stderr."""

import sys
import time
from dataclasses import asdict
from typing import Any, NoReturn

import click
import msgspec
from tqdm import tqdm

from batchcrawl.engine.control import Progress

LINE_EVERY_S = 30.0

# Steps fork, which is safe only without other threads; the monitor would be one.
tqdm.monitor_interval = 0


class StepProgress:
    """Shows the progress of one step; called with each report."""

    def __init__(self, command: str, *, quiet: bool = False, as_json: bool = False) -> None:
        self._command = command
        self._quiet = quiet
        self._as_json = as_json
        self._bar: tqdm[NoReturn] | None = None
        self._said = self._began = time.monotonic()
        self._first: int | None = None

    def close(self) -> None:
        """Clear the bar away."""
        if self._bar is not None:
            self._bar.close()

    def __call__(self, progress: Progress) -> None:
        """Show a report."""
        if self._quiet or not (progress.total or progress.done):
            return
        if self._first is None:
            self._first = progress.done
        if sys.stderr.isatty() and not self._as_json:
            self._draw(progress)
        elif time.monotonic() - self._said >= LINE_EVERY_S:
            self._said = time.monotonic()
            if self._as_json:
                log_json(self._command, **asdict(progress))
            else:
                click.echo(self._line(progress), err=True)

    def _draw(self, progress: Progress) -> None:
        if self._bar is None:
            self._bar = tqdm(
                total=progress.total or None,
                initial=progress.done,
                desc=self._command,
                unit="url",
                leave=False,
                dynamic_ncols=True,
                file=sys.stderr,
            )
        self._bar.total = progress.total or None
        self._bar.set_postfix_str(_hosts(progress), refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def _line(self, progress: Progress) -> str:
        passed_s = max(self._said - self._began, 0.001)
        rate = (progress.done - (self._first or 0)) / passed_s
        of = f" of {progress.total:,}" if progress.total else ""
        words = [f"{self._command}: {progress.done:,}{of}"]
        if rate or not _hosts(progress):  # else the hosts say what is waited for
            words.append(f"{rate:.1f}/s")
        if rate and progress.total:
            words.append(f"{(progress.total - progress.done) / rate:.0f} s left")
        words.append(_hosts(progress))
        return ", ".join(word for word in words if word)


def log_json(step: str, **facts: Any) -> None:
    """Print what happens in a step as one JSON object on stderr, with the instant in seconds since 1970."""
    click.echo(msgspec.json.encode({"at": round(time.time(), 3), "step": step, **facts}), err=True)


def _hosts(progress: Progress) -> str:
    if not progress.active_hosts and not progress.waiting_hosts:
        return ""
    return f"{progress.active_hosts} hosts active, {progress.waiting_hosts} waiting"
