"""Arguments and options that several commands share."""

from pathlib import Path

import click

from batchcrawl.cli.completing import complete_job, complete_segment

job_argument = click.argument("job", metavar="JOB", shell_complete=complete_job)
segment_option = click.option(
    "--segment",
    "segment_id",
    metavar="ID",
    shell_complete=complete_segment,
    help="Not the newest segment that needs it.",
)
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
metrics_option = click.option(
    "--metrics",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write what each step did into FILE as it ends, in Prometheus' text format.",
)
log_format_option = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="json: progress and ends of steps as JSON lines on stderr, and nothing else.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
