import inspect
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from batchcrawl import errors
from batchcrawl.cli import main
from batchcrawl.errors import CrawlError, ExitCode

ROOT = Path(__file__).parents[1]
CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, CrawlError)]
CODES = {int(code): code.sentence for code in ExitCode}


@pytest.mark.parametrize("kind", CLASSES)
def test_every_error_says_in_one_sentence_what_it_is(kind: type[CrawlError]) -> None:
    assert re.fullmatch(r"[A-Z][^\n.]*\.", kind.__dict__["__doc__"])


def test_the_tree_in_the_module_is_the_tree_of_the_classes() -> None:
    told = {name: int(code) for name, code in re.findall(r"(\w+) +(\d+) {3}", errors.__doc__ or "")}
    assert told == {kind.__name__: int(kind.exit_code) for kind in CLASSES}


def test_every_class_stands_below_its_parent_in_the_tree() -> None:
    parents: list[str] = []
    for indent, name in re.findall(r"^ {4}([│├└─ ]*)(\w+) +\d+ {3}", errors.__doc__ or "", re.MULTILINE):
        depth = len(indent) // 4
        parents[depth:] = [name]
        assert depth == 0 or getattr(errors, name).__base__.__name__ == parents[depth - 1]


def test_every_exit_code_but_that_of_success_belongs_to_an_error() -> None:
    assert {kind.exit_code for kind in CLASSES} == set(ExitCode) - {ExitCode.DONE}


def test_the_readme_has_the_table_of_exit_codes() -> None:
    table = re.search(r"\| code \| meaning \|\n\|[-|]+\|\n((?:\|.*\|\n)+)", (ROOT / "README.md").read_text("utf-8"))
    assert table is not None
    rows = [row.strip("| ").split(" | ") for row in table[1].splitlines()]
    assert {int(code): meaning for code, meaning in rows} == CODES


def test_the_help_has_the_table_of_exit_codes() -> None:
    text = CliRunner().invoke(main, ["--help"]).output
    lines = text[text.index("Exit status:") :].splitlines()[1:]
    assert {int(line.split()[0]): line.split(maxsplit=1)[1] for line in lines if line.strip()} == CODES
