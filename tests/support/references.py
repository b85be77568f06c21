"""The pages of docs/ that follow from the code: every command, and every setting. `make docs` writes them."""

from collections.abc import Iterator
from pathlib import Path

import click

from batchcrawl.cli import main
from batchcrawl.cli.group import Group
from batchcrawl.job.catalogue import Setting, sections, settings_of
from batchcrawl.job.spelling import in_file_form, toml_value

DOCS = Path(__file__).parents[2] / "docs"
WIDTH = 100
_MADE = "<!-- Written by `make docs` from the code. -->\n\n"


def references() -> dict[str, str]:
    """Return the text of each page by its name."""
    return {"CLI.md": "".join(_commands()), "SETTINGS.md": "".join(_settings())}


def write() -> None:
    """Write the pages."""
    for name, text in references().items():
        (DOCS / name).write_text(text, "utf-8")


def _commands() -> Iterator[str]:
    yield f"# Commands\n\n{_MADE}"
    assert isinstance(main, Group)
    for name, command in _all_commands(main, "batchcrawl"):
        context = click.Context(command, info_name=name, terminal_width=WIDTH, **main.context_settings)
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        yield f"## {name}\n\n```text\n{text}\n```\n\n"


def _all_commands(group: Group, prefix: str) -> Iterator[tuple[str, click.Command]]:
    yield prefix, group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, Group):
            yield from _all_commands(command, f"{prefix} {name}")
        elif command is not None:
            yield f"{prefix} {name}", command


def _settings() -> Iterator[str]:
    yield f"# The job file\n\n{_MADE}"
    yield "A file of TOML. `batchcrawl new` writes one with all of this in it, and `batchcrawl job check JOB` tells\n"
    yield "what is in force, and where it comes from. A key that there is none of is refused.\n\n"
    yield from _table(None)
    for name, struct in sections().items():
        yield f"## [{name}]\n\n{' '.join((struct.__doc__ or '').split())}\n\n"
        yield from _table(name)


def _table(section: str | None) -> Iterator[str]:
    yield "| key | default | meaning | allowed |\n|---|---|---|---|\n"
    for setting in settings_of(section).values():
        yield f"| `{setting.key}` | {_default(setting)} | {_cell(setting.meaning)} | {_cell(setting.allowed)} |\n"
    yield "\n"


def _default(setting: Setting) -> str:
    if setting.example is None:
        return f"`{_cell(toml_value(in_file_form(setting.default, unit=setting.unit)))}`"
    return f"not set, as `{_cell(toml_value(setting.example))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    write()
