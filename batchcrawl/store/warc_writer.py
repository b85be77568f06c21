"""Writes the exchanges of a partition to WARC files that grow, are closed at a size, and survive a kill.

A file is `<prefix>-<number>.warc.gz.open` while it grows and loses the `.open` when it is closed: synced,
then renamed. An exchange is durable after the next `sync`; until then a power failure may take it, whole or
in part, and what is left of it is a torn tail.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from threading import Lock

import msgspec

from batchcrawl import __version__
from batchcrawl.errors import CorruptData
from batchcrawl.model.body import Body, SpooledBody
from batchcrawl.model.clock import Clock
from batchcrawl.model.exchange import Answer
from batchcrawl.model.revisit import Revisit
from batchcrawl.store.disk import Disk
from batchcrawl.store.failpoints import failpoint
from batchcrawl.store.records import FileInfo
from batchcrawl.store.spool import Spool
from batchcrawl.store.warc_file import OPEN_SUFFIX, GrowingFile, closed_file, new_file, reopen_file
from batchcrawl.store.warc_record import (
    Fields,
    exchange_fields,
    gzip_member,
    gzip_member_of,
    record_id,
    request_fields,
    response_fields,
    revisit_fields,
    strict_head,
    warcinfo_block,
    warcinfo_fields,
)

FILE_BYTES_MAX = 1_000_000_000


class Location(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where an exchange was stored."""

    file: str
    """The name that the file has once it is closed."""
    offset: int
    """Where the gzip member of the response or revisit begins."""
    length: int
    """Bytes of that member."""
    digest: str
    """The payload digest that was recorded, `sha1:` and base32."""


