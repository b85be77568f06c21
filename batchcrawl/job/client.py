"""What the settings of a job say to the parts that fetch."""

from collections.abc import Callable
from ipaddress import ip_network

from batchcrawl.job.load import Job
from batchcrawl.net.client import ClientSettings
from batchcrawl.policy.politeness import DelayRules


def client_settings(job: Job, *, threads: int) -> ClientSettings:
    """Return the bounds of a fetch and where it may go."""
    fetch, network = job.settings.fetch, job.settings.network
    return ClientSettings(
        user_agent=job.user_agent,
        connect_timeout_s=fetch.connect_timeout_s,
        read_timeout_s=fetch.read_timeout_s,
        deadline_s=fetch.deadline_s,
        body_bytes_max=fetch.body_bytes_max,
        proxy=network.proxy,
        allow_addresses=tuple(ip_network(text) for text in network.allow_addresses),
        names=network.names,
        unverified_hosts=frozenset(network.verify_tls_except),
        threads=threads,
    )


def delay_rules(job: Job) -> DelayRules:
    """Return the delays that hosts are owed."""
    politeness = job.settings.politeness
    return DelayRules(
        delay_min_s=politeness.delay_min_s,
        delay_max_s=politeness.delay_max_s,
        response_factor=politeness.factor,
        backoff_min_s=politeness.backoff_min_s,
        backoff_max_s=politeness.backoff_max_s,
        host_failures_max=politeness.host_failures_max,
    )


def wanted_types(job: Job) -> Callable[[int, str | None, int | None], bool]:
    """Return the judge of headers: only of a page (2xx) of another content type is the body not wanted."""
    wanted = frozenset(name.lower() for name in job.settings.fetch.content_types)

    def wants(status: int, content_type: str | None, content_length: int | None) -> bool:
        if not 200 <= status < 300 or content_type is None:
            return True
        return content_type.partition(";")[0].strip().lower() in wanted

    return wants
