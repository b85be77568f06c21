"""curl's collection of odd replies: ours agrees with curl on status and body, or the difference is named and told why.

curl undid the content codings of some replies. Here a body is kept as it was sent and decoded when it is parsed, so
that what is compared is the decoded body.
"""

import base64
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from batchcrawl.model.exchange import Answer, NoAnswer
from batchcrawl.model.outcome import FetchOutcome
from batchcrawl.net.client import Client
from batchcrawl.policy.outcomes import judge
from batchcrawl.web.codings import decode_body
from tests.support.clients import local_client
from tests.support.rawserver import RawServer

REPLIES = json.loads((Path(__file__).parents[1] / "data" / "http_replies.json").read_text())
DECODED = {230, 314, 316, 397, 1618}
"""Replies of which curl was told to undo the content coding, and did."""

DECISIONS = {
    36: (FetchOutcome.PROTOCOL_ERROR, "words in place of a chunk size"),
    66: (FetchOutcome.PROTOCOL_ERROR, "no status line: HTTP/0.9 is not spoken"),
    129: (FetchOutcome.PROTOCOL_ERROR, "HTTP/1.2, which there is not"),
    221: (
        FetchOutcome.FETCHED,
        "a gzip coding without its magic number: the exchange is sound and kept as it was sent; the coding is undone "
        "when the page is parsed, and what is not in its coding is taken as it is",
    ),
    223: (FetchOutcome.CONNECT_FAILED, "the body ends before its length"),
    262: (FetchOutcome.PROTOCOL_ERROR, "a NUL in the head"),
    379: (FetchOutcome.CONNECT_FAILED, "the body ends before its length"),
    415: (FetchOutcome.PROTOCOL_ERROR, "a negative length"),
    498: (FetchOutcome.PROTOCOL_ERROR, "a head beyond its limit"),
    1430: (FetchOutcome.PROTOCOL_ERROR, "a negative status"),
    1432: (FetchOutcome.PROTOCOL_ERROR, "a status of a hundred digits"),
    1473: (FetchOutcome.PROTOCOL_ERROR, "a first field that continues nothing"),
    1496: (FetchOutcome.PROTOCOL_ERROR, "a gzip transfer coding over chunks that are none"),
    1722: (FetchOutcome.PROTOCOL_ERROR, "chunked is not the last transfer coding"),
    2093: (FetchOutcome.CONNECT_FAILED, "the body ends before its length"),
    2106: (FetchOutcome.PROTOCOL_ERROR, "a NUL in the trailer"),
}
"""What becomes of the replies that curl refuses, and why."""


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with closing(local_client()) as client:
        yield client


def _check(case: dict[str, Any], answer: Answer | NoAnswer) -> None:
    curl = case["curl"]
    if case["id"] in DECISIONS:
        outcome = answer.outcome if isinstance(answer, NoAnswer) else judge(answer).outcome
        assert outcome is DECISIONS[case["id"]][0], answer
        return
    assert isinstance(answer, Answer), answer.detail
    coding = answer.header("content-encoding") if case["id"] in DECODED else None
    body = decode_body(answer.whole_body(), coding, bytes_max=1_000_000)
    assert (answer.status, body) == (curl["status"], base64.b64decode(curl["body_b64"]))


@pytest.mark.parametrize("case", REPLIES, ids=[f"{case['id']}-{case['name']}" for case in REPLIES])
def test_a_reply_is_read_as_curl_reads_it(case: dict[str, Any], client: Client) -> None:
    with RawServer([base64.b64decode(case["reply_b64"])]) as server:
        answer = client.get(server.url)
    _check(case, answer)


def test_one_host_that_gives_all_replies_one_after_another_has_each_read_as_if_alone() -> None:
    scripts = [[base64.b64decode(case["reply_b64"])] for case in REPLIES]
    with RawServer(*scripts) as server, closing(local_client()) as client:
        for number, case in enumerate(REPLIES):
            _check(case, client.get(f"{server.url}{number}"))
        assert len(server.requests) == len(REPLIES)


def test_what_curl_refuses_is_decided_on_and_nothing_else() -> None:
    assert DECISIONS.keys() == {case["id"] for case in REPLIES if case["curl"]["rc"] != 0}


def test_a_gzip_coding_without_its_magic_number_is_taken_as_it_is(client: Client) -> None:
    reply = next(base64.b64decode(case["reply_b64"]) for case in REPLIES if case["id"] == 221)
    with RawServer([reply]) as server:
        answer = client.get(server.url)
    assert isinstance(answer, Answer)
    assert answer.body == reply.partition(b"\r\n\r\n")[2][:41]
    assert decode_body(answer.body, "gzip", bytes_max=1000) == answer.body
