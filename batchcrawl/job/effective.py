"""What is in force for a job: every setting, its value and where that comes from."""

from typing import Any

import msgspec

from batchcrawl.job.catalogue import catalogue, value_of
from batchcrawl.job.load import Job
from batchcrawl.job.spelling import in_file_form


class Effective(msgspec.Struct, frozen=True, kw_only=True):
    """One setting in force."""

    setting: str
    """Its whole name, as `politeness.delay_min`."""
    value: Any
    """As a job file gives it; None means not set."""
    source: str
    """`default` or `file:line`."""
    meaning: str


def effective_settings(job: Job, *, cores: int) -> list[Effective]:
    """Return all settings in the order of a job file.

    What a default depends on is worked out: user agent, product token, data directory and, for a crawl that
    is born on a machine of so many cores, the number of partitions.
    """
    derived = {
        "user_agent": job.user_agent,
        "product_token": job.product_token,
        "data": str(job.data_dir),
        "crawl.partitions": job.settings.crawl.partitions_for(cores),
    }
    return [
        Effective(
            setting=setting.name,
            value=in_file_form(derived.get(setting.name, value_of(job.settings, setting)), unit=setting.unit),
            source=job.sources[setting.name],
            meaning=setting.meaning,
        )
        for setting in catalogue()
    ]
