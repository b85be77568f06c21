import re
from pathlib import Path

import msgspec
import pytest

from batchcrawl.job.catalogue import catalogue
from batchcrawl.job.load import Job, load_job
from batchcrawl.job.settings import NetworkSettings, Settings
from batchcrawl.job.template import job_text


def job_of(tmp_path: Path, text: str) -> Job:
    (tmp_path / "new.toml").write_text(text, encoding="utf-8")
    return load_job("new.toml", cwd=tmp_path)


def test_a_new_job_holds_what_was_asked_for_and_defaults(tmp_path: Path) -> None:
    text = job_text("new", urls=["https://example.org/", "https://example.com/"], contact="me@example.org")
    assert job_of(tmp_path, text).settings == Settings(
        contact="me@example.org", seeds=("https://example.org/", "https://example.com/")
    )


@pytest.mark.parametrize(
    ("url", "ranges"),
    [
        ("http://localhost:8080/", ("127.0.0.0/8", "::1/128")),
        ("http://[::1]/", ("127.0.0.0/8", "::1/128")),
        ("http://10.1.2.3/", ("10.1.2.3/32",)),
        ("http://[fd00::1]/", ("fd00::1/128",)),
        ("http://93.184.215.14/", ()),
        ("http://example.org/", ()),
    ],
)
def test_a_new_job_allows_the_addresses_of_its_urls_that_are_not_public(
    tmp_path: Path, url: str, ranges: tuple[str, ...]
) -> None:
    job = job_of(tmp_path, job_text("new", urls=[url], contact=None))
    assert job.settings.network == NetworkSettings(allow_addresses=ranges)


def test_a_new_job_without_a_contact_has_a_line_for_it() -> None:
    assert '\n# contact = "https://example.org/crawler"' in job_text("new", urls=["https://a.org/"], contact=None)


def test_a_new_job_names_every_setting_once_with_its_meaning() -> None:
    text = job_text("new", urls=["https://a.org/"], contact=None)
    keys = re.findall(r"^(?:# )?([a-z_]+) = ", text, re.MULTILINE)
    assert keys == [setting.key for setting in catalogue()]
    unwrapped = text.replace("\n# ", " ")
    assert all(setting.meaning in unwrapped for setting in catalogue())


def test_every_line_of_a_new_job_may_be_taken_out_of_its_comment(tmp_path: Path) -> None:
    text = job_text("new", urls=["https://a.org/"], contact=None)
    for name in ("regex-urlfilter.txt", "suffix-urlfilter.txt"):
        (tmp_path / name).touch()
    job = job_of(tmp_path, re.sub(r"^# (?=[a-z_]+ = )", "", text, flags=re.MULTILINE))
    assert "default" not in job.sources.values()
    with_default = [setting for setting in catalogue() if setting.example is None and setting.section is not None]
    given = msgspec.to_builtins(job.settings)
    default = msgspec.to_builtins(Settings())
    assert len(with_default) > 20
    assert all(given[setting.section][setting.key] == default[setting.section][setting.key] for setting in with_default)
