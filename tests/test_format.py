"""docs/FORMAT.md against the code: every example is read and written, every table has the fields that there are."""

import json
import re
from pathlib import Path

import msgspec
import pytest

from batchcrawl.model.budget import BudgetState
from batchcrawl.model.entries import (
    FetchEntry,
    FetchLogLine,
    HostLogLine,
    HostSheet,
    LinkLine,
    PageLine,
    RejectedLink,
    RejectionLine,
)
from batchcrawl.model.host import (
    DomainRecord,
    HostRecord,
    LastmodCounts,
    RobotsCopy,
    decode_domain,
    decode_host,
    encode_domain,
    encode_host,
)
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.model.purged import ContentLine, PurgedLine, PurgeManifest
from batchcrawl.model.record import HEAD_BYTES, RECORD_VERSION, UrlRecord, decode_record, encode_record
from batchcrawl.model.revisit import Revisit, RevisitProfile
from batchcrawl.model.seen import ClaimLine, VerdictLine
from batchcrawl.model.status import PageStatus, Place
from batchcrawl.policy.update_rules import UpdateRules
from batchcrawl.snapshot import SnapshotInfo
from batchcrawl.store import keys
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FORMAT_VERSION, Identity, read_identity, write_identity
from batchcrawl.store.layout import Layout, SegmentPaths
from batchcrawl.store.portable import (
    CrawlLine,
    DomainLine,
    HostLine,
    SeedDomainLine,
    SeedHostLine,
    UrlLine,
    record_of,
    record_row,
)
from batchcrawl.store.purge_files import PurgePaths
from batchcrawl.store.seen_keys import seen_keys
from batchcrawl.store.segment import STEPS, Manifest, read_manifest, write_manifest
from batchcrawl.store.update_mark import Mark
from batchcrawl.store.warc_file import inflate_member
from batchcrawl.web.fingerprint import fingerprint
from batchcrawl.web.signature import count_tokens, simhash, text_signature
from tests.support.exchanges import answer
from tests.support.warcs import warc_writer

