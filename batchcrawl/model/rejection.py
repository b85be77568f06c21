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
    URL_FILTER = "url_filter"
    """A file of `scope.regex_urlfilters` or `scope.suffix_urlfilters` rejects it."""
    RULE = "rule"
    """A rule of the job's `scope.rules` rejects it."""
    RULE_TIMEOUT = "rule_timeout"
    """A regular expression that is more than linear took too long for it."""
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
    TRAP_PATH_DEPTH = "trap_path_depth"
    """Its path has more segments than the job's `traps.path_depth_max`."""
    TRAP_REPEATING_PATH = "trap_repeating_path"
    """A segment of its path comes again and again, more than the job's `traps.path_repeats_max` times."""
    TRAP_PARAMETERS = "trap_parameters"
    """Its query has more parameters than the job's `traps.parameters_max`."""
    TRAP_GROWING_PARAMETER = "trap_growing_parameter"
    """A parameter holds itself or is encoded over again, more than the job's `traps.nesting_max` times."""
    TRAP_CALENDAR = "trap_calendar"
    """Looks like a calendar, and the host has had its share of costly URLs."""
    TRAP_FACETS = "trap_facets"
    """Looks like a choice of facets, and the host has had its share of costly URLs."""
    TRAP_DUPLICATES = "trap_duplicates"
    """Its like are copies of other pages, and the host has had its share of costly URLs."""
    HOST_BUDGET = "host_budget"
    """The host has as many known URLs as the job's `scope.host_urls_max` allows."""
    DOMAIN_BUDGET = "domain_budget"
    """The registered domain has as many known URLs as the job's `scope.domain_urls_max` allows."""


TRAPS_AND_BUDGETS = frozenset(
    reason for reason in Rejection if reason.value.startswith("trap_") or reason.value.endswith("_budget")
)
"""What ends a part of the web that goes on without end."""
