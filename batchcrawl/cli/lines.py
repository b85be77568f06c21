"""Lines for people: the one place where what comes from the web is made fit for a terminal.

No control character reaches it, and on a terminal no line is wider than it: lines are folded, at a space where there is
one. A wide character takes two columns (Unicode Standard Annex #11), a combining one none. Elsewhere lines stay whole,
for grep and awk. Nothing has a colour.
"""

import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator

import click

COLUMNS_MIN = 20
"""A narrower terminal folds lines itself."""
_INDENT = "    "


def echo_lines(lines: Iterable[str]) -> None:
    """Print lines."""
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    columns = shutil.get_terminal_size().columns if is_terminal else 0
    for line in lines:
        shown = visible(line)
        for part in folded(shown, columns) if columns >= COLUMNS_MIN else (shown,):
            click.echo(part)


def visible(text: str) -> str:
    """Return a text with an escape for each character that has no look of its own, or turns the line around."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def folded(text: str, columns: int) -> Iterator[str]:
    """Yield a line in parts of at most so many columns, all but the first indented."""
    indent = ""
    while True:
        end = _end(text, columns - len(indent))
        if end == len(text):
            yield indent + text
            return
        space = text.rfind(" ", 0, end + 1)
        if space > 0 and text[:space].strip():  # else the break would leave nothing before it
            end = space
        yield indent + text[:end].rstrip(" ")
        text, indent = text[end:].lstrip(" "), indent or _INDENT


def columns_of(text: str) -> int:
    """Return how many columns a visible text takes."""
    return sum(map(_columns, text))


def _end(text: str, columns: int) -> int:
    """Return how many characters of a text fit in so many columns, at least one."""
    taken = 0
    for number, character in enumerate(text):
        taken += _columns(character)
        if taken > columns and number:
            return number
    return len(text)


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
