"""Which new URLs enter the crawldb: budgets of hosts and registered domains, and the share of costly URLs."""

from dataclasses import dataclass, field

from batchcrawl.model.host import DomainRecord, HostRecord
from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.copies import CopyLimits, has_copies
from batchcrawl.policy.traps import Costly, CostlyShare, costly_of
from batchcrawl.web.domains import Domains
from batchcrawl.web.urls import host_name


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """What a job grants to hosts and domains; None is no limit."""

    host_urls_max: int | None = None
    domain_urls_max: int | None = None
    costly: frozenset[Costly] = frozenset(Costly)
    """What counts as costly."""
    share: CostlyShare = field(default_factory=CostlyShare)
    copies: CopyLimits = field(default_factory=CopyLimits)


def new_host(key: str, domains: Domains, *, at: int) -> HostRecord:
    """Return the record of a host key that enters at an instant."""
    name = host_name(key)
    return HostRecord(host=key, domain=domains.registered(name), budget_domain=domains.budget(name), first_seen_at=at)


def domain_refusal(domain: DomainRecord, budgets: Budgets) -> Rejection | None:
    """Return why a domain takes no new URL, or None."""
    spent = budgets.domain_urls_max is not None and domain.urls >= budgets.domain_urls_max
    return Rejection.DOMAIN_BUDGET if spent else None


def host_refusal(host: HostRecord, costly: Costly | None, budgets: Budgets) -> Rejection | None:
    """Return why a host does not take a new URL, costly or not, or None."""
    known = sum(host.urls.values())
    if budgets.host_urls_max is not None and known >= budgets.host_urls_max:
        return Rejection.HOST_BUDGET
    if costly is not None and budgets.share.is_spent(costly=sum(host.costly.values()), known=known):
        return costly.rejection
    return None


def costliness(url: str, host: HostRecord, budgets: Budgets) -> Costly | None:
    """Return why a new URL of a host is costly, or None."""
    looks = costly_of(url)
    if looks is not None and looks in budgets.costly:
        return looks
    if Costly.DUPLICATES in budgets.costly and has_copies(host, url, budgets.copies):
        return Costly.DUPLICATES
    return None


def count_no_longer_costly(host: HostRecord, url: str) -> None:
    """Let a costly URL of a host count as one no more: it leaves the crawldb, or has become a seed."""
    kinds = (costly_of(url), Costly.DUPLICATES, *Costly)
    counted = next((kind.value for kind in kinds if kind is not None and host.costly.get(kind.value)), None)
    if counted is None:
        return
    host.costly[counted] -= 1
    if not host.costly[counted]:
        del host.costly[counted]
