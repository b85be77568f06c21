"""What `export` writes of a crawl of two days: on the second, a page has changed, one is gone, one is the same."""

import csv
import io
import json
import shutil
import sqlite3
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard
from pyarrow import parquet
from warcio.archiveiterator import ArchiveIterator

from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.export import FORMS
from batchcrawl.exports.rows import DEFAULT, FIELDS
from batchcrawl.store.segment import segment_id
from batchcrawl.store.warc_reader import read_exchange
from tests.support.commands import run, write_job
from tests.support.crawling import BORN_AT
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.webserver import ROOT

SITE = "http://seed.test"
SECOND_AT = BORN_AT + 2 * 86_400
HOME = b'<title>Home</title>here <a href="a">Anchor of a</a><a href="same" rel=next>S</a><a href="same-copy">C</a>'
HOSTILE = b'<title>=1+1 \x1b[31m,"</title><meta name=robots content=noindex>evil\x00 words'
SAME = Scripted(body=b"<title>Same</title>the same", headers={"ETag": '"x"'})
OPTIONS = ("--fields", "--since", "--host", "--duplicates", "--gone", "--size")
SECTIONS = '[recrawl]\ninterval = "1d"\n[fetch]\nfull_every = 9\n'


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("crawled")
    answers = {
        f"{SITE}/": Scripted(body=HOME + b'<a href="gone">G</a><a href="evil">E</a>'),
        f"{SITE}/a": Scripted(body=b"<title>A</title>first words"),
        f"{SITE}/gone": Scripted(body=b"<title>G</title>soon gone"),
        f"{SITE}/same": SAME,
        f"{SITE}/same-copy": Scripted(body=SAME.body),
        f"{SITE}/evil": Scripted(body=HOSTILE),
    }
    with scripted_web(answers) as web, pytest.MonkeyPatch.context() as patch:
        write_job(folder, port=web.port, seeds=[f"{SITE}/"], sections=SECTIONS)
        patch.setenv(CLOCK_VARIABLE, str(BORN_AT))
        run(folder, "inject")
        run(folder, "crawl", "--rounds", "2")
        answers[f"{SITE}/a"] = Scripted(body=b"<title>A</title>second words")
        answers[f"{SITE}/same"] = Scripted(status=304, body=b"", headers=SAME.headers)
        del answers[f"{SITE}/gone"]
        patch.setenv(CLOCK_VARIABLE, str(SECOND_AT))
        run(folder, "round")
        yield folder


def export(folder: Path, form: str, *options: str) -> str:
    return run(folder, "export", "--to", form, *options).stdout


