"""The settings of when a page is fetched again."""

from typing import Annotated, Literal

from msgspec import Meta, field

from batchcrawl.job.setting_types import Count, Section, WholeSeconds, means
from batchcrawl.job.units import DAY, HOUR


class RecrawlSettings(Section, frozen=True, kw_only=True):
    """When a page is fetched again."""

    policy: Annotated[
        Literal["value", "fixed", "adaptive"],
        means(
            "What brings a page back: what a refetch is worth, the same interval for all, or the intervals of Apache "
            "Nutch's AdaptiveFetchSchedule."
        ),
    ] = "value"
    change: Annotated[
        Literal["text", "payload", "near"],
        means("What must differ for a page to have changed: its text, its bytes, or more of its text than a little."),
    ] = "text"
    budget: Annotated[
        Count | None,
        means(
            "Most refetches a day; what is worth most is then taken first. Not set: every page comes when it is worth "
            "as much as one of which nothing is known is after the interval.",
            example=10_000,
        ),
    ] = None
    new_share: Annotated[
        Annotated[float, Meta(ge=0, le=1)],
        means(
            "Share of a segment for pages never fetched; what these leave goes to refetches, and the other way round."
        ),
    ] = 0.5
    interval_s: Annotated[WholeSeconds, means("Fetch interval of a page before anything is known of it.")] = field(
        default=30 * DAY, name="interval"
    )
    interval_min_s: Annotated[WholeSeconds, means("Least fetch interval.")] = field(default=HOUR, name="interval_min")
    interval_max_s: Annotated[WholeSeconds, means("Longest fetch interval.")] = field(
        default=365 * DAY, name="interval_max"
    )
    gone_interval_s: Annotated[
        WholeSeconds, means("First interval of a gone page; each next is half as long again.")
    ] = field(default=30 * DAY, name="gone_interval")
    retry_interval_s: Annotated[WholeSeconds, means("A failed URL is tried again after this time.")] = field(
        default=DAY, name="retry_interval"
    )
    rules: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=2000)], ...],
        means(
            "Intervals and weights of some URLs: interval TIME, interval_min TIME, interval_max TIME, weight NUMBER, "
            "one or more; then host NAME..., domain NAME..., prefix URL, regex PATTERN, extension NAME... (as in "
            "scope.rules), type MEDIA/TYPE..., status NAME... (unfetched, fetched, redirect, gone, blocked, skipped, "
            "or an HTTP status), or any. Of each the first rule decides that names it. It counts from the next visit.",
            example=[
                "interval 1h prefix https://example.org/news/",
                "weight 0.2 interval_max 90d type application/pdf",
            ],
        ),
    ] = ()
