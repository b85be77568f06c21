"""What the steps of a segment did, in Prometheus' text format, for the textfile collector of node_exporter.

https://prometheus.io/docs/instrumenting/exposition_formats/, "Text-based format". The collector reads `*.prom` files
of a directory, whole, so the file is replaced by a rename.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from batchcrawl.store.disk import Disk
from batchcrawl.store.rounds import round_of
from batchcrawl.store.segment import COMMANDS, Segment

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})

Sample = tuple[dict[str, str], float]
"""Labels and a number."""


def write_metrics(disk: Disk, path: Path, segment: Segment) -> None:
    """Replace a file by what the steps of a segment did so far."""
    disk.write_file(path, segment_metrics(segment).encode())


def segment_metrics(segment: Segment) -> str:
    """Return what the steps of a segment did so far."""
    return "".join(_metrics(segment))


def family(name: str, meaning: str, samples: Iterable[Sample]) -> str:
    """Return the lines of a gauge, whose name gets the program's before it."""
    lines = [f"# HELP batchcrawl_{name} {meaning}\n# TYPE batchcrawl_{name} gauge\n"]
    for labels, number in samples:
        inner = ",".join(f'{label}="{value.translate(_ESCAPES)}"' for label, value in labels.items())
        lines.append(f"batchcrawl_{name}{{{inner}}} {number}\n")
    return "".join(lines)


def _metrics(segment: Segment) -> Iterator[str]:
    manifest, told = segment.manifest, round_of(segment)
    job = {"job": manifest.job}
    steps = [({**job, "step": COMMANDS.get(name, name)}, info) for name, info in manifest.steps.items()]
    yield family(
        "step_ended_timestamp_seconds", "When the step ended.", [(labels, info.ended_at) for labels, info in steps]
    )
    yield family(
        "step_duration_seconds",
        "From the end of the step before it to its own.",
        [({**job, "step": step}, seconds) for step, seconds in told.seconds.items()],
    )
    yield family(
        "step_count",
        "What the step counted, by name: outcomes of fetch, links of parse, and so on.",
        [({**labels, "name": name}, count) for labels, info in steps for name, count in info.counts.items()],
    )
    yield family("segment_urls", "URLs of the fetch lists of the segment.", [(job, manifest.urls)])
    yield family("segment_hosts", "Hosts of the segment.", [(job, manifest.hosts)])
