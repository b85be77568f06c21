import pytest

from tests.support.in_process import run_all_in_process


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all_in_process(monkeypatch)
