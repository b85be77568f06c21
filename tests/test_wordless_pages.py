from pathlib import Path

from tests.support.crawling import BORN_AT, Crawling, clock_of
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.warm import Warm


def test_pages_without_a_word_are_not_copies_of_one_another(tmp_path: Path) -> None:
    answers = {
        "http://site.test/robots.txt": Scripted(status=404),
        "http://site.test/": Scripted(body=b'<img src="a.png"><a href="/b"><img></a><a href="/c"><img></a>'),
        "http://site.test/b": Scripted(body=b'<img src="b.png">'),
        "http://site.test/c": Scripted(body=b" "),
    }
    warm = Warm()
    with scripted_web(answers) as web:
        crawling = Crawling.make(tmp_path / "crawl", web.port, warm, seeds=["http://site.test/"])
        crawling.must("inject", at=BORN_AT)
        crawling.must("crawl", "--rounds", "2", at=clock_of(1))
    checked = crawling.must("check", at=clock_of(1))
    warm.close()
    rows = [row for row in crawling.rows() if "status" in row]
    assert sorted((row["url"], row["status"], row.get("signature")) for row in rows) == [
        ("http://site.test/", "fetched", None),
        ("http://site.test/b", "fetched", None),
        ("http://site.test/c", "fetched", None),
    ]
    assert checked.startswith("check: no fault")
