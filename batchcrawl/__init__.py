"""A batch web crawler for one machine: generate, fetch, parse, update, each step crash-safe."""

__version__ = "0.1.0"
