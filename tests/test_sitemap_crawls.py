"""Whole crawls by sitemaps and feeds."""

import gzip
from pathlib import Path

import msgspec

from tests.support.scripted_web import Scripted, ScriptedWeb, scripted_web
from tests.test_whole_crawl import _job, _run

XML = {"Content-Type": "application/xml"}
GZIP = {"Content-Type": "application/octet-stream"}
FRONT = "http://site.test/"


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</urlset>'.encode()


def index(*urls: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{url}</loc></sitemap>' for url in urls)}</sitemapindex>".encode()


def robots(*sitemaps: str) -> Scripted:
    return Scripted(headers={"Content-Type": "text/plain"}, body="".join(f"Sitemap: {s}\n" for s in sitemaps).encode())


def page(name: str) -> Scripted:
    return Scripted(body=f"<title>{name}</title>the page {name}".encode())


def crawled(
    folder: Path, answers: dict[str, Scripted], *, seeds: list[str], within: str = "seed-host", settings: str = ""
) -> ScriptedWeb:
    with scripted_web(answers) as web:
        job = _job(folder, port=web.port, seeds=seeds, within=within)
        (folder / job).write_text((folder / job).read_text() + settings)
        _run(folder, "inject", job)
        _run(folder, "crawl", job, "--until-done")
    return web


def asked(web: ScriptedWeb) -> list[str]:
    return sorted(url for url in web.asked if not url.endswith("/robots.txt"))


def test_pages_that_a_sitemap_alone_leads_to_are_crawled(tmp_path: Path) -> None:
    parts = [[f"http://site.test/p{part}-{n}" for n in range(4)] for part in range(2)]
    answers = {
        "http://site.test/robots.txt": robots("http://site.test/map.xml"),
        FRONT: page("front"),
        "http://site.test/map.xml": Scripted(
            headers=XML, body=index("http://site.test/0.gz", "http://site.test/1.txt", "http://site.test/map.xml")
        ),
        "http://site.test/0.gz": Scripted(headers=GZIP, body=gzip.compress(urlset(*parts[0]))),
        "http://site.test/1.txt": Scripted(headers=GZIP, body="\n".join(parts[1]).encode()),
        **{url: page(url) for part in parts for url in part},
    }
    web = crawled(tmp_path, answers, seeds=[FRONT])
    assert asked(web) == sorted(set(answers) - {"http://site.test/robots.txt"})
    row = msgspec.json.decode(_run(tmp_path, "url", "job.toml", "http://site.test/0.gz").stdout)["record"]
    assert (row["status"], row["kind"]) == ("fetched", "sitemap")
    row = msgspec.json.decode(_run(tmp_path, "url", "job.toml", parts[0][0]).stdout)["record"]
    assert (row["status"], row["kind"], row["depth"], row["lastmod_at"]) == ("fetched", "page", 1, 1_767_225_600)


def test_a_feed_leads_to_its_items(tmp_path: Path) -> None:
    feed = b"<rss><channel><item><link>http://site.test/news</link></item></channel></rss>"
    answers = {
        FRONT: Scripted(body=b"<link rel=alternate type=application/rss+xml href=/feed>front"),
        "http://site.test/feed": Scripted(headers={"Content-Type": "application/rss+xml"}, body=feed),
        "http://site.test/news": page("news"),
    }
    assert asked(crawled(tmp_path, answers, seeds=[FRONT])) == sorted(answers)


def test_a_sitemap_that_the_job_names_is_enough_to_begin_with(tmp_path: Path) -> None:
    answers = {
        "http://site.test/s.xml": Scripted(headers=XML, body=urlset("http://site.test/a", "http://other.test/")),
        "http://site.test/a": page("a"),
    }
    web = crawled(tmp_path, answers, seeds=[], settings='[sitemaps]\nurls = ["http://site.test/s.xml"]\n')
    assert asked(web) == sorted(answers)


def test_sitemaps_are_looked_for_by_name_on_request_only(tmp_path: Path) -> None:
    answers = {
        FRONT: page("front"),
        "http://site.test/sitemap.xml": Scripted(headers=XML, body=urlset("http://site.test/a")),
        "http://site.test/sitemap_index.xml": Scripted(body=b"<html><title>nothing here</title><a href=/no>no</a>"),
        "http://site.test/a": page("a"),
    }
    (tmp_path / "plain").mkdir()
    assert asked(crawled(tmp_path / "plain", answers, seeds=[FRONT])) == [FRONT]
    (tmp_path / "probing").mkdir()
    web = crawled(tmp_path / "probing", answers, seeds=[FRONT], settings="[sitemaps]\nprobe = true\n")
    assert set(answers) <= set(asked(web))
    assert "http://site.test/no" not in web.asked


def test_sitemaps_of_robots_txt_can_be_left_alone(tmp_path: Path) -> None:
    answers = {"http://site.test/robots.txt": robots("/map.xml"), FRONT: page("front")}
    assert asked(crawled(tmp_path, answers, seeds=[FRONT], settings="[sitemaps]\nuse = false\n")) == [FRONT]


def test_a_sitemap_speaks_of_another_site_only_if_that_names_it(tmp_path: Path) -> None:
    sitemap = urlset("http://one.test/hidden", "http://two.test/hidden", "http://three.test/hidden")
    answers = {
        "http://one.test/robots.txt": robots("http://two.test/map.xml"),
        "http://one.test/": page("one"),
        "http://two.test/": page("two"),
        "http://three.test/": page("three"),
        "http://two.test/map.xml": Scripted(headers=XML, body=sitemap),
        "http://one.test/hidden": page("hidden one"),
        "http://two.test/hidden": page("hidden two"),
        "http://three.test/hidden": page("hidden three"),
    }
    seeds = ["http://one.test/", "http://two.test/", "http://three.test/"]
    web = crawled(tmp_path, answers, seeds=seeds)
    assert set(asked(web)) == set(answers) - {"http://one.test/robots.txt", "http://three.test/hidden"}


def test_a_hostile_site_stays_within_its_limits(tmp_path: Path) -> None:
    bomb = gzip.compress(b"<urlset><url><loc>http://site.test/bomb</loc></url>" + b" " * 3_000_000)
    many = urlset(*(f"http://site.test/{n}" for n in range(2000)))
    endless = {
        f"http://site.test/i{n}.xml": Scripted(headers=XML, body=index(f"http://site.test/i{n + 1}.xml"))
        for n in range(50)
    }
    answers = {
        "http://site.test/robots.txt": robots("/bomb.xml.gz", "/many.xml", "/i0.xml", "/foreign.xml", "/evil.xml"),
        FRONT: page("front"),
        "http://site.test/bomb.xml.gz": Scripted(headers=GZIP, body=bomb),
        "http://site.test/many.xml": Scripted(headers=XML, body=many),
        "http://site.test/foreign.xml": Scripted(headers=XML, body=urlset(*(f"http://f{n}.test/" for n in range(500)))),
        "http://site.test/evil.xml": Scripted(
            headers=XML, body=b'<!DOCTYPE x [<!ENTITY a "&b;&b;">]><urlset><url><loc>&a;</loc></url></urlset>'
        ),
        "http://site.test/bomb": page("bomb"),
        **endless,
    }
    limits = '[sitemaps]\nentries_max = 20\nbytes_max = "200KB"\nhost_sitemaps_max = 9\n'
    web = crawled(tmp_path, answers, seeds=[FRONT], within="any", settings=limits)
    assert len([url for url in asked(web) if url.removeprefix(FRONT).isdigit()]) == 20
    assert [url for url in asked(web) if "/i" in url] == [f"http://site.test/i{n}.xml" for n in range(5)]
    assert "http://site.test/bomb" in web.asked
    assert not [url for url in web.asked if "//f" in url]
