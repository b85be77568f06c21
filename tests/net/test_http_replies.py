"""curl's collection of odd replies: ours agrees with curl on status and body, or the difference is named."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from batchcrawl.model.exchange import Answer
from batchcrawl.net.client import Client
from tests.support.clients import local_client
from tests.support.rawserver import RawServer

REPLIES = json.loads((Path(__file__).parents[1] / "data" / "http_replies.json").read_text())

CONTENT_CODINGS = {221, 230, 314, 316, 397, 1618}
"""curl was told to undo the content coding, and here it is kept: these agree in what came over the wire."""


@pytest.fixture(scope="module")
def client() -> Client:
    return local_client()


@pytest.mark.parametrize("case", REPLIES, ids=[f"{case['id']}-{case['name']}" for case in REPLIES])
def test_a_reply_is_read_as_curl_reads_it(case: dict[str, Any], client: Client) -> None:
    reply, curl = base64.b64decode(case["reply_b64"]), case["curl"]
    with RawServer([reply]) as server:
        answer = client.get(server.url)
    if case["id"] in CONTENT_CODINGS:
        assert isinstance(answer, Answer)
        length = int(answer.header("content-length") or 0)
        assert (answer.status, answer.body) == (curl["status"], reply.partition(b"\r\n\r\n")[2][:length])
    elif curl["rc"] == 0:
        assert isinstance(answer, Answer), answer.detail
        assert (answer.status, answer.body) == (curl["status"], base64.b64decode(curl["body_b64"]))
    else:
        assert not isinstance(answer, Answer)
