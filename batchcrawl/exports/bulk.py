"""The bulk format of OpenSearch and Elasticsearch ("Bulk API" in their reference): an action a line, then its document.

No action names an index: it stands in the path of the request, `POST /pages/_bulk`. The id of a document is the
fingerprint, so that the next export replaces it; a tombstone deletes it.
"""

from collections.abc import Iterator

import msgspec

from batchcrawl.exports.output import Output
from batchcrawl.exports.rows import Row

_encode = msgspec.json.Encoder().encode


def write_bulk(rows: Iterator[Row], out: Output) -> None:
    """Write the actions of rows, which must have the fields `fp` and `gone`."""
    for row in rows:
        fp = row.pop("fp")
        if row.get("gone"):
            out.write(_encode({"delete": {"_id": fp}}) + b"\n")
        else:
            out.write(_encode({"index": {"_id": fp}}) + b"\n" + _encode(row) + b"\n")
