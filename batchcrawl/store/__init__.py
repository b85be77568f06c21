"""The only disk access: layout, durable writes, line files and logs, LevelDB, segments, WARC files."""
