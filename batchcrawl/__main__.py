"""The program: `python -m batchcrawl` and the console script begin here."""

import os
import sys

from batchcrawl.errors import INTERRUPTED_LINE, ExitCode


def run() -> None:
    """Run the command line; Ctrl-C before it is loaded ends it as anywhere else."""
    try:
        from batchcrawl.cli import main  # noqa: PLC0415  # loading takes long enough to be interrupted

        main()
    except KeyboardInterrupt:
        os.write(2, f"batchcrawl: {INTERRUPTED_LINE}\n".encode())
        sys.exit(int(ExitCode.INTERRUPTED))


if __name__ == "__main__":
    run()
