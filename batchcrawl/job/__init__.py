"""The job: what one crawl is told to do, read from a TOML file and checked before anything runs."""
