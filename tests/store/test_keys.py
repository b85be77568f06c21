from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.record import INSTANT_MAX, UrlRecord
from batchcrawl.model.status import Place
from batchcrawl.store import keys

fingerprints = st.binary(min_size=16, max_size=16)
levels = st.integers(0, 255)
instants = st.integers(0, INSTANT_MAX)
FP = bytes(range(16))


def test_each_kind_of_key_has_its_prefix() -> None:
    assert keys.url_key(FP) == b"u" + FP
    assert keys.host_key(FP[:8]) == b"h" + FP[:8]
    assert keys.meta_key("update/x") == b"mupdate/x"


@given(fingerprints, levels, instants)
def test_a_ready_key_gives_back_what_it_holds(fingerprint: bytes, level: int, at: int) -> None:
    key = keys.ready_key(fingerprint, level=level, next_fetch_at=at)
    assert (keys.ready_fingerprint(key), keys.ready_level(key)) == (fingerprint, level)
    assert len(key) == keys.READY_KEY_BYTES
    assert key.startswith(keys.host_prefix(fingerprint[:8]))


@given(fingerprints, instants, st.floats(0, INSTANT_MAX - 60))
def test_a_timer_is_due_within_the_minute_after_its_instant_and_never_before(
    fingerprint: bytes, at: int, now: float
) -> None:
    key = keys.timer_key(fingerprint, next_fetch_at=at)
    assert keys.timer_fingerprint(key) == fingerprint
    assert len(key) == keys.TIMER_KEY_BYTES
    assert at <= keys.timer_instant(key) < at + 60
    assert (key < keys.timer_bound(now)) == (keys.timer_instant(key) <= now)


@given(st.lists(st.tuples(fingerprints, levels, instants), min_size=2))
def test_ready_keys_sort_by_host_then_best_level_then_longest_due(urls: list[tuple[bytes, int, int]]) -> None:
    in_order = sorted(urls, key=lambda url: (url[0][:8], -url[1], url[2], url[0][8:]))
    by_key = sorted(urls, key=lambda url: keys.ready_key(url[0], level=url[1], next_fetch_at=url[2]))
    assert by_key == in_order


@given(st.lists(instants, min_size=2))
def test_timer_keys_sort_by_minute(times: list[int]) -> None:
    made = sorted(keys.timer_key(FP, next_fetch_at=at) for at in times)
    assert [keys.timer_instant(key) for key in made] == sorted(-(-at // 60) * 60 for at in times)


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_nothing_with_a_prefix_comes_after_its_end(rest: bytes, more: bytes) -> None:
    prefix = b"r" + rest
    assert prefix + more < keys.after(prefix)


def test_the_end_of_the_last_host_is_the_next_kind_of_key() -> None:
    assert keys.after(keys.host_prefix(b"\xff" * 8)) == b"s"


def test_a_record_has_the_index_entries_that_its_place_says() -> None:
    def index(place: Place) -> keys.IndexEntries:
        return keys.index_entries(FP, UrlRecord("http://a.example/", place=place, level=3, next_fetch_at=125))

    ready, timer = keys.ready_key(FP, level=3, next_fetch_at=125), keys.timer_key(FP, next_fetch_at=125)
    assert {place: index(place) for place in Place} == {
        Place.NONE: {},
        Place.READY: {ready: b""},
        Place.TIMER: {timer: b""},
        Place.LEASED: {},
        Place.RISING: {ready: b"", timer: keys.RISES},
    }


def test_an_instant_too_late_for_a_record_is_cut_in_the_index_as_well() -> None:
    late = UrlRecord("http://a.example/", place=Place.READY, next_fetch_at=INSTANT_MAX + 5)
    assert keys.index_entries(FP, late) == {keys.ready_key(FP, level=0, next_fetch_at=INSTANT_MAX): b""}
