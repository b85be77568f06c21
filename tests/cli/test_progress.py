import pytest

from batchcrawl.cli import progress as shown
from batchcrawl.cli.progress import StepProgress
from batchcrawl.engine.control import Progress


def line_of(progress: Progress, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(shown, "LINE_EVERY_S", 0.0)
    StepProgress("update")(progress)
    return capsys.readouterr().err


def test_a_step_that_knows_no_total_tells_what_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line_of(Progress(done=1200), capsys, monkeypatch) == "update: 1,200, 0.0/s\n"


def test_a_step_that_waits_says_for_what_instead_of_a_rate_of_zero(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = line_of(Progress(done=3, total=9, waiting_hosts=2), capsys, monkeypatch)
    assert said == "update: 3 of 9, 0 hosts active, 2 waiting\n"


def test_nothing_is_said_before_anything_is_known(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert line_of(Progress(), capsys, monkeypatch) == ""
