from pathlib import Path

from batchcrawl.store.layout import Layout, SegmentPaths

LAYOUT = Layout(Path("data/demo"))
SEGMENT = SegmentPaths(LAYOUT.segment("20261130T101500Z"))


def test_everything_of_a_crawl_lies_where_the_format_says() -> None:
    names = [LAYOUT.seed_hosts, LAYOUT.seed_domains]
    paths = [LAYOUT.identity, LAYOUT.suffix_list, *names, LAYOUT.lock, LAYOUT.crawldb(3)]
    assert [str(path.relative_to(LAYOUT.root)) for path in paths] == [
        "crawl.toml",
        "public_suffix_list.dat",
        "seed_hosts.txt",
        "seed_domains.txt",
        "lock",
        "crawldb/3",
    ]


def test_everything_of_a_segment_lies_where_the_format_says() -> None:
    paths = [
        SEGMENT.manifest,
        SEGMENT.fetch_list(0),
        SEGMENT.host_sheet(0),
        SEGMENT.fetch_log(0),
        SEGMENT.host_log(0),
        SEGMENT.pages(0, 12),
        SEGMENT.links(0, 12, 1),
        SEGMENT.stamp("fetched"),
    ]
    assert SEGMENT.root == Path("data/demo/segments/20261130T101500Z")
    assert [str(path.relative_to(SEGMENT.root)) for path in paths] == [
        "segment.json",
        "fetchlist/0.jsonl.zst",
        "hosts/0.jsonl.zst",
        "fetch/0.jsonl",
        "fetch/0.hosts.jsonl",
        "parse/0-00012.pages.jsonl.zst",
        "parse/0-00012.links-1.jsonl.zst",
        ".fetched",
    ]


def test_no_two_partitions_share_a_file() -> None:
    kinds = (SEGMENT.fetch_list, SEGMENT.host_sheet, SEGMENT.fetch_log, SEGMENT.host_log)
    paths = [path(p) for path in kinds for p in range(12)]
    assert len(set(paths)) == len(paths)


def test_segments_are_listed_by_age_and_nothing_else_is(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    names = ["20261130T101500Z", "20260101T000000Z", ".new-20270101T000000Z", "notes", "20261130T101500Z.old"]
    for name in names:
        (layout.segments / name).mkdir(parents=True)
    assert layout.segment_ids() == ["20260101T000000Z", "20261130T101500Z"]


def test_a_segment_that_is_being_built_is_not_visible(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    layout.unborn_segment("20261130T101500Z").mkdir(parents=True)
    assert layout.segment_ids() == []


def test_a_crawl_without_a_directory_of_segments_has_none(tmp_path: Path) -> None:
    assert Layout(tmp_path).segment_ids() == []


def test_pages_and_links_of_one_partition_are_not_taken_for_those_of_another(tmp_path: Path) -> None:
    paths = SegmentPaths(tmp_path)
    paths.parse_dir.mkdir()
    for p in (1, 11):
        for chunk in (0, 1):
            paths.pages(p, chunk).touch()
            for target in (1, 11):
                paths.links(p, chunk, target).touch()
            paths.links(p, chunk, 1).with_name(f"{p}-{chunk:05}.links-1.jsonl.zst.tmp").touch()
    assert paths.all_pages(1) == [paths.pages(1, 0), paths.pages(1, 1)]


def test_what_is_left_of_segments_that_were_cut_is_found(tmp_path: Path) -> None:
    layout = Layout(tmp_path)
    assert layout.unborn_segments() == []
    for path in (layout.unborn_segment("20261130T101500Z"), layout.segment("20261130T101500Z")):
        path.mkdir(parents=True)
    assert layout.unborn_segments() == [layout.unborn_segment("20261130T101500Z")]
