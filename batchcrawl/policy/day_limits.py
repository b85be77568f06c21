"""How many URLs of a host have been leased on a day (UTC); kept where the job limits that, and only for one day."""

from batchcrawl.model.host import HostRecord
from batchcrawl.policy.schedule import DAY_S


def day_of(at: float) -> int:
    """Return the day of an instant, in days since 1970, UTC."""
    return int(at // DAY_S)


def used_on(host: HostRecord, day: int) -> int:
    """Return how many URLs of a host have been leased on a day."""
    return host.day_urls if host.day == day else 0


def note_lease(host: HostRecord, day: int) -> None:
    """Count a URL that is leased on a day; nothing of an earlier day is kept."""
    host.day, host.day_urls = day, used_on(host, day) + 1


def note_return(host: HostRecord, day: int) -> None:
    """Count a URL back that was leased on a day and not asked for."""
    if used_on(host, day) > 0:
        host.day_urls -= 1
