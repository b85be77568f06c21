"""A segment: its manifest, the state of its steps and their stamps."""

import calendar
import hashlib
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from batchcrawl.errors import CorruptData, UsageError, WrongOrder
from batchcrawl.model.budget import BudgetState
from batchcrawl.store.disk import Disk
from batchcrawl.store.identity import FormatOnly, require_readable
from batchcrawl.store.layout import SEGMENT_ID, Layout, SegmentPaths
from batchcrawl.store.reading import ADVICE, read_stored
from batchcrawl.store.records import FileInfo, check_file, check_size

STEPS = ("generated", "fetched", "parsed", "updated")
"""The stamps, in the order of the steps."""
COMMANDS = {"generated": "generate", "fetched": "fetch", "parsed": "parse", "updated": "update"}

_EXPECTED = {
    "fetchlist": ("{}.jsonl.zst",),
    "hosts": ("{}.jsonl.zst",),
    "fetch": ("{}.jsonl", "{}.hosts.jsonl"),
}
"""By folder, the files that every partition has."""

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

    def info(self, name: str) -> FileInfo:
        """Return what it says of the file of that name."""
        return FileInfo(name=name, bytes=self.bytes, checksum=self.sha256, lines=self.lines)


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
    budget: BudgetState | None = None
    """How the budget of refetches stands since generate made the segment; None without one."""
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

    @property
    def content_name(self) -> str:
        """What tells the segment from another of the same id: when it was made, and its fetch lists."""
        lists = (file.sha256 for name, file in sorted(self.manifest.files.items()) if name.startswith("fetchlist/"))
        return " ".join((str(self.manifest.created_at), *lists))

    def step(self, step: str) -> StepInfo:
        """Return what a finished step (one of STEPS) left behind. Raises CorruptData when the manifest lacks it."""
        info = self.manifest.steps.get(step)
        if info is None:
            raise CorruptData(f"{self.paths.manifest}: nothing is said of the step {step!r}; {ADVICE}")
        return info

    def entry(self, name: str) -> FileEntry:
        """Return the entry of a file by its path in the segment. Raises CorruptData when the manifest lacks it."""
        entry = self.manifest.files.get(name)
        if entry is None:
            raise CorruptData(f"{self.paths.manifest}: nothing is said of the file {name}; {ADVICE}")
        return entry

    def listed(self, folder: str, *, start: str = "", end: str = "") -> list[Path]:
        """Return the files of a folder that the manifest tells of, whose names start and end so, in order."""
        names = sorted(name for name in self.manifest.files if name.startswith(f"{folder}/{start}"))
        return [self.path / name for name in names if name.endswith(end)]

    def bytes_of(self, end: str) -> int:
        """Return the bytes of the files that the manifest tells of and whose names end so."""
        return sum(file.bytes for name, file in self.manifest.files.items() if name.endswith(end))

    def require(self, *folders: str, partitions: int) -> None:
        """Prove that a step's input is what the steps before it wrote: every file is there and has its length.

        The lines of a log have no checksum of their own, so logs are compared by the checksum of the whole; the blocks
        of other files are checked while they are read. Raises CorruptData naming file, expected and found.
        """
        self.require_listed(*folders, partitions=partitions)
        for folder in folders:
            for path in self.listed(folder):
                self.check(path, whole=path.suffix == ".jsonl")

    def require_listed(self, *folders: str, partitions: int) -> None:
        """Raise CorruptData if the manifest is another segment's, or lacks files that every partition has."""
        if self.manifest.partitions != partitions or self.manifest.id != self.id:
            raise CorruptData(
                f"{self.paths.manifest}: tells of segment {self.manifest.id} in {self.manifest.partitions} partitions; "
                f"expected {self.id} in {partitions}; it belongs to another crawl, or is damaged"
            )
        for folder in folders:
            for name in (name.format(p) for name in _EXPECTED.get(folder, ()) for p in range(partitions)):
                self.entry(f"{folder}/{name}")

    def check(self, path: Path, *, whole: bool = True) -> None:
        """Compare a file with its entry: its length or, if `whole`, every byte. Raises CorruptData."""
        name = str(path.relative_to(self.path))
        info = self.entry(name).info(name)
        (check_file if whole else check_size)(path, info)

    def check_manifest(self) -> None:
        """Compare the manifest with the last stamp, which has its checksum. Raises CorruptData.

        A manifest that was replaced without its stamp, by a process that was cut, and one whose stamps are from before
        they had anything in them, are taken as they are.
        """
        done = [step for step in STEPS if self.is_done(step)]
        said = read_stored(self.paths.stamp(done[-1])) if done else b""
        if not said or any(step not in done for step in self.manifest.steps):
            return
        if said != _stamp_text(self.paths.manifest):
            raise CorruptData(f"{self.paths.manifest}: is not what was written with the stamp .{done[-1]}; {ADVICE}")

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
        disk.write_file(self.paths.stamp(step), _stamp_text(self.paths.manifest))


