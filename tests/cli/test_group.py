"""Commands are loaded when they are called, so the table that stands for them must tell the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from batchcrawl.cli import main
from batchcrawl.cli.group import Group

ROOT = Path(__file__).parents[2]
HEAVY = {"bs4", "fastwarc", "lxml", "requests", "tqdm"}
STEPS = {f"batchcrawl.{name}" for name in ("compare", "fakeweb", "fetch", "generate", "inject", "parse", "update")}


def commands(group: Group) -> list[tuple[str, click.Command]]:
    """Return the commands of a group, each with the name it is called by."""
    context = click.Context(group)
    found = [(name, group.get_command(context, name)) for name in group.list_commands(context)]
    return [(name, command) for name, command in found if command is not None]


def groups() -> list[Group]:
    assert isinstance(main, Group)
    return [main, *(command for _, command in commands(main) if isinstance(command, Group))]


def test_every_command_is_found_and_has_the_name_it_is_called_by() -> None:
    assert [command.name for group in groups() for _, command in commands(group)] == [
        name for group in groups() for name in group.places
    ]


def test_the_list_of_commands_says_what_the_help_of_each_begins_with() -> None:
    said = [command.get_short_help_str(limit=200) for group in groups() for _, command in commands(group)]
    assert [place.help for group in groups() for place in group.places.values()] == said


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["status", "none"]])
def test_what_only_looks_does_not_load_the_steps(arguments: list[str], tmp_path: Path) -> None:
    code = (
        "import json, sys\n"
        "from batchcrawl.cli import main\n"
        "try:\n    main(sys.argv[1:])\n"
        "except SystemExit:\n    print(json.dumps(list(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert loaded & (HEAVY | STEPS) == set()
