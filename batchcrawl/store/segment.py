"""A segment: its manifest, the state of its steps and their stamps."""

import calendar
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from batchcrawl.errors import CorruptData, UsageError, WrongOrder
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FormatOnly, require_readable
from batchcrawl.store.layout import SEGMENT_ID, Layout, SegmentPaths
from batchcrawl.store.records import FileInfo

STEPS = ("generated", "fetched", "parsed", "updated")
"""The stamps, in the order of the steps."""
COMMANDS = {"generated": "generate", "fetched": "fetch", "parsed": "parse", "updated": "update"}

Counts = dict[str, int]


class StepInfo(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a finished step left behind."""

    ended_at: float
    counts: Counts = {}
    reason: str | None = None
    """Why the step ended, when not because all was done."""


class FileEntry(msgspec.Struct, kw_only=True):
    """A file of the segment as it was when its step ended."""

    bytes: int
    sha256: str
    lines: int

    @classmethod
    def of(cls, info: FileInfo) -> "FileEntry":
        """Return the entry of a finished file."""
        return cls(bytes=info.bytes, sha256=info.checksum, lines=info.lines)


class Manifest(msgspec.Struct, kw_only=True, omit_defaults=True):
    """segment.json."""

    format: int
    id: str
    job: str
    created_at: float
    partitions: int
    duration_s: float
    """The time for which generate planned the fetch step."""
    urls: int
    hosts: int
    steps: dict[str, StepInfo] = {}
    files: dict[str, FileEntry] = {}


class Segment:
    """A visible segment on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name
        self.paths = SegmentPaths(path)
        self.manifest = read_manifest(self.paths.manifest)

    @property
    def lease(self) -> int:
        """The number under which URL records name the segment."""
        return segment_instant(self.id)

    def is_done(self, step: str) -> bool:
        """Tell whether a step (one of STEPS) has its stamp."""
        return self.paths.stamp(step).exists()

    def next_step(self) -> str | None:
        """Return the first of STEPS that is not done, or None."""
        return next((step for step in STEPS if not self.is_done(step)), None)

    def finish(self, disk: Disk, step: str, info: StepInfo, files: Mapping[str, FileInfo]) -> None:
        """Record a step as done: manifest first, then the stamp, which is the commit act.

        `files` are the step's files by their path in the segment.
        """
        self.manifest.steps[step] = info
        self.manifest.files |= {name: FileEntry.of(file) for name, file in files.items()}
        write_manifest(disk, self.paths.manifest, self.manifest)
        disk.write_file(self.paths.stamp(step), b"")


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a segment. Raises CorruptData, or CrawlError for a newer format."""
    try:
        data = path.read_bytes()
        require_readable(path, msgspec.json.decode(data, type=FormatOnly))
        return msgspec.json.decode(data, type=Manifest)
    except (OSError, msgspec.MsgspecError) as error:
        raise CorruptData(f"{path}: {error}") from error


def write_manifest(disk: Disk, path: Path, manifest: Manifest) -> None:
    """Replace the manifest of a segment."""
    disk.write_file(path, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def segment_id(instant: int) -> str:
    """Return the segment id of an instant (seconds since 1970): `20261130T101500Z`."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(instant))


def segment_instant(segment_id: str) -> int:
    """Return the instant of a segment id."""
    return calendar.timegm(time.strptime(segment_id, "%Y%m%dT%H%M%SZ"))


def open_segment(layout: Layout, segment_id: str) -> Segment:
    """Open a segment by its id. Raises UsageError when there is none of that id."""
    if not SEGMENT_ID.fullmatch(segment_id) or not layout.segment(segment_id).is_dir():
        have = layout.segment_ids()
        newest = f"the newest is {have[-1]}" if have else "there is none yet"
        raise UsageError(f"no segment {segment_id} in {layout.segments}; {newest}")
    return Segment(layout.segment(segment_id))


def newest_needing(layout: Layout, step: str) -> Segment | None:
    """Return the newest segment whose next step is `step` (one of STEPS), or None."""
    for name in reversed(layout.segment_ids()):
        segment = Segment(layout.segment(name))
        if segment.next_step() == step:
            return segment
    return None


def require_turn(segment: Segment, step: str, job: str) -> bool:
    """Return True when a step may run on a segment, False when it is done already.

    Raises WrongOrder naming the command to run first.
    """
    if segment.is_done(step):
        return False
    needed = segment.next_step()
    if needed is not None and needed != step:
        command = f"batchcrawl {COMMANDS[needed]} {job} --segment {segment.id}"
        raise WrongOrder(f"segment {segment.id} is not {needed} yet; run '{command}' first")
    return True
