"""A crawl in figures, as a page of HTML: charts and tables that hold their data and need nothing else."""
