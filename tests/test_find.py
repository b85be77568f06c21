"""What there is in the directory of a segment that was carried away from its crawl, and the history of a URL."""

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from batchcrawl.cli import main
from tests.support.commands import JOB, run, write_job
from tests.support.crawling import BORN_AT
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warm import Warm

SITE = "http://seed.test"
HOME = b'<title>Home \x1b</title><p>Some words here<p>and there <a href="a">A</a>'


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawled")
    answers = {f"{SITE}/": Scripted(body=HOME), f"{SITE}/b": Scripted(body=b"<title>B</title>b")}
    with scripted_web(answers) as web, closing(Warm()) as warm:
        write_job(
            folder,
            port=web.port,
            seeds=[f"{SITE}/", f"{SITE}/b"],
            sections='[recrawl]\ninterval = "1d"\ninterval_max = "1d"\ngone_interval = "1d"\n',
        )
        assert warm.run("inject", JOB, cwd=folder, at=BORN_AT).code == 0
        for day, body in enumerate((HOME, HOME, HOME + b"more", None)):
            answers[f"{SITE}/"] = Scripted(status=404) if body is None else Scripted(body=body)
            assert warm.run("round", JOB, cwd=folder, at=BORN_AT + day * 4 * 86_400).code == 0
    return folder


@pytest.fixture
def carried(crawled: Path, tmp_path: Path) -> str:
    """The first segment, in a directory of its own and of another name."""
    first = sorted((crawled / "data/x/segments").iterdir())[0]
    return str(shutil.copytree(first, tmp_path / "carried"))


def look(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_segment_without_its_crawl_gives_a_page(carried: str) -> None:
    told = json.loads(look("get", carried, f"{SITE}/").stdout)
    assert (told["outcome"]["outcome"], told["page"]["words"]) == ("fetched", 6)
    assert look("get", carried, f"{SITE}/", "--text").stdout.splitlines()[0].startswith("Some words here")
    assert look("get", carried, f"{SITE}/", "--body").stdout_bytes == HOME
    assert look("get", carried, f"{SITE}/", "--headers").stdout.startswith("200 OK\n")
    assert json.loads(look("get", carried, f"{SITE}/", "--links").stdout)["url"] == f"{SITE}/a"


def test_words_are_found_with_the_place_where_they_stand(carried: str) -> None:
    assert look("grep", carried, "(?i)HOME").stdout == f"{SITE}/ title: Home \\x1b\n"
    hit = json.loads(look("grep", carried, "w.rds", "--json", "--in", "text").stdout)
    assert (hit["url"], hit["place"]) == (f"{SITE}/", "text")
    assert (look("grep", carried, "nowhere").exit_code, look("grep", carried, "nowhere").output) == (1, "")


def test_all_of_it_is_dumped_as_json_lines(carried: str) -> None:
    lines = [json.loads(line) for line in look("dump", carried).stdout.splitlines()]
    assert sorted(line["page"]["title"] for line in lines) == ["B", "Home \x1b"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["get", ".", SITE], ". is no directory of a segment: there is no segment.json in it"),
        (["get", "carried", "http://other.test/"], "has no outcome for http://other.test/"),
        (["grep", "carried", "("], "'(' is no regular expression that can be used"),
    ],
)
def test_what_is_not_there_is_wrong_usage(
    carried: str, monkeypatch: pytest.MonkeyPatch, arguments: list[str], said: str
) -> None:
    monkeypatch.chdir(Path(carried).parent)
    result = look(*arguments)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert said in result.stderr


def test_the_history_of_a_url_is_told_and_drawn(crawled: Path) -> None:
    lines = run(crawled, "url", f"{SITE}/", "--history").stdout.splitlines()
    assert [line.split()[2] for line in lines[:-1]] == ["N", "=", "N", "x"]
    assert "2026-11-30T12:00:00Z  N  fetched 200" in lines[0]
    assert lines[-1] == "N=Nx"


def test_a_url_that_no_segment_has_had_has_no_history(crawled: Path) -> None:
    assert "no segment has had" in run(crawled, "url", "http://other.test/", "--history", code=2).stderr


def test_the_latest_body_of_a_url_is_written_into_a_file(crawled: Path, tmp_path: Path) -> None:
    run(crawled, "url", f"{SITE}/b", "--open", str(tmp_path / "b.html"))
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("b.html", b"<title>B</title>b")]
    assert "no body is stored of" in run(crawled, "url", f"{SITE}/", "--body", code=2).stderr
