"""What the settings of a job say to the parts that fetch."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from ipaddress import ip_network

from batchcrawl.job.credentials import authorization, proxy_with_credentials
from batchcrawl.job.load import Job
from batchcrawl.net.settings import ClientSettings
from batchcrawl.policy.politeness import DelayRules


def client_settings(
    job: Job, *, threads: int, hosts_kept: int = 0, environment: Mapping[str, str] = os.environ
) -> ClientSettings:
    """Return the bounds of a fetch and where it may go.

    Raises UsageError when an environment variable that the job names for a secret is missing or holds something else.
    """
    fetch, network = job.settings.fetch, job.settings.network
    certificate = network.client_certificate
    return ClientSettings(
        user_agent=job.user_agent,
        connect_timeout_s=fetch.connect_timeout_s,
        read_timeout_s=fetch.read_timeout_s,
        deadline_s=fetch.deadline_s,
        bytes_per_second_min=fetch.bytes_per_second_min,
        body_bytes_max=fetch.body_bytes_max,
        cookies=fetch.cookies,
        authorization=authorization(
            network.credentials, where=_place(job, "network.credentials"), environment=environment
        ),
        proxy=_proxy(job, environment),
        allow_addresses=tuple(ip_network(text) for text in network.allow_addresses),
        system_resolver=network.resolver == "system",
        name_servers=network.name_servers,
        names=network.names,
        unverified_hosts=frozenset(network.verify_tls_except),
        client_certificate=None if certificate is None else str(job.path.parent / certificate),
        threads=threads,
        hosts_kept=hosts_kept,
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


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """Between two requests of one partition to what hosts share, in seconds."""

    domain_s: float
    address_s: float


def gaps(job: Job, *, partitions: int) -> Gaps:
    """Return the gaps of domains and addresses. Hosts of one address lie in any partition, so each takes its share."""
    politeness = job.settings.politeness
    return Gaps(
        domain_s=min(politeness.domain_gap_s, politeness.delay_min_s),
        address_s=min(politeness.address_gap_s, politeness.delay_min_s) * partitions,
    )


def wanted_types(job: Job) -> Callable[[int, str | None, int | None], bool]:
    """Return the judge of headers: only of a page (2xx) of another content type is the body not wanted."""
    wanted = frozenset(name.lower() for name in job.settings.fetch.content_types)

    def wants(status: int, content_type: str | None, content_length: int | None) -> bool:
        if not 200 <= status < 300 or content_type is None:
            return True
        return content_type.partition(";")[0].strip().lower() in wanted

    return wants


def _proxy(job: Job, environment: Mapping[str, str]) -> str | None:
    network = job.settings.network
    if network.proxy is None or network.proxy_credentials is None:
        return network.proxy
    where = _place(job, "network.proxy_credentials")
    return proxy_with_credentials(network.proxy, network.proxy_credentials, where=where, environment=environment)


def _place(job: Job, name: str) -> str:
    return f"{job.sources[name]}: {name}"