class WarcWriter:
    """Appends exchanges; thread-safe. Opened again after a kill, it goes on in the file that was left open.

    `info` is added to the warcinfo record that opens each file: `http-header-user-agent`, `operator` and
    the like. `synced_bytes` is how much of the file left open is known to be durable (see `reopen_file`).
    """

    def __init__(  # noqa: PLR0913 - eight facts that no value groups
        self,
        disk: Disk,
        directory: Path,
        prefix: str,
        *,
        segment: str,
        info: Mapping[str, str],
        clock: Clock,
        file_bytes_max: int = FILE_BYTES_MAX,
        synced_bytes: int = 0,
    ) -> None:
        self._disk = disk
        self._directory = directory
        self._prefix = prefix
        self._segment = segment
        self._info = info
        self._clock = clock
        self._file_bytes_max = file_bytes_max
        self._spool = Spool(disk, directory, prefix)
        self._large_lock = Lock()  # one at a time: compressing takes memory
        self._lock = Lock()  # of the growing file's end
        self._sync_lock = Lock()  # of its being open; taken inside _lock, never around it
        self._ended = False
        self._growing: GrowingFile | None = None
        self._closed: list[FileInfo] = []
        self._resume(synced_bytes)
        # an exchange that is repeated after a kill gets ids of its own
        self._earlier_records = sum(info.lines for info in self._closed)
        self._earlier_records += self._growing.records if self._growing else 0

    def write_exchange(self, answer: Answer, *, fp: str) -> Location:
        """Store an answer and its request as a response and a request record.

        `fp` is the fingerprint of what was asked for, in hex; with the segment, the URL and the instant it
        makes the record ids. Raises DiskFull or CrawlError, after which nothing more can be written.
        """
        response_id, common = self._record_id("response", answer, fp), exchange_fields(answer)
        fields = response_fields(answer, common=common, record_id=response_id)
        head, request = strict_head(answer.response_head), self._request(answer, fp, common, response_id)
        if isinstance(answer.body, bytes):
            main = gzip_member(fields, head, answer.body)
            return self._store(main, request, payload_digest=answer.payload_digest)
        with self._compressed(fields, head, answer.body) as large:
            return self._store(large, request, payload_digest=answer.payload_digest)

    def write_revisit(self, answer: Answer, revisit: Revisit, *, fp: str) -> Location:
        """Store an answer whose body is stored already as a revisit and a request record, without the body."""
        revisit_id, common = self._record_id("revisit", answer, fp), exchange_fields(answer)
        fields = revisit_fields(revisit, common=common, record_id=revisit_id)
        main = gzip_member(fields, strict_head(answer.response_head))
        request = self._request(answer, fp, common, revisit_id)
        return self._store(main, request, payload_digest=revisit.payload_digest)

    def spool(self) -> SpooledBody:
        """Return a file for a body that is too large for the memory. Raises DiskFull or CrawlError."""
        return self._spool.new()

    def sync(self) -> None:
        """Make every exchange durable whose write has returned; others may be written meanwhile."""
        with self._sync_lock:
            if self._growing is not None:
                self._growing.file.sync()
        failpoint("warc.synced")

    def suspend(self) -> None:
        """Sync and let go of the growing file without closing it, so that a later writer goes on in it.

        Nothing can be written afterwards: that raises ValueError.
        """
        with self._lock, self._sync_lock:
            self._ended = True
            if self._growing is not None:
                try:
                    self._growing.file.sync()
                finally:
                    self._growing.file.close()
                    self._growing = None

    def abandon(self) -> None:
        """Let go of the growing file as it is, without a sync; after `suspend` or `close`, do nothing."""
        with self._lock, self._sync_lock:
            self._ended = True
            if self._growing is not None:
                self._growing.file.close()
                self._growing = None

    def close(self) -> list[FileInfo]:
        """Close the growing file and return all files of the prefix, those of earlier processes too.

        Nothing can be written afterwards: that raises ValueError.
        """
        with self._lock:
            self._ended = True
            self._close_growing()
            return list(self._closed)

    def _resume(self, synced_bytes: int) -> None:
        for path in sorted(self._directory.glob(f"{self._prefix}-*.warc.gz*")):
            if path.name.endswith(OPEN_SUFFIX):
                self._growing = reopen_file(self._disk, path, synced_bytes=synced_bytes)
            else:
                self._closed.append(closed_file(path))
        if self._growing is None:
            return
        expected = self._file_name(len(self._closed))
        if self._growing.name != expected:
            raise CorruptData(f"{self._growing.file.path} is open where {expected} should be")
        if not self._growing.records:
            self._write_warcinfo(self._growing)

    def _record_id(self, kind: str, answer: Answer, fp: str) -> str:
        started_at = f"{answer.started_at:.6f}"
        return record_id(self._segment, fp, answer.url, started_at, str(self._earlier_records), kind)

    def _request(self, answer: Answer, fp: str, common: Fields, concurrent_to: str) -> bytes:
        request_id = self._record_id("request", answer, fp)
        fields = request_fields(common=common, record_id=request_id, concurrent_to=concurrent_to)
        return gzip_member(fields, strict_head(answer.request_head))

    @contextmanager
    def _compressed(self, fields: Fields, head: bytes, body: SpooledBody) -> Iterator[SpooledBody]:
        """Lend the gzip member of a record that is too large for the memory."""
        member = self._spool.new()
        try:
            with self._large_lock:
                for piece in gzip_member_of(fields, head, body):
                    member.write(piece)
            yield member
        finally:
            member.close()

    def _store(self, main: Body, request: bytes, *, payload_digest: str) -> Location:
        pieces = (main + request,) if isinstance(main, bytes) else chain(main.pieces(), (request,))
        with self._lock:
            growing = self._with_room_for(len(main) + len(request))
            offset = growing.append(pieces, records=2)
        failpoint("warc.appended")
        return Location(file=growing.name, offset=offset, length=len(main), digest=payload_digest)

    def _with_room_for(self, size: int) -> GrowingFile:
        if self._ended:
            raise ValueError(f"the WARC writer of {self._directory} is closed")
        growing = self._growing
        if growing is not None and growing.records > 1 and growing.file.tell() + size > self._file_bytes_max:
            self._close_growing()
        if self._growing is None:
            self._growing = self._open_next()
        return self._growing

    def _open_next(self) -> GrowingFile:
        growing = new_file(self._disk, self._directory, self._file_name(len(self._closed)))
        try:
            self._write_warcinfo(growing)
            growing.file.sync()
            self._disk.sync_dir(self._directory)
        except BaseException:
            growing.file.close()
            raise
        failpoint("warc.opened")
        return growing

    def _write_warcinfo(self, growing: GrowingFile) -> None:
        fields = warcinfo_fields(
            record_id=record_id(self._segment, growing.name, "warcinfo"), at=self._clock.now(), file_name=growing.name
        )
        block = warcinfo_block(
            {
                "software": f"batchcrawl/{__version__}",
                "format": "WARC File Format 1.1",
                "conformsTo": "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
                "isPartOf": self._segment,
                "robots": "obey",
                **self._info,
            }
        )
        growing.append((gzip_member(fields, block),), records=1)

    def _close_growing(self) -> None:
        growing = self._growing
        if growing is None:
            return
        with self._sync_lock:
            growing.file.sync()
            self._disk.rename(growing.file.path, self._directory / growing.name)
            growing.file.close()
            self._growing = None
        self._closed.append(growing.info())
        failpoint("warc.closed")

    def _file_name(self, number: int) -> str:
        return f"{self._prefix}-{number:05d}.warc.gz"
