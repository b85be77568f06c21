"""What the shell completes behind a command: names of jobs, ids of segments, names of snapshots, files.

Whoever presses Tab wants no message: where something cannot be read, there is nothing to complete.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import CompletionItem, get_completion_class

from batchcrawl.errors import CrawlError, UsageError
from batchcrawl.job.load import JOBS_DIR, load_job
from batchcrawl.store.layout import Layout

SHELLS = ("bash", "zsh", "fish")
_PROGRAM, _VARIABLE = "batchcrawl", "_BATCHCRAWL_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what lets a shell complete commands, jobs and segments.

    \b
    bash:  batchcrawl completion bash > ~/.local/share/bash-completion/completions/batchcrawl
    zsh:   batchcrawl completion zsh > DIR/_batchcrawl, with DIR in fpath before compinit
    fish:  batchcrawl completion fish > ~/.config/fish/completions/batchcrawl.fish

    \b
    Reads:   nothing
    Writes:  nothing
    Example: batchcrawl completion zsh
    Exit codes: 0 done, 2 wrong usage
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise UsageError(f"click completes nothing in {shell}")
    # Not its source(), which for bash runs bash to see how old it is.
    made = kind(click.Group(), {}, _PROGRAM, _VARIABLE)
    click.echo(made.source_template % made.source_vars())


def complete_job(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the jobs of the working directory, or files where a path is begun."""
    if "/" in incomplete or incomplete.startswith("."):
        return [CompletionItem(incomplete, type="file")]
    with suppress(OSError):
        return _items((path.stem for path in Path(JOBS_DIR).glob("*.toml")), incomplete)
    return []


def complete_segment(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the segments of the job that was named before, the newest first."""
    return _items(reversed(_of_job(ctx, Layout.segment_ids)), incomplete)


def complete_newest_segment(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the same, and the word for the newest."""
    return _items(["newest"], incomplete) + complete_segment(ctx, param, incomplete)


def complete_snapshot(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Return the snapshots of the job that was named before."""
    return _items(sorted(_of_job(ctx, _snapshots)), incomplete)


def complete_file(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete files."""
    return [CompletionItem(incomplete, type="file")]


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def _of_job(ctx: click.Context, names: Callable[[Layout], list[str]]) -> list[str]:
    # Where the value of an option is wanted, click has not told the words from one another.
    job = ctx.params.get("job") or next(iter(ctx.args), "")
    with suppress(CrawlError, OSError):
        return names(Layout(load_job(job, cwd=Path.cwd()).data_dir))
    return []


def _snapshots(layout: Layout) -> list[str]:
    return [path.name for path in layout.snapshots.iterdir() if path.is_dir()]
