"""What the rules of a job let into a crawl, over whole crawls by the command line."""

from pathlib import Path

from tests.support.commands import crawl, run, urls, write_job
from tests.support.scripted_web import Scripted, scripted_web

HOPS = """
[scope]
within = "any"
rules = ["reject hops > 2"]
"""


def page(*links: str) -> Scripted:
    return Scripted(body="".join(f'<a href="{link}">{link}</a>' for link in links).encode() or b"<title>end</title>")


def test_hops_are_counted_since_the_crawls_own_hosts_were_left(tmp_path: Path) -> None:
    answers = {
        "http://seed.test/": page("/a", "http://one.test/", "http://two.test/near"),
        "http://seed.test/a": page("http://one.test/b"),
        "http://one.test/": page("http://two.test/near", "/c", "http://seed.test/back"),
        "http://one.test/b": page("http://one.test/c"),
        "http://one.test/c": page("http://three.test/"),
        "http://two.test/near": page("http://two.test/far"),
        "http://two.test/far": page("http://three.test/"),
        "http://seed.test/back": page("http://four.test/"),
        "http://four.test/": page(),
    }
    with scripted_web(answers) as web:
        write_job(tmp_path, port=web.port, seeds=["http://seed.test/"], sections=HOPS)
        crawl(tmp_path)
    assert {url: (row["depth"], row["hops"]) for url, row in urls(tmp_path).items()} == {
        "http://seed.test/": (0, 0),
        "http://seed.test/a": (1, 0),
        "http://one.test/": (1, 1),
        "http://one.test/b": (2, 1),
        "http://one.test/c": (2, 2),
        "http://two.test/near": (1, 1),
        "http://two.test/far": (2, 2),
        "http://seed.test/back": (2, 0),
        "http://four.test/": (3, 1),
    }


def test_a_rule_that_cannot_be_read_ends_every_command_with_its_line_and_code_2(tmp_path: Path) -> None:
    write_job(tmp_path, port=1, seeds=["http://seed.test/"], sections='[scope]\nrules = [\n"take nothing",\n]')
    done = run(tmp_path, "parse", code=2)
    assert done.stdout == ""
    assert done.stderr.startswith('batchcrawl: jobs/x.toml:4: scope.rules: "take nothing" is no rule; allowed: ')
    assert done.stderr.count("\n") == 1
