"""The program with small batches and frequent syncs, so that a small crawl has many commit acts.

Run as `python -m tests.support.small_batches COMMAND ...`. The processes of partitions are forks, so they
have the small batches, too.
"""

import batchcrawl.engine.crew
import batchcrawl.fetch
import batchcrawl.generate
import batchcrawl.inject
import batchcrawl.update
from batchcrawl.cli import main

batchcrawl.inject.CHUNK_SEEDS = 8
batchcrawl.generate.BATCH_URLS = 16
batchcrawl.update.BATCH_EVENTS = 16
batchcrawl.fetch.SYNC_S = 0.0
batchcrawl.engine.crew.TICK_S = 0.02

if __name__ == "__main__":
    main()
