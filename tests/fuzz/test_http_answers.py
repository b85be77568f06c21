"""Whatever a server sends, a fetch ends with one of the outcomes and no more than its limits."""

from contextlib import closing

from hypothesis import given
from hypothesis import strategies as st

from batchcrawl.model.exchange import Answer, NoAnswer
from tests.fuzz.inputs import built_of, examples
from tests.support.clients import hasty_client
from tests.support.rawserver import RawServer

OK = b"HTTP/1.1 200 OK\r\n"
PIECES = (
    *("HTTP/1.1 200 OK\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "Content-Length: ", "Transfer-Encoding: chunked", "\r\n"),
    *(
        "\r\n\r\n",
        "Location: //",
        "Set-Cookie: a=b",
        "Content-Encoding: gzip",
        "5\r\nabcde\r\n",
        "0\r\n\r\n",
        "ffff",
        ";",
        " ",
    ),
)


@examples
@given(
    st.binary(max_size=300)
    | built_of(PIECES).map(str.encode)
    | st.binary(max_size=99).map(b"HTTP/1.1 200 OK\r\n".__add__)
)
def test_answers(data: bytes) -> None:
    with RawServer([data]) as server, closing(hasty_client()) as client:
        result = client.get(server.url)
        assert isinstance(result, Answer | NoAnswer)
        if isinstance(result, Answer):
            with closing(result):
                assert len(result.whole_body()) <= len(data)
