from pathlib import Path

from batchcrawl.store.disk import Disk
from batchcrawl.store.metrics import write_metrics
from batchcrawl.store.segment import Manifest, Segment, StepInfo, write_manifest


def test_the_steps_of_a_segment_are_told_as_prometheus_reads_them(tmp_path: Path) -> None:
    manifest = Manifest(format=1, id="x", job='a"b\\', created_at=100.0, partitions=1, duration_s=1.0, urls=7, hosts=2)
    manifest.steps["generated"] = StepInfo(ended_at=101.5, counts={"urls": 7})
    manifest.steps["fetched"] = StepInfo(ended_at=200.0, counts={"fetched": 5, "timeout": 2})
    write_manifest(Disk(), tmp_path / "segment.json", manifest)
    write_metrics(Disk(), tmp_path / "crawl.prom", Segment(tmp_path))
    lines = (tmp_path / "crawl.prom").read_text().splitlines()
    job = r'job="a\"b\\"'
    assert f'batchcrawl_step_count{{{job},step="fetch",name="timeout"}} 2' in lines
    assert f'batchcrawl_step_duration_seconds{{{job},step="fetch"}} 98.5' in lines
    assert f'batchcrawl_step_ended_timestamp_seconds{{{job},step="generate"}} 101.5' in lines
    assert f"batchcrawl_segment_urls{{{job}}} 7" in lines
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert all(line.split("{")[0] in names for line in lines if not line.startswith("#"))
