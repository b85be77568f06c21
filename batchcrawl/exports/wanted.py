"""What is to be exported, and what was."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from batchcrawl.exports.rows import DEFAULT


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is to be exported."""

    form: str
    """Name of the form."""
    fields: tuple[str, ...] = DEFAULT
    since: str | None = None
    """Only what this segment or a later one brought."""
    host: str | None = None
    """Only what is on this host: its name or its host key."""
    duplicates: bool = False
    gone: bool = False
    """Tombstones, too."""
    file_bytes_max: int | None = None
    """Of a WARC file."""


@dataclass
class Exported:
    """What was written."""

    counts: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    lost: int = 0
    """Pages whose bodies are in segments that are not there any more."""
    kept: int | None = None
    """How many of the counted things an export had written that was cut, and which this one has gone on with."""
