"""The bytes of a day: how many segments have brought since midnight, and how large the next one may be."""

from collections.abc import Iterator

from msgspec import structs

from batchcrawl.errors import NothingDue
from batchcrawl.job.crawl import Crawl
from batchcrawl.job.settings import GenerateSettings
from batchcrawl.job.units import about
from batchcrawl.policy.day_limits import day_of
from batchcrawl.policy.schedule import DAY_S
from batchcrawl.store.segment import Manifest, Segment

URL_BYTES = 100_000
"""What a URL brings is taken for this before any segment is fetched."""
SEGMENTS_LOOKED_AT = 10
"""So many segments tell what a URL brings."""


def within_day(crawl: Crawl, wanted: GenerateSettings, *, now: float) -> GenerateSettings:
    """Return what is wanted of a segment, made no larger than the bytes allow that are left of the day.

    By the mean of the last segments, but for one URL at least. Raises NothingDue where no byte is left.
    """
    if wanted.bytes_day_max is None:
        return wanted
    manifests = list(_newest(crawl))
    url_bytes = _url_bytes(manifests)
    left = wanted.bytes_day_max - _brought(manifests, url_bytes, day_of(now))
    if left <= 0:
        due_at = (day_of(now) + 1) * DAY_S
        why = "the bytes of the day, generate.bytes_day_max, are used up"
        raise NothingDue(f"nothing is due; {why}: the next may be taken in {about(due_at - now)}", due_at=due_at)
    return structs.replace(wanted, urls_max=min(wanted.urls_max, max(1, int(left / url_bytes))))


def bytes_today(crawl: Crawl, *, now: float) -> int:
    """Return how many bytes of bodies the segments that are there have brought since midnight (UTC), or will."""
    manifests = list(_newest(crawl))
    return int(_brought(manifests, _url_bytes(manifests), day_of(now)))


def _newest(crawl: Crawl) -> Iterator[Manifest]:
    """Yield the manifests of the segments, the newest first."""
    for name in reversed(crawl.layout.segment_ids()):
        yield Segment(crawl.layout.segment(name)).manifest


def _url_bytes(manifests: list[Manifest]) -> float:
    """Return what a URL brings, as a mean over the last segments."""
    fetched = [one for one in manifests if "fetched" in one.steps][:SEGMENTS_LOOKED_AT]
    urls = sum(one.urls for one in fetched)
    brought = sum(one.steps["fetched"].counts.get("body_bytes", 0) for one in fetched)
    return max(1.0, brought / urls) if urls else URL_BYTES


def _brought(manifests: list[Manifest], url_bytes: float, day: int) -> float:
    """Return what segments have brought on a day; one that is not fetched yet counts as one that brings the mean."""
    total = 0.0
    for one in manifests:
        step = one.steps.get("fetched")
        if step is None:
            total += one.urls * url_bytes
        elif day_of(step.ended_at) == day:
            total += step.counts.get("body_bytes", 0)
    return total
