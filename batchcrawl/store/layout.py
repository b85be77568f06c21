"""Where everything of a crawl lies below its data directory."""

import re
from dataclasses import dataclass
from pathlib import Path

SEGMENT_ID = re.compile(r"\d{4}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])[0-5]\d[0-5]\dZ")


@dataclass(frozen=True)
class Layout:
    """The paths of one crawl."""

    root: Path
    snapshot: Path | None = None
    """Where the partitions are when they are only looked at (`store.snapshot`)."""

    @property
    def identity(self) -> Path:
        """What is fixed at birth."""
        return self.root / "crawl.toml"

    @property
    def suffix_list(self) -> Path:
        """The public suffix list of the crawl's birth, on which fingerprints depend."""
        return self.root / "public_suffix_list.dat"

    @property
    def seed_hosts(self) -> Path:
        """Names of the hosts that have a seed, sorted, one a line."""
        return self.root / "seed_hosts.txt"

    @property
    def seed_domains(self) -> Path:
        """Their registered domains, sorted, one a line."""
        return self.root / "seed_domains.txt"

    @property
    def lock(self) -> Path:
        """The lock file with the holder's pid."""
        return self.root / "lock"

    @property
    def segments(self) -> Path:
        """The directory of segments."""
        return self.root / "segments"

    @property
    def reports(self) -> Path:
        """The directory of reports."""
        return self.root / "reports"

    @property
    def snapshots(self) -> Path:
        """The directory of snapshots that stay."""
        return self.root / "snapshots"

    @property
    def restored(self) -> Path:
        """Where a restore builds the crawl before it puts it in its place."""
        return self.root / ".restored"

    @property
    def restoring(self) -> Path:
        """Says which snapshot is being put in place; while it is there, the crawl may be a mixture."""
        return self.root / "restore.json"

    @property
    def crawldbs(self) -> Path:
        """The directory of the partitions' databases."""
        return self.snapshot or self.root / "crawldb"

    @property
    def rebuilt(self) -> Path:
        """Where the partitions' databases are made anew from segments."""
        return self.root / ".crawldb.rebuilt"

    @property
    def ready(self) -> Path:
        """Those databases once they are whole, until they are in their place."""
        return self.root / ".crawldb.ready"

    @property
    def damaged(self) -> Path:
        """The databases that were replaced by those made anew."""
        return self.root / "crawldb.damaged"

    def mended(self, partition: int) -> Path:
        """Return where the database of a partition is mended."""
        return self.crawldbs / f".mended-{partition}"

    def damaged_partition(self, partition: int) -> Path:
        """Return the database of a partition that was replaced by a mended one."""
        return self.crawldbs / f".damaged-{partition}"

    def crawldb(self, partition: int) -> Path:
        """Return the LevelDB directory of a partition."""
        return self.crawldbs / str(partition)

    def saved(self, name: str) -> Path:
        """Return the directory of a snapshot."""
        return self.snapshots / name

    def segment(self, segment_id: str) -> Path:
        """Return the directory of a segment."""
        return self.segments / segment_id

    def unborn_segment(self, segment_id: str) -> Path:
        """Return the directory in which generate builds a segment before the rename."""
        return self.segments / f".new-{segment_id}"

    def dropped_segment(self, segment_id: str) -> Path:
        """Return the name that a segment has while it is given up."""
        return self.segments / f".dropped-{segment_id}"

    @property
    def importing(self) -> Path:
        """Is there while a crawl is made from what another one has exported."""
        return self.root / ".importing"

    @property
    def purge(self) -> Path:
        """What a purge takes out; it is there from when that is decided until it is done."""
        return self.root / "purge"

    @property
    def unborn_purge(self) -> Path:
        """Where a purge looks for what it is to take out."""
        return self.root / ".new-purge"

    @property
    def ended_purge(self) -> Path:
        """The name that a purge has while its files are removed."""
        return self.root / ".ended-purge"

    def removed_segment(self, segment_id: str) -> Path:
        """Return the name that a segment has while it is deleted because nothing needs it."""
        return self.segments / f".removed-{segment_id}"

    def removed_segments(self) -> list[Path]:
        """Return what is left of segments whose deletion was cut."""
        return sorted(self.segments.glob(".removed-*"))

    def unborn_segments(self) -> list[Path]:
        """Return what is left of segments whose building was cut, or is under way."""
        return sorted(self.segments.glob(".new-*"))

    def segment_ids(self) -> list[str]:
        """Return the ids of the visible segments, oldest first."""
        if not self.segments.is_dir():
            return []
        return sorted(entry.name for entry in self.segments.iterdir() if SEGMENT_ID.fullmatch(entry.name))


