"""Lines for people."""

from collections.abc import Iterable

import click


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines that come from the web: control characters must not reach the terminal."""
    for line in lines:
        click.echo("".join(c if c.isprintable() else repr(c)[1:-1] for c in line))
