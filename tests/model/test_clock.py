import time

from batchcrawl.model.clock import Clock, FixedClock, SystemClock


def test_a_fixed_clock_stands_still_while_its_monotonic_time_goes_on() -> None:
    clock: Clock = FixedClock(12.5)
    before = clock.monotonic()
    assert clock.now() == clock.now() == 12.5
    assert clock.monotonic() >= before


def test_the_system_clock_tells_the_time_of_the_machine() -> None:
    clock: Clock = SystemClock()
    before = time.time()
    assert before <= clock.now() <= time.time()
    assert clock.monotonic() <= clock.monotonic()