PAGE = (Path(__file__).parents[1] / "docs" / "FORMAT.md").read_text("utf-8")
EXAMPLES: dict[str, str] = dict(re.findall(r"^```\w+ ([\w.]+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
SEGMENT = "20261130T101500Z"
LINES: list[type[msgspec.Struct]] = [
    FetchEntry,
    HostSheet,
    FetchLogLine,
    HostLogLine,
    PageLine,
    LinkLine,
    RejectionLine,
    RejectedLink,
    ClaimLine,
    VerdictLine,
    Mark,
    BudgetState,
    PurgeManifest,
    PurgedLine,
    ContentLine,
    CrawlLine,
    DomainLine,
    HostLine,
    UrlLine,
]
FP = fingerprint(domain="example.org", host="https://example.org", url="https://example.org/a").hex()
ROW = re.compile(r"^\| `(\w+)` \|", re.MULTILINE)


def hex_example(name: str) -> bytes:
    """Return the bytes of a block of hex, without what stands behind the `#` of its lines."""
    block = re.search(rf"^```hex {name}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    return bytes.fromhex(" ".join(line.partition("#")[0] for line in block[1].splitlines()))


def fields_after(marker: str) -> list[str]:
    """Return the fields of the first table of fields behind a text."""
    table = re.search(r"(?:^\| `\w+` \|.*\n)+", PAGE[PAGE.index(marker) :], re.MULTILINE)
    assert table is not None
    return ROW.findall(table[0])


def test_the_page_describes_the_version_that_is_written() -> None:
    assert f"What a crawl is on disk, version {FORMAT_VERSION}." in PAGE


@pytest.mark.parametrize("line_type", LINES)
def test_the_example_of_a_line_is_read_and_written(line_type: type[msgspec.Struct]) -> None:
    text = EXAMPLES[line_type.__name__].strip()
    line = msgspec.json.decode(text, type=line_type)
    assert msgspec.json.encode(line).decode() == text


@pytest.mark.parametrize("line_type", LINES)
def test_the_table_of_a_line_has_its_fields(line_type: type[msgspec.Struct]) -> None:
    assert fields_after(f"```json {line_type.__name__}\n") == list(line_type.__struct_fields__)


@pytest.mark.parametrize("line_type", [SeedHostLine, SeedDomainLine])
def test_the_example_of_an_exported_name_is_read_and_written(line_type: type[msgspec.Struct]) -> None:
    text = EXAMPLES[line_type.__name__].strip()
    assert msgspec.json.encode(msgspec.json.decode(text, type=line_type)).decode() == text


def test_the_example_of_an_exported_url_is_a_record() -> None:
    line = msgspec.json.decode(EXAMPLES["UrlLine"], type=UrlLine)
    record = record_of(line.record)
    assert (line.fp, record.url, record.place) == (FP, "https://example.org/a", Place.READY)
    assert line.record.items() <= record_row(record).items()


def test_the_example_of_the_line_of_a_revisit_is_read_and_written() -> None:
    text = EXAMPLES["FetchLogLineOfRevisit"].strip()
    line = msgspec.json.decode(text, type=FetchLogLine)
    assert line.revisit is RevisitProfile.NOT_MODIFIED
    assert msgspec.json.encode(line).decode() == text


def test_the_profiles_of_a_revisit_are_explained() -> None:
    row = next(line for line in PAGE.splitlines() if line.startswith("| `revisit` |"))
    assert all(f"`{profile.value}`" in row for profile in RevisitProfile)


def test_the_paths_are_those_of_the_layout() -> None:
    layout = Layout(Path())
    segment = SegmentPaths(layout.segment(SEGMENT))
    paths = [layout.identity, layout.suffix_list, layout.seed_hosts, layout.seed_domains, layout.lock]
    paths += [layout.saved("kept"), layout.crawldb(0)]
    paths += [segment.manifest, segment.fetch_list(0), segment.host_sheet(0), segment.fetch_log(0), segment.host_log(0)]
    paths += [
        segment.fetch_dir / "0-00000.warc.gz",
        segment.pages(0, 0),
        segment.links(0, 0, 1),
        segment.rejections(0, 0),
        segment.rejected_links(0, 0),
        segment.named_links(0, 1),
    ]
    paths += [segment.rules, segment.briefs(0), segment.claims(0, 1), segment.verdicts(0)]
    paths += [segment.stamp(step) for step in STEPS]
    purge = PurgePaths(layout.purge)
    paths += [purge.manifest, purge.urls(0), purge.contents(0, 0, 1), purge.firsts(0), layout.reports]
    assert [line.split()[0] for line in EXAMPLES["paths"].splitlines()] == [str(path) for path in paths]


def test_the_example_of_crawl_toml_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "read").write_text(EXAMPLES["crawl.toml"])
    write_identity(Disk(), tmp_path / "written", read_identity(tmp_path / "read"))
    assert (tmp_path / "written").read_text() == EXAMPLES["crawl.toml"]
    assert fields_after("```toml crawl.toml\n") == list(Identity.__struct_fields__)


def test_the_example_of_segment_json_is_read_and_written(tmp_path: Path) -> None:
    (tmp_path / "read").write_text(EXAMPLES["Manifest"])
    write_manifest(Disk(), tmp_path / "written", read_manifest(tmp_path / "read"))
    assert (tmp_path / "written").read_text() == EXAMPLES["Manifest"]
    assert fields_after("```json Manifest\n") == list(Manifest.__struct_fields__)


def test_the_example_of_a_snapshot_is_read_and_written() -> None:
    info = msgspec.json.decode(EXAMPLES["SnapshotInfo"], type=SnapshotInfo)
    assert msgspec.json.format(msgspec.json.encode(info), indent=2).decode() + "\n" == EXAMPLES["SnapshotInfo"]
    assert fields_after("```json SnapshotInfo\n") == list(SnapshotInfo.__struct_fields__)


def test_the_example_of_the_rules_is_read_and_written() -> None:
    rules = msgspec.json.decode(EXAMPLES["UpdateRules"], type=UpdateRules)
    assert msgspec.json.format(msgspec.json.encode(rules), indent=2).decode() + "\n" == EXAMPLES["UpdateRules"]


def test_the_keys_are_those_of_the_url() -> None:
    fp = fingerprint(domain="example.org", host="https://example.org", url="https://example.org/a")
    record = UrlRecord("https://example.org/a", content_at=1_796_040_000)
    record.signature, record.simhash = text_signature("Hello, world."), simhash(count_tokens(["Hello,", "world."]))
    key_of_text, near, turned = sorted(seen_keys(fp, record))
    told = {name: bytes.fromhex(key) for name, key in map(str.split, EXAMPLES["keys"].splitlines())}
    assert told == {
        "fingerprint": fp,
        "url": keys.url_key(fp),
        "ready": keys.ready_key(fp, level=6, next_fetch_at=1_796_126_400),
        "timer": keys.timer_key(fp, next_fetch_at=1_796_126_400),
        "host": keys.host_key(fp[:8]),
        "domain": keys.domain_key(fp[:4]),
        "signature": key_of_text,
        "near": near,
        "turned": turned,
        "meta": keys.meta_key(f"update/{SEGMENT}"),
    }


def test_the_example_of_a_url_record_is_read_and_written() -> None:
    data = hex_example("UrlRecord")
    record = decode_record(data)
    assert encode_record(record) == data
    assert (record.url, record.status, record.place) == ("https://example.org/a", PageStatus.FETCHED, Place.TIMER)
    assert (record.next_fetch_at, record.rate_a, record.rate_b) == (1_796_126_400, 0.75, 1.5)


def head_rows() -> list[tuple[int, int, str]]:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\w+) \|", PAGE, re.MULTILINE)
    return [(int(offset), int(size), name) for offset, size, name in rows]


def test_the_head_of_a_url_record_has_no_gap() -> None:
    ends = [offset + size for offset, size, _ in head_rows()]
    assert [offset for offset, _, _ in head_rows()] == [0, *ends[:-1]]
    assert ends[-1] == HEAD_BYTES


def test_each_field_of_the_head_lies_at_its_offset() -> None:
    data = bytearray(hex_example("UrlRecord"))
    before = msgspec.structs.asdict(decode_record(bytes(data)))
    for offset, _, name in head_rows():
        if name in {"version", "flags"}:
            continue
        changed = bytearray(data)
        changed[offset] ^= 1
        after = msgspec.structs.asdict(decode_record(bytes(changed)))
        assert {field for field, value in after.items() if value != before[field]} == {name}


def test_the_array_of_a_url_record_has_the_other_fields() -> None:
    head = {name for _, _, name in head_rows()} | {"seed", "costly", "kind", "was_page", "was_copy"}
    elements = fields_after("The array has these elements")
    assert elements == [name for name in UrlRecord.__struct_fields__ if name not in head]


def test_the_numbers_of_the_head_are_explained() -> None:
    assert f"| version | {RECORD_VERSION} |" in PAGE
    for numbers in (PageStatus, Place):
        assert f"| {', '.join(f'{int(n)} {n.name.lower()}' for n in numbers)} |" in PAGE


def test_the_table_of_fetch_outcomes_is_that_of_the_code() -> None:
    table = PAGE[PAGE.index("## Fetch outcomes") : PAGE.index("## Host record")]
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \| (.+) \|$", table, re.MULTILINE)
    assert rows == [(str(outcome.number), outcome.value, outcome.sentence) for outcome in FetchOutcome]


def test_elements_behind_the_known_ones_are_passed_over() -> None:
    data = hex_example("UrlRecord")
    tail = msgspec.msgpack.decode(data[HEAD_BYTES:])
    longer = data[:HEAD_BYTES] + msgspec.msgpack.encode([*tail, "novelty"])
    assert decode_record(longer) == decode_record(data)


def test_the_example_of_a_host_record_is_read_and_written() -> None:
    data = hex_example("HostRecord")
    record = decode_host(data)
    assert encode_host(record) == data
    assert json.loads(msgspec.json.encode(record)) == json.loads(EXAMPLES["HostRecord"])


def test_the_example_of_a_domain_record_is_read_and_written() -> None:
    data = hex_example("DomainRecord")
    record = decode_domain(data)
    assert encode_domain(record) == data
    assert msgspec.to_builtins(record) == json.loads(EXAMPLES["DomainRecord"])


def test_the_tables_of_a_host_and_a_domain_record_have_their_fields() -> None:
    assert fields_after("## Host record") == list(HostRecord.__struct_fields__)
    assert fields_after("## Domain record") == list(DomainRecord.__struct_fields__)
    assert fields_after("`lastmod` counts") == list(LastmodCounts.__struct_fields__)
    assert fields_after("`robots`, here and in the lines below:") == list(RobotsCopy.__struct_fields__)


def test_the_example_of_an_exchange_is_what_the_writer_writes(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    at = writer.write_exchange(answer(0), fp=FP)
    writer.close()
    assert "\n\n".join(plain_records(tmp_path / at.file, at.offset)) == EXAMPLES["exchange"].rstrip("\n")


def test_the_example_of_a_revisit_is_what_the_writer_writes(tmp_path: Path) -> None:
    first = answer(0)
    revisit = Revisit(
        profile=RevisitProfile.NOT_MODIFIED,
        refers_to_uri=first.url,
        refers_to_at=first.started_at,
        payload_digest=first.payload_digest,
    )
    head = b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n'
    second = answer(0, b"", status=304, response_head=head, started_at=first.started_at + 86_400)
    writer = warc_writer(tmp_path)
    at = writer.write_revisit(second, revisit, fp=FP)
    writer.close()
    assert plain_records(tmp_path / at.file, at.offset)[0] == EXAMPLES["revisit"].rstrip("\n")


def plain_records(path: Path, offset: int) -> list[str]:
    """Return the records from an offset on, with LF as the end of a line and without the empty lines at their ends."""
    told = list[str]()
    with path.open("rb") as file:
        while offset < path.stat().st_size:
            record = bytearray()
            offset = inflate_member(file, offset, record)
            told.append(record.decode().replace("\r\n", "\n").rstrip("\n"))
    return told
