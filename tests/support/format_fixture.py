"""Makes `tests/data/format_<version>.tar.gz`: `python -m tests.support.format_fixture`.

That is done before a version is released. After that the file stays as it is: it shows that later programs open what
this one has written.
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from batchcrawl.cli.running import CLOCK_VARIABLE
from batchcrawl.store.identity import FORMAT_VERSION
from tests.support.scripted_web import Scripted, scripted_web
from tests.support.webserver import ROOT

BORN_AT = 1_796_040_000
DAY_S = 86_400
LAST_AT = BORN_AT + 4 * DAY_S
_JOB = """\
seeds = ["http://start.example/"]
[crawl]
partitions = 2
[scope]
within = "any"
[politeness]
delay_min = "0s"
factor = 0
[recrawl]
interval = "1d"
[network]
names = {{ "*" = "127.0.0.1:{port}" }}
allow_addresses = ["127.0.0.0/8"]
"""
_SUFFIXES = """\
// VERSION: 2026-11-30_00-00-00_UTC
// ===BEGIN ICANN DOMAINS===
com
example
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
github.io
// ===END PRIVATE DOMAINS===
"""
"""Stands for the list that a crawl copies at birth, which is twenty times as large as all the rest."""
_SITEMAP = (
    b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>http://start.example/a</loc><lastmod>2026-11-30</lastmod></url></urlset>"
)
_ROBOTS = b"User-agent: *\nDisallow: /private\nSitemap: http://start.example/sitemap.xml\n"


def main() -> None:
    """Crawl, and pack what there is then."""
    with TemporaryDirectory() as name:
        root = Path(name)
        (root / "jobs").mkdir()
        _crawl(root)
        target = ROOT / "tests" / "data" / f"format_{FORMAT_VERSION}.tar.gz"
        target.write_bytes(_packed(root))
        print(f"{target}: {target.stat().st_size:,} bytes")


def _crawl(root: Path) -> None:
    """Run three rounds and half of a fourth; dump.jsonl is what the crawldb says then."""
    with scripted_web(_answers(1)) as web:
        (root / "jobs" / "kept.toml").write_text(_JOB.format(port=web.port))
        _run(root, "inject", at=BORN_AT)
        for at in (BORN_AT + 100, BORN_AT + 200):
            _run(root, "round", at=at)
        web.answers = _answers(2)
        _run(root, "round", at=BORN_AT + 2 * DAY_S)
        for step in ("generate", "fetch"):
            _run(root, step, at=LAST_AT)
    (root / "jobs" / "kept.toml").write_text(_JOB.format(port=1))
    (root / "dump.jsonl").write_text(_run(root, "dump", "--duplicates", at=LAST_AT))
    (root / "data" / "kept" / "public_suffix_list.dat").write_text(_SUFFIXES)
    for left in ("LOCK", "LOG", "LOG.old", "lock"):
        for path in (root / "data").rglob(left):
            path.unlink()
    shutil.rmtree(root / "data" / "kept" / "snapshots", ignore_errors=True)


def _answers(version: int) -> Mapping[str, Scripted]:
    links = b'<a href="/a">a</a><a href="/old">old</a><a href="http://shop.example/">shop</a>'
    words = b"The same words as before, in a text that is long enough to be told from others by them."
    start = b"<title>Home</title><p>Version %d of the first page.</p>%b" % (version, links)
    return {
        "http://start.example/robots.txt": Scripted(body=_ROBOTS, headers={"Content-Type": "text/plain"}),
        "http://start.example/": Scripted(body=start, headers={"ETag": f'"{version}"'}),
        "http://start.example/a": Scripted(
            body=b'<title>A</title><p>%b</p><a href="/private/x">x</a>' % words,
            headers={"Last-Modified": "Mon, 30 Nov 2026 10:00:00 GMT"},
        ),
        "http://start.example/old": Scripted(status=301, headers={"Location": "/a"}, body=b""),
        "http://shop.example/": Scripted(body=b"<title>Copy</title><p>%b</p>" % words),
        "http://start.example/sitemap.xml": Scripted(body=_SITEMAP, headers={"Content-Type": "application/xml"}),
    }


def _run(root: Path, *words: str, at: int) -> str:
    return subprocess.run(
        [sys.executable, "-m", "batchcrawl", words[0], "kept", *words[1:]],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), CLOCK_VARIABLE: str(at)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout


def _packed(root: Path) -> bytes:
    """Return the files without what tells of the machine they were made on."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", mtime=LAST_AT) as file,
        tarfile.open(fileobj=file, mode="w") as archive,
    ):
        for path in sorted(root.rglob("*")):
            archive.add(path, arcname=str(path.relative_to(root)), recursive=False, filter=_anonymous)
    return packed.getvalue()


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = LAST_AT
    return member


if __name__ == "__main__":
    main()