def objects(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def paths(text: str) -> set[str]:
    return {row["url"].removeprefix(SITE) for row in objects(text)}


def test_each_page_is_there_once_by_its_latest_version(crawled: Path) -> None:
    rows = {row["url"].removeprefix(SITE): row for row in objects(export(crawled, "jsonl"))}
    assert rows.keys() == {"/", "/a", "/same", "/evil"}
    assert rows["/a"]["text"] == "second words"
    assert (rows["/a"]["segment"], rows["/a"]["changed_at"]) == (segment_id(SECOND_AT), SECOND_AT)
    assert rows["/same"]["text"] == "the same"
    assert (rows["/same"]["fetched_at"], rows["/same"]["checked_at"]) == (BORN_AT, SECOND_AT)


def test_duplicates_and_tombstones_come_when_they_are_asked_for(crawled: Path) -> None:
    assert paths(export(crawled, "jsonl", "--duplicates")) == {"/", "/a", "/same", "/same-copy", "/evil"}
    gone = [row for row in objects(export(crawled, "jsonl", "--gone")) if row.get("gone")]
    assert [(row["url"].removeprefix(SITE), row["status"]) for row in gone] == [("/gone", "gone")]


def test_since_a_segment_there_is_what_it_brought(crawled: Path) -> None:
    assert paths(export(crawled, "jsonl", "--since", segment_id(SECOND_AT))) == {"/a"}
    assert "/gone" in paths(export(crawled, "jsonl", "--gone", "--since", segment_id(SECOND_AT)))


def test_fields_are_chosen_and_a_file_is_compressed_by_its_name(crawled: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.jsonl.zst"
    said = run(crawled, "export", str(target), "--to", "jsonl", "--fields", "url,title").stderr
    assert said == f"export: 4 pages in {target}\n"
    text = zstandard.ZstdDecompressor().decompressobj().decompress(target.read_bytes()).decode()
    assert {"url": f"{SITE}/a", "title": "A"} in objects(text)
    assert [path.name for path in tmp_path.iterdir()] == ["pages.jsonl.zst"]


def test_csv_is_read_back_and_has_no_control_characters(crawled: Path) -> None:
    text = export(crawled, "csv", "--fields", "url,title,robots,words")
    assert "\x1b" not in text
    rows = {row["url"]: row for row in csv.DictReader(io.StringIO(text))}
    assert rows[f"{SITE}/evil"]["title"] == '=1+1 \N{REPLACEMENT CHARACTER}[31m,"'
    assert (rows[f"{SITE}/evil"]["robots"], rows[f"{SITE}/a"]["words"]) == ("noindex", "2")


def test_sqlite_finds_pages_by_their_words(crawled: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.db"
    run(crawled, "export", str(target), "--to", "sqlite")
    db = sqlite3.connect(target)
    found = db.execute(
        "SELECT url FROM pages WHERE rowid IN (SELECT rowid FROM pages_fts WHERE pages_fts MATCH 'second')"
    ).fetchall()
    db.close()
    assert found == [(f"{SITE}/a",)]
    assert [path.name for path in tmp_path.iterdir()] == ["pages.db"]


def test_parquet_has_the_rows_of_json_lines(crawled: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages.parquet"
    run(crawled, "export", str(target), "--to", "parquet", "--fields", "url,robots,fetched_at,words,text")
    rows = parquet.read_table(target).to_pylist()
    lines = objects(export(crawled, "jsonl", "--fields", "url,robots,fetched_at,words,text"))
    assert [{name: value for name, value in row.items() if value is not None} for row in rows] == lines


def test_a_list_has_a_url_a_line(crawled: Path) -> None:
    assert set(export(crawled, "list", "--host", "seed.test").split()) == {
        f"{SITE}{path}" for path in ("/", "/a", "/same", "/evil")
    }
    assert export(crawled, "list", "--host", "other.test") == ""


def test_bulk_indexes_pages_and_deletes_what_is_gone(crawled: Path) -> None:
    lines = objects(export(crawled, "bulk", "--gone", "--fields", "url,title"))
    ids = {row["url"]: row["fp"] for row in objects(export(crawled, "jsonl", "--gone"))}
    assert {"delete": {"_id": ids[f"{SITE}/gone"]}} in lines
    assert lines[lines.index({"index": {"_id": ids[f"{SITE}/a"]}}) + 1] == {"url": f"{SITE}/a", "title": "A"}


def test_a_sitemap_leaves_out_what_asks_not_to_be_indexed(crawled: Path, tmp_path: Path) -> None:
    target = tmp_path / "sitemap.xml"
    run(crawled, "export", str(target), "--to", "sitemap")
    found = [element.text for element in ET.parse(target).iter() if element.tag.endswith("loc")]
    assert sorted(map(str, found)) == [f"{SITE}/", f"{SITE}/a", f"{SITE}/same"]


def test_edges_have_anchors_and_nodes_are_all_that_is_known(crawled: Path) -> None:
    edges = objects(export(crawled, "links"))
    assert {"source": f"{SITE}/", "target": f"{SITE}/a", "kind": "a", "anchor": "Anchor of a"} in edges
    assert {"source": f"{SITE}/", "target": f"{SITE}/same", "kind": "a", "anchor": "S", "rel": ["next"]} in edges
    assert paths(export(crawled, "nodes")) == {"/", "/a", "/same", "/gone", "/evil"}


def test_warc_files_hold_the_exchange_of_each_latest_copy_as_it_stands_in_its_segment(
    crawled: Path, tmp_path: Path
) -> None:
    run(crawled, "export", str(tmp_path / "all.warc.gz"), "--to", "warc", "--size", "1KB")
    kinds, bodies = [], {}
    for path in sorted(tmp_path.iterdir()):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                kinds.append(record.rec_type)
                body = record.content_stream().read()
                if record.rec_type == "response":
                    bodies[record.rec_headers.get_header("WARC-Target-URI").removeprefix(SITE)] = body
    assert (kinds.count("response"), kinds.count("request"), kinds.count("revisit")) == (4, 4, 0)
    assert kinds.count("warcinfo") == len(list(tmp_path.iterdir())) > 1
    assert (bodies["/a"], bodies["/same"]) == (b"<title>A</title>second words", SAME.body)


def test_warc_files_of_an_earlier_export_do_not_stay_behind_those_of_this_one(crawled: Path, tmp_path: Path) -> None:
    for size in ("1KB", "1MB"):
        run(crawled, "export", str(tmp_path / "all.warc.gz"), "--to", "warc", "--size", size)
    assert [path.name for path in tmp_path.iterdir()] == ["all-00000.warc.gz"]


def test_the_index_leads_to_every_exchange_that_has_a_page_and_is_sorted(crawled: Path) -> None:
    lines = export(crawled, "cdxj").splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 1 + 5 + 6 - 1  # without the 304
    for line in lines:
        key, at, place = line.split(" ", 2)
        told = json.loads(place)
        stored = read_exchange(crawled / "data/x" / told["filename"], int(told["offset"]), length=int(told["length"]))
        assert (stored.target_uri, stored.revisit) == (told["url"], told["mime"] == "warc/revisit")
        assert stored.date[:19].translate(str.maketrans("", "", "-T:")) == at
        assert key == "test,seed)" + told["url"].removeprefix(SITE)


def test_pages_whose_segment_is_not_there_any_more_are_counted(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "copy")
    first = sorted((tmp_path / "copy/data/x/segments").iterdir())[0]
    shutil.rmtree(first)
    said = run(tmp_path / "copy", "export", "--to", "list").stderr
    assert "1 pages are left out: the segments that store them are not there any more" in said


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--to", "jsonl", "--fields", "url,titel"], "there is no field 'titel'; did you mean title?"),
        (["--to", "list", "--fields", "url"], "--fields is for forms that have any; --to list has none"),
        (["--to", "sqlite"], "--to sqlite needs a FILE to write to"),
        (["--to", "jsonl", "--since", "yesterday"], "--since yesterday: no segment is called so"),
        (["--to", "warc", "x.warc.gz", "--size", "big"], "--size big: it must be a size with a unit"),
    ],
)
def test_what_cannot_be_written_is_wrong_usage(crawled: Path, options: list[str], line: str) -> None:
    done = run(crawled, "export", *options, code=2)
    assert line in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_export_that_cannot_be_finished_leaves_the_file_as_it_was(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "copy")
    pages = next(tmp_path.glob("copy/data/x/segments/*/parse/*.pages.jsonl.zst"))
    pages.write_bytes(pages.read_bytes()[:-9])
    target = tmp_path / "pages.jsonl"
    target.write_text("before")
    for form in ("jsonl", "sqlite"):
        run(tmp_path / "copy", "export", str(target), "--to", form, code=6)
        assert target.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "pages.jsonl"]


def test_the_docs_name_every_form_field_and_option() -> None:
    text = (ROOT / "docs/EXPORT.md").read_text("utf-8")
    rows = [f"| `{name}`{'' if name in DEFAULT else ' *'} |" for name in FIELDS]
    rows += [f"| `{name}` |" for name in FORMS] + [f"| `{option.split()[0]}" for option in OPTIONS]
    assert [row for row in rows if row not in text] == []
    assert [field.meaning for field in FIELDS.values() if f"| {field.meaning} |" not in text] == []
