"""The pages for people say what the program knows."""

import re
from pathlib import Path

import pytest

from batchcrawl.cli import PLACES
from batchcrawl.job.catalogue import catalogue
from tests.support.references import references
from tests.support.webserver import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SETTING = re.compile(r"`\[(\w+)\] (\w+)`")


@pytest.mark.parametrize("name", ["CLI.md", "SETTINGS.md"])
def test_a_reference_is_what_the_code_says(name: str) -> None:
    assert (ROOT / "docs" / name).read_text("utf-8") == references()[name], "run `make docs` and commit docs/"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"(?:^    \$ |`|ExecStart=.*/|&& .*/)batchcrawl ([a-z]+)", page.read_text("utf-8"), re.MULTILINE)
    assert [command for command in named if command not in PLACES] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_a_page_names_is_there(page: Path) -> None:
    known = {(setting.section, setting.key) for setting in catalogue()}
    assert [named for named in SETTING.findall(page.read_text("utf-8")) if named not in known] == []
