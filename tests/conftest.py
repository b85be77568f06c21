"""Settings of every test, and what tests of many folders share."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.support.warm import Warm

# A deadline on a noisy machine fails tests that are right.
settings.register_profile("batchcrawl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("batchcrawl")


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """A process that runs commands of the program, started once."""
    program = Warm()
    yield program
    program.close()
