"""Charts as SVG to be put into a page; their colours are the page's, by its custom properties."""

import sys
from collections.abc import Callable, Mapping, Sequence

import pygal
from lxml import etree
from pygal.graph.graph import Graph
from pygal.style import Style

from batchcrawl.figures.document import visible

# pygal adds a finder for plug-ins of its own, of a kind of which Python warns at each import that follows.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "PluginImportFixer"]

Number = int | float
Series = Mapping[str, Sequence[Number | None]]
"""Numbers by the name of what they count, each as long as the labels."""

_STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground="var(--ink)",
    foreground_strong="var(--ink)",
    foreground_subtle="var(--faint)",
    guide_stroke_color="var(--faint)",
    major_guide_stroke_color="var(--faint)",
    opacity=".85",
    opacity_hover="1",
    transition="0s",
    font_family="system-ui, sans-serif",
    colors=tuple(f"var(--chart-{n})" for n in range(1, 7)),
)
_LABELS_MAX = 12


def line_chart(name: str, labels: Sequence[str], series: Series) -> str:
    """Return lines over labels, filled to the axis. `name` tells its style from that of other charts of the page."""
    chart = pygal.Line(**_settings(labels), dots_size=2, fill=len(series) == 1)
    return _drawn(chart, name, labels, series)


def bar_chart(name: str, labels: Sequence[str], series: Series) -> str:
    """Return upright bars over labels."""
    return _drawn(pygal.Bar(**_settings(labels)), name, labels, series)


def row_chart(name: str, labels: Sequence[str], series: Series) -> str:
    """Return bars from left to right, the first label on top."""
    settings = {**_settings(labels), "height": 70 + 24 * len(labels), "x_labels_major_every": None}
    turned = {title: list(reversed(numbers)) for title, numbers in series.items()}
    return _drawn(pygal.HorizontalBar(**settings), name, list(reversed(labels)), turned)


def shown(number: Number) -> str:
    """Return a number as people read it."""
    return f"{number:,.0f}" if number == int(number) or number >= 100 else f"{number:,.2f}"


def _settings(labels: Sequence[str]) -> dict[str, object]:
    every = max(1, -(-len(labels) // _LABELS_MAX))
    formatter: Callable[[Number | None], str] = lambda number: "" if number is None else shown(number)  # noqa: E731
    return {
        "style": _STYLE,
        "width": 640,
        "height": 260,
        "margin": 8,
        "margin_right": 30,
        "max_scale": 6,
        "js": [],
        "x_labels_major_every": every,
        "show_minor_x_labels": every == 1,
        "show_y_guides": True,
        "legend_at_bottom": True,
        "truncate_label": 24,
        "value_formatter": formatter,
        "include_x_axis": True,
        "disable_xml_declaration": True,
        "no_data_text": "nothing yet",
    }


def _drawn(chart: Graph, name: str, labels: Sequence[str], series: Series) -> str:
    chart.uuid = name  # else it is drawn by lot
    chart.x_labels = list(map(visible, labels))
    chart.show_legend = len(series) > 1
    for title, numbers in series.items():
        chart.add(title, list(numbers))
    tree = chart.render_tree()
    for element in list(tree.iter()):
        # pygal leaves its settings to a script that is not there, and its own name in comments.
        if not isinstance(element.tag, str) or element.tag.endswith("script"):
            element.getparent().remove(element)
    tree.set("role", "img")
    return str(etree.tostring(tree, encoding="unicode"))
