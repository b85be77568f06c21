import msgspec
import pytest

from batchcrawl.model.entries import FetchEntry
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.policy.log_lines import answered
from batchcrawl.policy.revisits import find_revisit
from tests.support.exchanges import answer

ENTRY = FetchEntry(fp="0" * 32, url="http://example.org/page/0", host="http://example.org")
LONG = "x" * 60_000


@pytest.mark.parametrize(
    "name",
    ["Content-Type", "Content-Encoding", "ETag", "Last-Modified", "Retry-After", "Set-Cookie", "X"],
)
@pytest.mark.parametrize("status", [200, 302, 304, 429])
def test_no_header_makes_a_long_line(name: str, status: int) -> None:
    line = answered(ENTRY, answer(status=status, headers=((name, LONG),)), conditional=True)
    assert len(msgspec.json.encode(line)) < 1000


def test_a_page_with_an_ordinary_type_keeps_it_as_sent() -> None:
    sent = 'Text/HTML; charset="utf-8"; profile=x'
    line = answered(ENTRY, answer(headers=(("Content-Type", sent),)), conditional=False)
    assert line.content_type == sent


def test_a_copy_whose_type_was_too_long_to_be_kept_is_stored_again() -> None:
    page = answer(headers=(("Content-Type", LONG),))
    line = answered(ENTRY, page, conditional=False)
    known = msgspec.structs.replace(
        ENTRY, body_at=1.0, digest=page.payload_digest, content_type=line.content_type, content_encoding=None
    )
    assert find_revisit(known, page, FetchOutcome.FETCHED) is None
