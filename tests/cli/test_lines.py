"""Lines for people: on a terminal none is wider than it, whatever the web has put there."""

import io
import os
import pty
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.cli import main
from batchcrawl.cli.lines import columns_of, echo_lines, folded, visible

WIDE = "日本語のとても長い題名" * 9
LONG = "http://example.org/" + "a" * 300


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("e\u0301", 1), ("ﾊﾝｶｸ", 4), ("\uff26", 2), ("🙂", 2), ("", 0)],
)
def test_a_wide_character_takes_two_columns_and_a_combining_one_none(text: str, columns: int) -> None:
    assert columns_of(text) == columns


def test_a_line_is_folded_at_a_space_and_goes_on_indented() -> None:
    assert list(folded("one two three four five", 12)) == ["one two", "    three", "    four", "    five"]
    assert list(folded("  name   " + "x" * 14, 16)) == ["  name", "    xxxxxxxxxxxx", "    xx"]
    assert list(folded("", 20)) == [""]


@given(st.text(), st.integers(min_value=10, max_value=90))
def test_no_part_is_wider_and_no_word_is_lost(text: str, columns: int) -> None:
    shown = visible(text)
    parts = list(folded(shown, columns))
    assert all(columns_of(part) <= columns for part in parts)
    assert "".join("".join(parts).split()) == "".join(shown.split())


def test_what_turns_the_line_around_or_rings_is_told_by_escapes() -> None:
    assert visible("a\u202eb\x1b[31m\x07\u200b日\x85") == "a\\u202eb\\x1b[31m\\x07\\u200b日\\x85"


def on_terminal(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], *, columns: int = 80) -> list[str]:
    """Return the lines that a terminal is given."""
    ours, theirs = pty.openpty()
    taken = bytearray()

    def take() -> None:
        try:
            while piece := os.read(ours, 65_536):
                taken.extend(piece)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=take)
    reader.start()
    with monkeypatch.context() as patch, io.TextIOWrapper(io.FileIO(theirs, "w"), "utf-8") as terminal:
        patch.setenv("COLUMNS", str(columns))
        patch.setattr("sys.stdout", terminal)
        act()
    reader.join()
    os.close(ours)
    return taken.decode().replace("\r\n", "\n").splitlines()


def test_on_a_terminal_lines_are_folded_and_elsewhere_they_stay_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = on_terminal(monkeypatch, lambda: echo_lines([WIDE, LONG, "short"]), columns=40)
    assert max(map(columns_of, lines)) == 40
    assert lines[-1] == "short"
    echo_lines([WIDE, LONG])
    assert capsys.readouterr().out == f"{WIDE}\n{LONG}\n"


def test_each_command_fits_into_80_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = "http://localhost:9/" + "a" * 200 + "?q=%E6%97%A5"
    (tmp_path / "x.toml").write_text(f'seeds = ["{url}"]\n[crawl]\npartitions = 1\n')
    (tmp_path / "page.html").write_text(f"<title>{WIDE}</title><a href='{LONG}'>{WIDE}</a>{WIDE} {WIDE}")
    for command in ("inject", "generate"):
        assert CliRunner().invoke(main, [command, "x.toml"]).exit_code == 0
    looks = [["status"], ["hosts"], ["segments"], ["segment", "newest"], ["explain", url], ["schedule", url]]
    looks += [["scope", "test", url], ["parse", "test", "page.html", "--url", url], ["gc"], ["check"]]
    for words in looks:
        place = 2 if words[1:2] == ["test"] else 1
        line = [*words[:place], "x.toml", *words[place:]]
        lines = on_terminal(monkeypatch, partial(main, line, standalone_mode=False))
        assert lines, line
        assert [shown for shown in lines if columns_of(shown) > 80 or "\x1b" in shown] == []
