import hashlib
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from batchcrawl.errors import CorruptData, CrawlLocked
from batchcrawl.model.digest import digest
from batchcrawl.model.revisit import Revisit, RevisitProfile
from batchcrawl.store.disk import Disk
from batchcrawl.store.warc_reader import iter_warc, read_exchange
from tests.support.exchanges import STARTED_AT, answer
from tests.support.forgetful import ForgetfulDisk, Keep, PowerCut
from tests.support.warc_judge import broken_rules, judge, unresolved_revisits
from tests.support.warcs import INFO, records_by_warcio, warc_writer

FP = "0123456789abcdef" * 2


def test_three_other_readers_and_our_own_rules_find_no_fault(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(0), fp=FP)
    writer.write_exchange(answer(1, body=b"", status=404), fp=FP)
    writer.write_exchange(answer(2, body=bytes(range(256)) * 1000, address=None, truncated="length"), fp=FP)
    writer.write_exchange(answer(3, url="http://example.org/robots.txt", body=b"User-agent: *\nDisallow:\n"), fp=FP)
    writer.close()
    assert judge([tmp_path / "0-00000.warc.gz"]) == []


def test_a_file_begins_with_what_made_it(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(), fp=FP)
    writer.close()
    first = next(iter_warc(tmp_path / "0-00000.warc.gz"))
    lines = dict(line.split(": ", 1) for line in first.block.decode().splitlines())
    assert first.fields["WARC-Filename"] == "0-00000.warc.gz"
    assert lines["robots"] == "obey"
    assert lines["isPartOf"] == "20261130T101500Z"
    assert lines["software"].startswith("batchcrawl/")
    assert lines.items() >= INFO.items()


def test_a_response_says_where_when_and_what(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(7, body=b"body", truncated="time"), fp=FP)
    fields = next(record.fields for record in iter_warc(tmp_path / "0-00000.warc.gz") if record.kind == "response")
    at = datetime.fromtimestamp(STARTED_AT + 7, UTC)
    assert fields["WARC-Target-URI"] == "http://example.org/page/7"
    assert fields["WARC-Date"] == at.strftime("%Y-%m-%dT%H:%M:%S.250000Z")
    assert fields["WARC-IP-Address"] == "192.0.2.1"
    assert fields["Content-Type"] == "application/http;msgtype=response"
    assert fields["WARC-Payload-Digest"] == digest(b"body") == "sha1:AIED6RLZ4CFGCJBFYDA2C7XEPLOXQO4U"
    assert fields["WARC-Truncated"] == "time"


