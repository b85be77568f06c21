from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.rejection import Rejection
from batchcrawl.policy.traps import (
    Costly,
    CostlyShare,
    TrapLimits,
    costly_of,
    measures,
    nesting,
    path_segments,
    repeats,
    trap_of,
)

SITE = "http://site.example"
LIMITS = TrapLimits()


def path(*segments: str) -> str:
    return f"{SITE}/{'/'.join(segments)}"


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/",
        path("2026", "11", "11", "a"),
        path("a", "a", "a", ""),
        path("en", "x", "en", "y", "en", "z"),
        path(*map(str, range(30))),
        f"{SITE}/?" + "&".join(f"p{number}=1" for number in range(50)),
        f"{SITE}/?u=%2525252F",
        f"{SITE}/?id[]=1&id[]=2&id[]=3&id[]=4&id[]=5",
        f"{SITE}/?next=/login?next=/a?next=/b?next=/c",
        f"{SITE}/read?url=http%3A%2F%2Fa.example%2F%3Fid%3D1",
        f"{SITE}/?a=1#/b/b/b/b/b",
    ],
)
def test_a_shape_that_sites_use_is_no_trap(url: str) -> None:
    assert trap_of(url, LIMITS) is None


@pytest.mark.parametrize(
    ("url", "trap"),
    [
        (path(*map(str, range(31))), Rejection.TRAP_PATH_DEPTH),
        (path("a", "a", "a", "a"), Rejection.TRAP_REPEATING_PATH),
        (path("x", *("a", "b") * 4), Rejection.TRAP_REPEATING_PATH),
        (path(*("a", "b", "c") * 4), Rejection.TRAP_REPEATING_PATH),
        (path(*("a", "b", "c", "d") * 4), Rejection.TRAP_REPEATING_PATH),
        (path("a", "1", "a", "2", "a", "3", "a"), Rejection.TRAP_REPEATING_PATH),
        (path("", "", "", "", "a"), Rejection.TRAP_REPEATING_PATH),
        (f"{SITE}/?" + "&".join(f"p{number}=1" for number in range(51)), Rejection.TRAP_PARAMETERS),
        (f"{SITE}/?u=%25252525252F", Rejection.TRAP_GROWING_PARAMETER),
        (f"{SITE}/?next=/a?next=/b?next=/c?next=/d?next=/e", Rejection.TRAP_GROWING_PARAMETER),
        (f"{SITE}/?p=1&p=1&p=1&p=1&p=1", Rejection.TRAP_GROWING_PARAMETER),
    ],
)
def test_a_shape_that_goes_on_without_end_is_a_trap(url: str, trap: Rejection) -> None:
    assert trap_of(url, LIMITS) is trap


def test_a_link_that_encodes_itself_again_and_again_is_a_trap_after_a_few_times() -> None:
    target, seen = "/login", list[Rejection | None]()
    for _ in range(6):
        target = f"/login?return={quote(target, safe='')}"
        seen.append(trap_of(SITE + target, LIMITS))
    assert seen == [None] * 4 + [Rejection.TRAP_GROWING_PARAMETER] * 2


@pytest.mark.parametrize(
    ("limits", "url"),
    [
        (TrapLimits(path_depth_max=31), path(*map(str, range(31)))),
        (TrapLimits(path_repeats_max=4), path("a", "a", "a", "a")),
        (TrapLimits(parameters_max=51), f"{SITE}/?" + "&".join(f"p{number}=1" for number in range(51))),
        (TrapLimits(nesting_max=5), f"{SITE}/?u=%25252525252F"),
    ],
)
def test_a_limit_may_be_raised(limits: TrapLimits, url: str) -> None:
    assert trap_of(url, LIMITS) is not None
    assert trap_of(url, limits) is None


@given(st.lists(st.sampled_from("ab"), max_size=10), st.integers(1, 4), st.integers(2, 6))
def test_a_block_of_up_to_four_segments_is_counted_wherever_it_is_repeated(
    before: list[str], period: int, times: int
) -> None:
    block = [f"block{number}" for number in range(period)]
    assert repeats([*before, *block * times]) >= times


@given(st.text(alphabet="a/?&=%25#", max_size=200))
def test_any_url_has_a_shape(rest: str) -> None:
    url = f"{SITE}/{rest}"
    trap_of(url, LIMITS)
    costly_of(url)
    assert all("/" not in segment for segment in path_segments(url))
    assert nesting(rest) >= 0


@pytest.mark.parametrize(
    "url",
    [
        path("calendar", "2026", "11", ""),
        path("Events", "list", "2026-11-05"),
        path("kalender", "202611", ""),
        f"{SITE}/?month=2026-11",
        f"{SITE}/?view=month&tribe-bar-date=2026-11-05",
        f"{SITE}/?year=2026&month=11",
    ],
)
def test_a_calendar_is_costly(url: str) -> None:
    assert costly_of(url) is Costly.CALENDAR


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/shop?color=red&size=xl",
        f"{SITE}/shop?filter%5Bcolor%5D=red&sort=price",
        f"{SITE}/shop?id[]=1&id[]=2",
        f"{SITE}/shop?a=1&b=2&c=3&d=4&e=5&f0=6&g=7&h=8",
        f"{SITE}/shop?order_by=price&dir=asc",
    ],
)
def test_a_choice_of_facets_is_costly(url: str) -> None:
    assert costly_of(url) is Costly.FACETS


@pytest.mark.parametrize(
    "url",
    [
        f"{SITE}/",
        path("2026", "11", "05", "a-post"),
        path("events", "concert"),
        f"{SITE}/?update=5",
        f"{SITE}/?birthday=1999-01-01",
        f"{SITE}/viewtopic.php?f=1&t=2&start=10",
        f"{SITE}/index.php?option=com_content&view=article&id=5",
        f"{SITE}/shop?sort=price",
    ],
)
def test_an_ordinary_url_is_not_costly(url: str) -> None:
    assert costly_of(url) is None


@pytest.mark.parametrize("kind", Costly)
def test_every_kind_of_costly_url_has_its_rejection(kind: Costly) -> None:
    assert kind.rejection.value == f"trap_{kind.value}"


@pytest.mark.parametrize(
    ("costly", "known", "spent"),
    [(9, 9, False), (10, 10, True), (10, 100, False), (24, 100, False), (25, 100, True), (25, 101, False)],
)
def test_a_host_takes_so_many_costly_urls_or_a_share_of_its_known_ones(costly: int, known: int, spent: bool) -> None:
    assert CostlyShare(urls=10, share=0.25).is_spent(costly=costly, known=known) is spent


@given(
    st.lists(st.sampled_from(["a", "b", "", "1"]), max_size=8),
    st.none() | st.lists(st.sampled_from(["a=1", "a=1?a=2", "b", "c=%2525", ""]), max_size=4),
)
def test_a_trap_is_the_first_measure_above_its_most(segments: list[str], query: list[str] | None) -> None:
    limits = TrapLimits(path_depth_max=5, path_repeats_max=2, parameters_max=2, nesting_max=1)
    url = path(*segments) + ("" if query is None else "?" + "&".join(query))
    above = [measure.reason for measure in measures(url, limits) if measure.number > measure.most]
    assert trap_of(url, limits) is (above[0] if above else None)
