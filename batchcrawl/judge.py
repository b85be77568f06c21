"""Judge: what the rules of a job say of each URL of a list.

Reads: the list; of a crawl that is born, its seeds' hosts. Writes: nothing.
Commits by: nothing. If killed: nothing has happened.
"""

from collections.abc import Iterable, Iterator

from batchcrawl.job.crawl import Crawl
from batchcrawl.job.seeds import Seed, SeedFault
from batchcrawl.model.explanation import Told
from batchcrawl.model.rejection import Rejection
from batchcrawl.web.urls import host_key


class Judgement(Told, kw_only=True):
    """What became of one line of the list."""

    url: str | None = None
    """The canonical URL; absent where the line has none."""
    line: int
    """Number of the line in its file, from 1."""
    taken: bool
    rejection: str | None = None
    rule: str
    place: str
    """`file:line` of the rule, or `default`; of a line without a URL, its own."""


def judge(
    crawl: Crawl, lines: Iterable[Seed | SeedFault], *, depth: int = 0, hops: int | None = None
) -> Iterator[Judgement]:
    """Yield the decision on each line, as on a link of that depth.

    `hops` are those of URLs that are on none of the crawl's own hosts; None for 1, as of a link from one of them.
    """
    scope = crawl.scope()
    for line in lines:
        if isinstance(line, SeedFault):
            invalid, place = Rejection.INVALID.value, f"{line.source}:{line.line}"
            yield Judgement(line=line.line, taken=False, rejection=invalid, rule=line.reason, place=place)
            continue
        url = crawl.canonical(line.url)
        host = host_key(url)
        way = 0 if scope.owns(host) else 1 if hops is None else hops
        found = scope.decide(url, host=host, depth=depth, hops=way)
        yield Judgement(
            url=url,
            line=line.line,
            taken=found.rejection is None,
            rejection=None if found.rejection is None else found.rejection.value,
            rule=found.rule,
            place=found.place,
        )