def test_the_request_follows_its_response_and_points_to_it(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    sent = answer()
    writer.write_exchange(sent, fp=FP)
    _, response, request = iter_warc(tmp_path / "0-00000.warc.gz")
    assert (response.kind, request.kind) == ("response", "request")
    assert request.fields["WARC-Concurrent-To"] == response.fields["WARC-Record-ID"]
    assert request.fields["WARC-Date"] == response.fields["WARC-Date"]
    assert request.block == sent.request_head


def test_a_body_that_was_refused_is_marked_as_missing(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_exchange(answer(body=b"", unwanted=True), fp=FP)
    assert read_exchange(tmp_path / location.file, location.offset).truncated == "unspecified"


def test_the_location_gives_the_member_and_the_digest(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_exchange(answer(body=b"body"), fp=FP)
    _, response, _ = iter_warc(tmp_path / "0-00000.warc.gz.open")
    assert (location.file, location.offset, location.length) == ("0-00000.warc.gz", response.offset, response.length)
    assert location.digest == digest(b"body")


def test_a_page_that_was_not_modified_is_a_revisit_without_a_body(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_revisit(
        answer(5, body=b"", status=304), revisit(RevisitProfile.NOT_MODIFIED, body=b"old body"), fp=FP
    )
    writer.close()
    stored = read_exchange(tmp_path / location.file, location.offset, verify=True)
    assert (stored.revisit, stored.status, stored.body) == (True, 304, b"")
    assert (stored.refers_to_uri, stored.refers_to_date) == (
        "http://example.org/page/5",
        "2026-11-30T11:43:20.250000Z",
    )
    assert stored.digest == digest(b"old body")
    assert judge([tmp_path / location.file]) == []


def test_an_identical_payload_is_a_revisit_that_leaves_the_body_out(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_revisit(
        answer(5, body=b"same body"), revisit(RevisitProfile.IDENTICAL_PAYLOAD, body=b"same body"), fp=FP
    )
    writer.close()
    _, stored, _ = iter_warc(tmp_path / location.file)
    assert stored.fields["WARC-Profile"].endswith("/1.1/revisit/identical-payload-digest")
    assert b"same body" not in stored.block
    assert judge([tmp_path / location.file]) == []


@pytest.mark.parametrize("profile", RevisitProfile)
def test_a_revisit_and_its_request_lie_among_responses_without_a_fault(tmp_path: Path, profile: RevisitProfile) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(5, started_at=STARTED_AT - 1000), fp=FP)
    body = answer(5).whole_body()
    status = 304 if profile is RevisitProfile.NOT_MODIFIED else 200
    writer.write_revisit(answer(5, body=body, status=status), revisit(profile, body=body), fp=FP)
    writer.write_exchange(answer(6), fp=FP)
    (info,) = writer.close()
    kinds = [record.kind for record in iter_warc(tmp_path / info.name)]
    assert kinds == ["warcinfo", "response", "request", "revisit", "request", "response", "request"]
    assert judge([tmp_path / info.name]) == []
    assert unresolved_revisits([tmp_path / info.name]) == []


def test_files_are_closed_before_they_pass_their_size(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path, file_bytes_max=3000)
    locations = [writer.write_exchange(answer(number), fp=FP) for number in range(12)]
    infos = writer.close()
    assert [info.name for info in infos] == sorted(path.name for path in tmp_path.iterdir())
    assert len(infos) > 2
    for info in infos:
        data = (tmp_path / info.name).read_bytes()
        assert info.bytes == len(data) <= 3000
        assert info.checksum == hashlib.sha256(data).hexdigest()
        assert info.lines == len(list(iter_warc(tmp_path / info.name)))
        assert judge([tmp_path / info.name]) == []
    for number, location in enumerate(locations):
        assert read_exchange(tmp_path / location.file, location.offset).target_uri.endswith(f"/{number}")


def test_an_exchange_larger_than_a_file_has_one_of_its_own(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path, file_bytes_max=10)
    for number in range(3):
        writer.write_exchange(answer(number), fp=FP)
    assert [info.lines for info in writer.close()] == [3, 3, 3]


def test_without_an_exchange_there_is_no_file(tmp_path: Path) -> None:
    assert warc_writer(tmp_path).close() == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_written_after_the_close(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(), fp=FP)
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.write_exchange(answer(1), fp=FP)
    assert [path.name for path in tmp_path.iterdir()] == ["0-00000.warc.gz"]


def test_a_suspended_file_is_continued(tmp_path: Path) -> None:
    for number in range(3):
        writer = warc_writer(tmp_path)
        writer.write_exchange(answer(number), fp=FP)
        writer.suspend()
    infos = warc_writer(tmp_path).close()
    assert [(info.name, info.lines) for info in infos] == [("0-00000.warc.gz", 7)]
    assert infos[0].checksum == hashlib.sha256((tmp_path / infos[0].name).read_bytes()).hexdigest()
    assert judge([tmp_path / infos[0].name]) == []


def test_closed_files_of_an_earlier_process_are_checked_and_listed(tmp_path: Path) -> None:
    first = warc_writer(tmp_path, file_bytes_max=10)
    for number in range(3):
        first.write_exchange(answer(number), fp=FP)
    first.suspend()
    assert [info.lines for info in warc_writer(tmp_path).close()] == [3, 3, 3]


def test_damage_in_a_closed_file_is_found_when_it_is_opened_again(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    location = writer.write_exchange(answer(), fp=FP)
    writer.close()
    data = bytearray((tmp_path / location.file).read_bytes())
    data[location.offset + 50] ^= 1
    (tmp_path / location.file).write_bytes(data)
    with pytest.raises(CorruptData, match=f"damaged at byte {location.offset} of"):
        warc_writer(tmp_path)


def test_a_page_asked_for_again_after_a_kill_has_ids_of_its_own(tmp_path: Path) -> None:
    for _ in range(2):
        writer = warc_writer(tmp_path)
        writer.write_exchange(answer(), fp=FP)
        writer.suspend()
    warc_writer(tmp_path).close()
    assert judge([tmp_path / "0-00000.warc.gz"]) == []


def test_two_undisturbed_runs_write_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        writer = warc_writer(tmp_path / name)
        writer.write_exchange(answer(), fp=FP)
        writer.close()
    one, two = ((tmp_path / name / "0-00000.warc.gz").read_bytes() for name in ("one", "two"))
    assert one == two


def test_a_second_process_cannot_write_the_same_file(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(), fp=FP)
    with pytest.raises(CrawlLocked):
        warc_writer(tmp_path)


def test_eight_threads_lose_and_mix_nothing(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path, file_bytes_max=20_000)
    found: list[tuple[int, str, int]] = []

    def store(thread: int) -> None:
        for number in range(thread * 100, thread * 100 + 25):
            location = writer.write_exchange(answer(number, body=b"%d" % number * 20), fp=FP)
            found.append((number, location.file, location.offset))
            writer.sync()

    threads = [threading.Thread(target=store, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    infos = writer.close()
    assert sum(info.lines for info in infos) == 2 * 8 * 25 + len(infos)
    assert len(found) == 8 * 25
    for number, file, offset in found:
        assert read_exchange(tmp_path / file, offset, verify=True).body == b"%d" % number * 20


def test_a_file_is_synced_before_it_loses_its_suffix(tmp_path: Path) -> None:
    disk = ForgetfulDisk(tmp_path)
    writer = warc_writer(tmp_path, disk)
    writer.write_exchange(answer(), fp=FP)
    writer.sync()
    writer.close()
    name = "0-00000.warc.gz"
    assert disk.transcript == [
        f"create {name}.open", f"write {name}.open", f"sync {name}.open", "sync_dir .",
        f"write {name}.open", f"sync {name}.open",
        f"sync {name}.open", f"rename {name}.open -> {name}", "sync_dir .",
    ]  # fmt: skip


@pytest.mark.parametrize("keep", list(Keep))
@pytest.mark.parametrize("fail_at", range(1, 31))
def test_synced_exchanges_survive_a_power_failure_and_writing_goes_on(tmp_path: Path, fail_at: int, keep: Keep) -> None:
    disk = ForgetfulDisk(tmp_path, fail_at=fail_at)
    synced = 0
    try:
        writer = warc_writer(tmp_path, disk, file_bytes_max=2500)
        for number in range(5):
            writer.write_exchange(answer(number), fp=FP)
            writer.sync()
            synced = number + 1
        writer.close()
    except PowerCut:
        pass
    disk.crash(keep, seed=fail_at)
    again = warc_writer(tmp_path, file_bytes_max=2500)
    again.write_exchange(answer(99), fp=FP)
    pages = [
        record.fields["WARC-Target-URI"].rpartition("/")[2]
        for info in again.close()
        for record in iter_warc(tmp_path / info.name)
        if record.kind == "response"
    ]
    assert pages == [*map(str, range(len(pages) - 1)), "99"]
    assert len(pages) - 1 >= synced
    assert all(broken_rules([path]) == [] for path in tmp_path.iterdir())


def test_the_writer_of_another_prefix_is_left_alone(tmp_path: Path) -> None:
    for prefix in ("1", "11"):
        (tmp_path / f"{prefix}-00000.warc.gz.open").write_bytes(b"torn")
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(), fp=FP)
    assert len(writer.close()) == 1
    assert (tmp_path / "1-00000.warc.gz.open").read_bytes() == b"torn"


def test_an_open_file_out_of_order_is_refused(tmp_path: Path) -> None:
    (tmp_path / "0-00003.warc.gz.open").write_bytes(b"")
    with pytest.raises(CorruptData, match=r"0-00003.warc.gz.open is open where 0-00000.warc.gz should be"):
        warc_writer(tmp_path)


def test_control_characters_cannot_end_a_field_early(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path, info={"operator": "A\r\nrobots: ignore"})
    writer.write_exchange(answer(url="http://example.org/a b\r\nWARC-Type: warcinfo", address="::1\r\nX: y"), fp=FP)
    writer.close()
    info, response, _ = iter_warc(tmp_path / "0-00000.warc.gz")
    assert b"\r\nrobots: ignore" not in info.block
    assert response.fields["WARC-Target-URI"] == "http://example.org/a%20b%0D%0AWARC-Type:%20warcinfo"
    assert response.kind == "response"
    assert "X" not in response.fields


def test_warcio_gives_back_the_body(tmp_path: Path) -> None:
    writer = warc_writer(tmp_path)
    writer.write_exchange(answer(body=b"hello"), fp=FP)
    writer.close()
    bodies = [
        record.content_stream().read()
        for record in records_by_warcio(tmp_path / "0-00000.warc.gz")
        if record.rec_type == "response"
    ]
    assert bodies == [b"hello"]


def test_a_writer_goes_on_in_an_empty_file_with_a_warcinfo(tmp_path: Path) -> None:
    (tmp_path / "0-00000.warc.gz.open").write_bytes(b"\x1f\x8b\x08")
    writer = warc_writer(tmp_path, Disk())
    writer.write_exchange(answer(), fp=FP)
    writer.close()
    assert judge([tmp_path / "0-00000.warc.gz"]) == []


def revisit(profile: RevisitProfile, *, body: bytes) -> Revisit:
    """Return a revisit of page 5 as it was 1,000 seconds before STARTED_AT."""
    return Revisit(
        profile=profile,
        refers_to_uri="http://example.org/page/5",
        refers_to_at=STARTED_AT - 1000,
        payload_digest=digest(body),
    )
