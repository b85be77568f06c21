"""Settings of every test."""

from hypothesis import HealthCheck, settings

# A deadline on a noisy machine fails tests that are right.
settings.register_profile("batchcrawl", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("batchcrawl")