@dataclass(frozen=True)
class SegmentPaths:
    """The paths of one segment; `p` is a partition."""

    root: Path

    @property
    def manifest(self) -> Path:
        """What the segment is, its counts and the state of each step."""
        return self.root / "segment.json"

    @property
    def fetch_dir(self) -> Path:
        """Logs and WARC files of the fetch step."""
        return self.root / "fetch"

    @property
    def parse_dir(self) -> Path:
        """Pages and links of the parse step."""
        return self.root / "parse"

    @property
    def update_dir(self) -> Path:
        """What the partitions told one another in the update step."""
        return self.root / "update"

    @property
    def rules(self) -> Path:
        """The settings with which update began; its presence says that it has."""
        return self.update_dir / "rules.json"

    @property
    def half_applied(self) -> bool:
        """Update has begun and is not done: partitions may not agree on what they have in common."""
        return self.rules.exists() and not self.stamp("updated").exists()

    def stamp(self, step: str) -> Path:
        """Return the stamp of a finished step, as `.fetched`."""
        return self.root / f".{step}"

    def fetch_list(self, p: int) -> Path:
        """Return the fetch list of a partition."""
        return self.root / "fetchlist" / f"{p}.jsonl.zst"

    def host_sheet(self, p: int) -> Path:
        """Return the host sheet of a partition."""
        return self.root / "hosts" / f"{p}.jsonl.zst"

    def fetch_log(self, p: int) -> Path:
        """Return the fetch log of a partition."""
        return self.fetch_dir / f"{p}.jsonl"

    def host_log(self, p: int) -> Path:
        """Return the host log of a partition."""
        return self.fetch_dir / f"{p}.hosts.jsonl"

    def pages(self, p: int, chunk: int) -> Path:
        """Return the pages of a chunk; their presence says that the chunk is parsed."""
        return self.parse_dir / f"{p}-{chunk:05}.pages.jsonl.zst"

    def links(self, p: int, chunk: int, target: int) -> Path:
        """Return the links of a chunk that lead into the partition `target`."""
        return self.parse_dir / f"{p}-{chunk:05}.links-{target}.jsonl.zst"

    def rejections(self, p: int, chunk: int) -> Path:
        """Return the counts of a chunk's links that were not taken, by reason and host."""
        return self.parse_dir / f"{p}-{chunk:05}.rejections.jsonl.zst"

    def rejected_links(self, p: int, chunk: int) -> Path:
        """Return the links of a chunk that were not taken; only there if they were asked for."""
        return self.parse_dir / f"{p}-{chunk:05}.rejected.jsonl.zst"

    def all_rejections(self, p: int) -> list[Path]:
        """Return the files of a partition that count its links that were not taken, in order."""
        return sorted(self.parse_dir.glob(f"{p}-*.rejections.jsonl.zst"))

    def named_links(self, p: int, target: int) -> Path:
        """Return the links into the partition `target` that the robots.txt files of a partition name."""
        return self.parse_dir / f"{p}-robots.links-{target}.jsonl.zst"

    def all_pages(self, p: int) -> list[Path]:
        """Return the pages files of a partition, in order."""
        return sorted(self.parse_dir.glob(f"{p}-*.pages.jsonl.zst"))

    def briefs(self, p: int) -> Path:
        """Return what the crawldb takes over of the pages of a partition."""
        return self.update_dir / f"{p}.pages.jsonl.zst"

    def claims(self, p: int, owner: int) -> Path:
        """Return what the visits of a partition change in the indexes of content of the partition `owner`."""
        return self.update_dir / f"{p}.claims-{owner}.jsonl.zst"

    def verdicts(self, owner: int) -> Path:
        """Return what pages are to one another by the indexes of content of a partition."""
        return self.update_dir / f"{owner}.verdicts.jsonl.zst"
