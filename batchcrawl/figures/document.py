"""A page of HTML that stands alone: its own policy lets no request leave it, and what comes from the web is escaped."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

Cell = str | int | float | None
"""Numbers are shown with separators, and sorted as numbers; None is an empty cell."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
_STYLE = Path(__file__).with_name("page.css").read_text("utf-8")
_SCRIPT = Path(__file__).with_name("page.js").read_text("utf-8")


@dataclass(frozen=True)
class Table:
    """Rows under names; a click on a name sorts by it."""

    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def document(title: str, parts: Iterable[str]) -> str:
    """Return a whole page of parts that are HTML already."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{_escaped(title)}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_escaped(_POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<link rel="icon" href="data:,">\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n{''.join(parts)}<script>{_SCRIPT}</script>\n</body>\n</html>\n"
    )


def visible(text: str) -> str:
    """Return a text with U+FFFD for each character that has no look of its own, as control characters."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def heading(text: str, *, level: int = 2) -> str:
    """Return a heading."""
    return f"<h{level}>{_escaped(text)}</h{level}>\n"


def paragraph(text: str, *, faint: bool = False) -> str:
    """Return a paragraph; a faint one is a note."""
    return f"<p{' class=note' if faint else ''}>{_escaped(text)}</p>\n"


def tiles(facts: Sequence[tuple[str, str]]) -> str:
    """Return the few numbers that come first, each with what it counts."""
    inner = "".join(
        f"<div class=tile><b>{_escaped(value)}</b><span>{_escaped(name)}</span></div>" for name, value in facts
    )
    return f"<div class=tiles>{inner}</div>\n"


def figures(drawn: Sequence[tuple[str, str]]) -> str:
    """Return charts side by side, each with its caption."""
    inner = "".join(f"<figure><figcaption>{_escaped(name)}</figcaption>{svg}</figure>" for name, svg in drawn)
    return f"<div class=charts>{inner}</div>\n"


def table(content: Table, *, empty: str = "nothing yet") -> str:
    """Return a table, or a line where it has no rows."""
    if not content.rows:
        return paragraph(empty, faint=True)
    numeric = [all(not isinstance(row[n], str) for row in content.rows) for n in range(len(content.head))]
    head = "".join(
        f"<th{' class=n' if is_number else ''}><button>{_escaped(name)}</button></th>"
        for name, is_number in zip(content.head, numeric, strict=True)
    )
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>\n" for row in content.rows)
    return f"<div class=table><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"


def _cell(value: Cell) -> str:
    if value is None:
        return "<td></td>"
    if isinstance(value, str):
        return f"<td>{_escaped(value)}</td>"
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"
    return f'<td class=n data-n="{value}">{shown}</td>'


def _escaped(text: str) -> str:
    return escape(visible(text))
