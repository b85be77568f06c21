"""How the fuzz tests make their inputs, and how many."""

import os
from collections.abc import Sequence

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

examples = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""Marks a test; `make fuzz` sets the variable."""


def built_of(pieces: Sequence[str]) -> st.SearchStrategy[str]:
    """Return texts that look like what is read, but for what stands between their pieces."""
    return st.lists(st.sampled_from(pieces) | st.text(max_size=5), max_size=30).map("".join)
