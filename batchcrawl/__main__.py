"""Run the command line: `python -m batchcrawl`."""

from batchcrawl.cli import main

if __name__ == "__main__":
    main()
