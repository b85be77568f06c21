"""Groups of commands of which only the one that is called is loaded, and none ends by a traceback."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from batchcrawl.cli.endings import one_line_endings


@dataclass(frozen=True)
class Place:
    """Where a command is, and what the list of commands says of it."""

    module: str
    """Of this package."""
    name: str
    """In the module."""
    help: str


class Group(click.Group):
    """Lists its commands in the order of the table that says where they are, and loads the one that is called."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command, or return None when there is none of that name."""
        place = self.places.get(cmd_name)
        if place is None:
            return None
        command = getattr(import_module(f"batchcrawl.cli.{place.module}"), place.name)
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the commands that begin so, without loading any, and the options."""
        found = [CompletionItem(name, help=place.help) for name, place in self.places.items() if " " not in name]
        return [item for item in found if item.value.startswith(incomplete)] + click.Command.shell_complete(
            self, ctx, incomplete
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command of the first words: two where a command has two, and something stands behind them.

        So the command of the first word alone can have an argument that happens to be the second.
        """
        both = " ".join(args[:2])
        nothing = "" if ctx.resilient_parsing else "-"  # the shell asks what may stand there
        behind = args[2] if len(args) > 2 else nothing
        if both in self.places and (behind[:1] != "-" or behind in ctx.help_option_names):
            return both, self.get_command(ctx, both), args[2:]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, place.help) for name, place in self.places.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is called; whatever it raises ends it by one line."""
        with one_line_endings():
            return super().invoke(ctx)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the command line; this holds for --help and --version, too."""
        with one_line_endings():
            return super().main(*args, **kwargs)
