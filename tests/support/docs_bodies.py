"""Holds every stored answer against the file that was served, the walk's answer, and the server's log."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tests.support.nginx import Hit
from tests.support.walk import Visit
from tests.support.warc_judge import HttpMessage, WarcRecord, http_message, read_records, undo_coding

_WRONG = "WRONG: "


@dataclass
class BodyCheck:
    """What was found out about the bodies."""

    kinds: Counter[str] = field(default_factory=Counter)
    """How many bodies were proved right in which way, or why not."""
    faults: list[str] = field(default_factory=list)


def hold_bodies(
    warcs: Sequence[Path], roots: Mapping[str, Path], walked: Mapping[str, Visit], hits: Sequence[Hit]
) -> BodyCheck:
    """Check every response record of WARC files. `roots` are the directories by host, `hits` the crawl's requests."""
    check = BodyCheck()
    stored: Counter[str] = Counter()
    for record in (record for path in warcs for record in read_records(path)):
        message = http_message(record)
        if record.field("WARC-Type") != "response" or message is None:
            continue
        url = record.field("WARC-Target-URI") or ""
        stored[url] += 1
        kind = _judge_body(url, record, message, visit=walked.get(url), file=served_file(url, roots))
        check.kinds[kind] += 1
        if kind.startswith(_WRONG):
            check.faults.append(f"{url}: {kind}")
    asked = Counter(f"http://{hit.host}{hit.uri}" for hit in hits)
    for url in sorted(asked.keys() | stored.keys()):
        if asked[url] != stored[url]:
            check.faults.append(f"{url}: {asked[url]} requests, {stored[url]} response records")
    return check


def served_file(url: str, roots: Mapping[str, Path]) -> Path | None:
    """Return the file that is served for a URL, or None where there is none."""
    parts = urlsplit(url)
    path = unquote(parts.path)
    file = roots[parts.netloc] / (path + "index.html" if path.endswith("/") else path).lstrip("/")
    return file if file.is_file() else None


def _judge_body(url: str, record: WarcRecord, message: HttpMessage, *, visit: Visit | None, file: Path | None) -> str:
    """Return in which way a stored body is right, or what is wrong with it."""
    if record.field("WARC-Truncated") is not None:
        return f"{_WRONG}cut" if message.body else f"left unread after its headers, status {message.status}"
    if visit is not None and sha1(message.body).hexdigest() != visit.digest:
        return f"{_WRONG}not the bytes that the walk got"
    seen = ", byte for byte as the walk got it" if visit is not None else ", not asked for by the walk"
    if file is None and url.endswith("/robots.txt"):
        return f"robots.txt, status {message.status}"
    if message.status != 200 or file is None:
        return f"status {message.status} without a file{seen}"
    coding = message.header("Content-Encoding")
    if undo_coding(coding or "identity", message.body) != file.read_bytes():
        return f"{_WRONG}not the file that was served"
    return f"the file that was served, {f'sent with {coding}' if coding else 'sent as it is'}{seen}"
