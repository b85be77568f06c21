"""Reasons for which a link or seed is not taken; each is counted under its name."""

from enum import Enum


class Rejection(Enum):
    """Why a URL never enters the crawldb; the value is the name in counts and logs."""

    INVALID = "invalid"
    """Not a URL by the WHATWG standard."""
    SCHEME = "scheme"
    """Neither http nor https."""
    TOO_LONG = "too_long"
    """Longer than the job's `scope.url_bytes_max`."""
    TOO_DEEP = "too_deep"
    """More links away from a seed than the job's `scope.depth_max`."""
    OFF_HOST = "off_host"
    """On a host that is neither a seed's nor named in the job."""
    EXCLUDED = "excluded"
    """Matches an exclude rule of the job."""
    NOT_INCLUDED = "not_included"
    """Matches none of the job's include rules."""
    NOFOLLOW = "nofollow"
    """The page or the link says nofollow and the job obeys it."""
    LINKS_MAX = "links_max"
    """Stands behind the job's `parse.links_max`-th link of its page."""
    HOST_BUDGET = "host_budget"
    """The host has as many known URLs as the job's `scope.host_urls_max` allows."""
