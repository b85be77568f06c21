"""Answers as the network layer hands them over, for tests of what is done with them."""

from typing import Any

from batchcrawl.model.body import SpooledBody
from batchcrawl.model.exchange import Answer

STARTED_AT = 1_796_040_000.25


def answer(
    number: int = 0, body: bytes = b"<title>hello</title>", *, made_of: SpooledBody | None = None, **changes: Any
) -> Answer:
    """Return the answer to page `number` of example.org, asked for `number` seconds after STARTED_AT.

    `made_of` is the body in a file, if it is not to be in memory.
    """
    path = f"/page/{number}"
    facts: dict[str, Any] = {
        "url": f"http://example.org{path}",
        "status": 200,
        "headers": (("Content-Type", "text/html"), ("Content-Length", str(len(body)))),
        "request_head": f"GET {path} HTTP/1.1\r\nHost: example.org\r\nUser-Agent: batchcrawl\r\n\r\n".encode(),
        "body": body if made_of is None else made_of,
        "address": "192.0.2.1",
        "started_at": STARTED_AT + number,
        "first_byte_at": STARTED_AT + number + 0.1,
        "ended_at": STARTED_AT + number + 0.2,
        **changes,
    }
    lines = [f"HTTP/1.1 {facts['status']} OK", *(f"{name}: {value}" for name, value in facts["headers"])]
    facts.setdefault("response_head", "".join(f"{line}\r\n" for line in [*lines, ""]).encode("latin-1"))
    return Answer(**facts)
