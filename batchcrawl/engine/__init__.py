"""Runs a step over the partitions of a crawl: a process a partition, its progress, its end."""
