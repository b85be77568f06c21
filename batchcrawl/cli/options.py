"""Arguments and options that several commands share."""

import click

job_argument = click.argument("job", metavar="JOB")
segment_option = click.option("--segment", "segment_id", metavar="ID", help="Not the newest segment that needs it.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="No progress and no summary.")
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