def read_manifest(path: Path) -> Manifest:
    """Return the manifest of a segment. Raises CorruptData, or CrawlError for a newer format."""
    data = read_stored(path)
    try:
        require_readable(path, msgspec.json.decode(data, type=FormatOnly))
        return msgspec.json.decode(data, type=Manifest)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{path}: {error}; {ADVICE}") from error


def write_manifest(disk: Disk, path: Path, manifest: Manifest) -> None:
    """Replace the manifest of a segment."""
    disk.write_file(path, msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n")


def _stamp_text(manifest: Path) -> bytes:
    return hashlib.sha256(read_stored(manifest)).hexdigest().encode() + b"\n"


def segment_id(instant: int) -> str:
    """Return the segment id of an instant (seconds since 1970): `20261130T101500Z`."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(instant))


def segment_instant(segment_id: str) -> int:
    """Return the instant of a segment id."""
    return calendar.timegm(time.strptime(segment_id, "%Y%m%dT%H%M%SZ"))


def new_segment_id(layout: Layout, now: float) -> str:
    """Return an id later than all others, whatever the clock says."""
    instant = int(now)
    newest = layout.segment_ids()[-1:]
    if newest:
        instant = max(instant, segment_instant(newest[0]) + 1)
    return segment_id(instant)


def make_folders(layout: Layout, unborn: SegmentPaths, disk: Disk) -> None:
    """Make the folders of a segment that is not visible yet; what a killed process left of one is removed."""
    for left_over in layout.unborn_segments():
        disk.remove_tree(left_over)
    for folder in (
        unborn.root,
        unborn.fetch_list(0).parent,
        unborn.host_sheet(0).parent,
        unborn.fetch_dir,
        unborn.parse_dir,
    ):
        disk.make_dir(folder)


def open_segment(layout: Layout, segment_id: str) -> Segment:
    """Open a segment by its id. Raises UsageError when there is none of that id."""
    return Segment(find_segment(layout, segment_id))


def find_segment(layout: Layout, segment_id: str) -> Path:
    """Return the directory of a segment by its id. Raises UsageError when there is none of that id."""
    if not SEGMENT_ID.fullmatch(segment_id) or not layout.segment(segment_id).is_dir():
        have = layout.segment_ids()
        newest = f"the newest is {have[-1]}" if have else "there is none yet"
        raise UsageError(f"no segment {segment_id} in {layout.segments}; {newest}")
    return layout.segment(segment_id)


def newest_needing(layout: Layout, step: str) -> Segment | None:
    """Return the newest segment whose next step is `step` (one of STEPS), or None."""
    for name in reversed(layout.segment_ids()):
        segment = Segment(layout.segment(name))
        if segment.next_step() == step:
            return segment
    return None


def fetched_since(layout: Layout, segment: Segment) -> list[SegmentPaths]:
    """Return the older segments that may have been fetched, but not brought into the crawldb, before one was made.

    Oldest first.
    """
    found: list[SegmentPaths] = []
    for name in reversed([name for name in layout.segment_ids() if name < segment.id]):
        older = Segment(layout.segment(name))
        if older.is_done("updated") and older.step("updated").ended_at < segment.manifest.created_at:
            break
        if older.is_done("fetched"):
            found.insert(0, older.paths)
    return found


def require_none_half_applied(layout: Layout, job: str, *, but: str | None = None) -> None:
    """Raise WrongOrder while a segment is half applied, other than `but`: partitions do not agree then."""
    for name in layout.segment_ids():
        if name != but and SegmentPaths(layout.segment(name)).half_applied:
            command = f"batchcrawl update {job} --segment {name}"
            raise WrongOrder(f"segment {name} is half applied; run '{command}' first")


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
