import pytest

from batchcrawl.engine.control import Control, Progress
from batchcrawl.errors import Interrupted


def test_progress_is_summed_field_by_field() -> None:
    assert Progress(1, 2, 3, 4, 5) + Progress(10, 20, 30, 40, 50) == Progress(11, 22, 33, 44, 55)


def test_nobody_has_asked_to_stop_at_first() -> None:
    control = Control()
    assert (control.stopping, control.dropping) == (False, False)


def test_the_first_request_stops_and_the_second_drops() -> None:
    control = Control()
    control.stop()
    assert (control.stopping, control.dropping) == (True, False)
    control.stop()
    assert (control.stopping, control.dropping) == (True, True)


def test_a_step_that_winds_down_by_itself_drops_nothing_at_the_first_request() -> None:
    control = Control()
    control.wind_down()
    assert (control.stopping, control.dropping) == (True, False)
    control.stop()
    assert (control.stopping, control.dropping) == (True, False)
    control.stop()
    assert (control.stopping, control.dropping) == (True, True)


def test_a_listener_hears_every_request_and_finds_it_already_made() -> None:
    control = Control()
    heard: list[tuple[bool, bool]] = []
    control.on_stop(lambda: heard.append((control.stopping, control.dropping)))
    control.stop()
    control.stop()
    assert heard == [(True, False), (True, True)]


def test_progress_goes_to_whoever_asked_for_it() -> None:
    told: list[Progress] = []
    Control(told.append).report(Progress(3, 4))
    Control().report(Progress(5, 6))
    assert told == [Progress(3, 4)]


def test_a_step_that_is_asked_to_stop_raises_where_it_may_be_cut() -> None:
    control = Control()
    control.raise_if_stopping()
    control.stop()
    with pytest.raises(Interrupted, match="the same command continues"):
        control.raise_if_stopping()
