"""crawl.toml: what a crawl fixes at birth, since the keys of its database depend on it."""

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from batchcrawl.errors import CorruptData, CrawlError
from batchcrawl.store.disk import Disk
from batchcrawl.store.reading import ADVICE, read_stored

FORMAT_VERSION = 1


class Identity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The facts of a crawl's birth."""

    format: int = FORMAT_VERSION
    partitions: Annotated[int, msgspec.Meta(ge=1)]
    canonical_steps: tuple[str, ...]
    """Names of the canonicalisation steps that are on (web.urls)."""
    hash: Literal["blake2b"] = "blake2b"
    """Hash of fingerprints."""
    signature: Literal["text-blake2b-128"] = "text-blake2b-128"
    """Kind of content signature (web.signature)."""


def write_identity(disk: Disk, path: Path, identity: Identity) -> None:
    """Store the identity of a crawl that is born now."""
    steps = ", ".join(f'"{step}"' for step in identity.canonical_steps)
    text = (
        "# Fixed when the crawl was born: the keys of its database depend on it. Do not edit.\n"
        f"format = {identity.format}\n"
        f"partitions = {identity.partitions}\n"
        f"canonical_steps = [{steps}]\n"
        f'hash = "{identity.hash}"\n'
        f'signature = "{identity.signature}"\n'
    )
    disk.write_file(path, text.encode())


def read_identity(path: Path) -> Identity:
    """Return the identity of a crawl. Raises CorruptData, or CrawlError for a newer format."""
    data = read_stored(path)
    try:
        require_readable(path, msgspec.toml.decode(data, type=FormatOnly))
        return msgspec.toml.decode(data, type=Identity)
    except msgspec.MsgspecError as error:
        raise CorruptData(f"{path}: {error}; {ADVICE}") from error


class FormatOnly(msgspec.Struct):
    """The one field that every version of a file has."""

    format: int


def require_readable(path: Path, seen: FormatOnly) -> None:
    """Raise CrawlError for a file of a format that came after this program."""
    if seen.format > FORMAT_VERSION:
        raise CrawlError(
            f"{path}: format {seen.format} is newer than this program's {FORMAT_VERSION}; use a newer batchcrawl"
        )
