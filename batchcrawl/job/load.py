"""Finds a job file, reads it and gives the job, or one line that says what is wrong with it and where."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from batchcrawl.errors import JobFileError
from batchcrawl.job import agent
from batchcrawl.job.addresses import is_loopback, parse_proxy
from batchcrawl.job.catalogue import catalogue
from batchcrawl.job.checks import check_settings
from batchcrawl.job.convert import read_settings
from batchcrawl.job.page_rules import page_rules
from batchcrawl.job.scope_rules import scope_rules
from batchcrawl.job.settings import Settings
from batchcrawl.job.source import FILE_BYTES_MAX, parse_job_text, printable
from batchcrawl.net.names import StaticNames
from batchcrawl.policy.admission import Budgets
from batchcrawl.policy.copies import CopyLimits
from batchcrawl.policy.page_rules import PageRule
from batchcrawl.policy.rules import ScopeRules
from batchcrawl.policy.traps import Costly, CostlyShare

JOBS_DIR = "jobs"
DATA_DIR = "data"
DEFAULT = "default"
JOB_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A job file that is right."""

    name: str
    path: Path
    argument: str
    """What names the job in a command, as it was given."""
    shown: str
    """The file's name for messages."""
    data_dir: Path
    """Directory of the crawl; it need not exist yet."""
    settings: Settings
    scope: ScopeRules
    """What the settings say of the scope."""
    page_rules: tuple[PageRule, ...]
    """What they say of the intervals and weights of some URLs."""
    sources: Mapping[str, str]
    """`default` or `file:line` of every setting by its name, as `politeness.delay_min`."""

    @property
    def user_agent(self) -> str:
        """Return the User-Agent to send."""
        return agent.user_agent(self.settings)

    @property
    def product_token(self) -> str:
        """Return the name that robots.txt knows the crawler by."""
        return agent.product_token(self.settings)

    @property
    def budgets(self) -> Budgets:
        """Return what hosts and domains may give to the crawl."""
        scope, traps = self.settings.scope, self.settings.traps
        return Budgets(
            host_urls_max=scope.host_urls_max,
            domain_urls_max=scope.domain_urls_max,
            costly=frozenset(map(Costly, traps.costly)),
            share=CostlyShare(traps.costly_urls_max, traps.costly_share),
            copies=CopyLimits(traps.duplicates_min, traps.duplicates_share),
        )

    @property
    def seed_paths(self) -> list[Path]:
        """Return the seed files, which the job file names as seen from itself."""
        return [self.path.parent / name for name in self.settings.seed_files]

    @property
    def limits_path(self) -> Path | None:
        """Return the file of limits, likewise."""
        name = self.settings.generate.limits_file
        return None if name is None else self.path.parent / name


def load_job(name_or_path: str, *, cwd: Path) -> Job:
    """Return the job of a name (`jobs/NAME.toml` below `cwd`) or of a path that ends in `.toml`.

    Raises JobFileError with one line when there is no such file or anything in it is wrong.
    """
    path, shown = find_job(name_or_path, cwd=cwd)
    source = parse_job_text(_read(path, shown), shown)
    settings, given = read_settings(source)
    check_settings(settings, source)
    return Job(
        name=path.stem,
        path=path,
        argument=name_or_path,
        shown=shown,
        data_dir=_data_dir(path, settings),
        settings=settings,
        scope=scope_rules(settings, source, path.parent),
        page_rules=page_rules(settings.recrawl, source),
        sources={setting.name: given.get(setting.name, DEFAULT) for setting in catalogue()},
    )


def find_job(name_or_path: str, *, cwd: Path) -> tuple[Path, str]:
    """Return the path of a job's file and its name for messages; it need not exist. Raises JobFileError."""
    if name_or_path.endswith(".toml"):
        return cwd / name_or_path, printable(name_or_path, 200)
    if not JOB_NAME.fullmatch(name_or_path):
        raise JobFileError(
            f"{printable(name_or_path)!r} is no job; allowed: a name of letters, digits, '.', '-' and '_' "
            f"for {JOBS_DIR}/NAME.toml, or a path that ends in .toml"
        )
    shown = f"{JOBS_DIR}/{name_or_path}.toml"
    return cwd / shown, shown


def require_contact(job: Job, hosts: Iterable[str]) -> None:
    """Raise JobFileError if the job has no contact and one of the host names or addresses is not this machine.

    What counts is where a connection goes: a host that the job's table of names sends to a loopback address is this
    machine, and so is every host behind an HTTP proxy on this machine. A SOCKS proxy here is the way to somewhere else.
    The table is not asked for the proxy.
    """
    settings = job.settings
    if settings.contact is not None:
        return
    names = StaticNames(settings.network.names)
    proxy = parse_proxy(settings.network.proxy) if settings.network.proxy is not None else None
    if proxy is not None and is_loopback(proxy[0]) and (settings.network.proxy or "").startswith("http"):
        return
    for host in hosts:
        if proxy is not None or not _is_here(host, names):
            raise JobFileError(
                f"{job.shown}: contact: not set, and {printable(host)} is not this machine; set contact to a URL or an "
                'e-mail address where the owner of a host can reach you, as contact = "https://example.org/crawler"'
            )


def _is_here(host: str, names: StaticNames) -> bool:
    place = names.find(host.lower())
    return is_loopback(host if place is None else place.address)


def _read(path: Path, shown: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(FILE_BYTES_MAX + 1)
    except FileNotFoundError:
        raise JobFileError(f"{shown}: no such file; {_advice(path)}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise JobFileError(f"{shown}: cannot be read: {reason or error}") from None


def _advice(path: Path) -> str:
    there = sorted(file.stem for file in path.parent.glob("*.toml")) if path.parent.is_dir() else []
    if there:
        return f"jobs there: {printable(', '.join(there), 200)}"
    return f"make one by: batchcrawl new {printable(path.stem)} URL"


def _data_dir(path: Path, settings: Settings) -> Path:
    folder = path.parent
    if settings.data is not None:
        return _normal(folder / settings.data)
    home = folder.parent if _normal(folder).name == JOBS_DIR else folder
    return _normal(home / DATA_DIR / path.stem)


def _normal(path: Path) -> Path:
    return Path(os.path.abspath(path))
