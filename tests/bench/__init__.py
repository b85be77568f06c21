"""Benchmarks: each module measures one thing beside another in the same run."""
