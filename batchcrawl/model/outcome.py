"""Fetch outcomes: every URL of a fetch list ends with exactly one of them in the fetch log."""

from enum import Enum


class FetchOutcome(Enum):
    """How the fetch of one URL ended: the name stands in the fetch log, the number in the crawldb."""

    number: int
    sentence: str

    def __new__(cls, name: str, number: int, sentence: str) -> "FetchOutcome":
        """Make a member whose value is its name on disk."""
        member = object.__new__(cls)
        member._value_ = name
        member.number = number
        member.sentence = sentence
        return member

    FETCHED = "fetched", 1, "A page came, whole or marked as truncated (2xx)."
    NOT_MODIFIED = "not_modified", 2, "The server says that the stored copy is still right (304)."
    REDIRECT = "redirect", 3, "The server points to another URL, which is recorded as a link (3xx)."
    NOT_FOUND = "not_found", 4, "There is no such page (404)."
    GONE = "gone", 5, "The page was removed for good (410)."
    DENIED = "denied", 6, "The server refuses the page (any other 4xx but 429)."
    SERVER_ERROR = "server_error", 7, "The server failed (5xx but 503)."
    TIMEOUT = "timeout", 8, "No connection or no whole answer within the time allowed."
    CONNECT_FAILED = "connect_failed", 9, "The connection was refused, reset or cut."
    DNS_FAILED = "dns_failed", 10, "The host name has no address, or its name servers were silent."
    TLS_FAILED = "tls_failed", 11, "The TLS handshake or the certificate failed."
    PROTOCOL_ERROR = (
        "protocol_error",
        12,
        "The answer is not HTTP that can be read, or has no status that answers a GET.",
    )
    ROBOTS_DENIED = "robots_denied", 13, "robots.txt forbids the URL; it was not asked for."
    ADDRESS_REFUSED = "address_refused", 14, "The host's address is not public and the job does not allow it."
    SKIPPED_TYPE = "skipped_type", 15, "The headers announce a content type that the job does not keep."
    DEFERRED = (
        "deferred",
        16,
        "The host is put off (429, 503, failing, robots.txt not to be had, a long Crawl-delay); the URL is not blamed.",
    )
    TIME_LIMIT = "time_limit", 17, "The step ended at its time limit before the URL was done."
    REDIRECT_INVALID = "redirect_invalid", 18, "The redirect has no usable target."
