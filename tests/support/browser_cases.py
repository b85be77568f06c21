"""Tricky documents for a browser: the inputs of html5lib's tests, and our own on charsets, bases, links and trees."""

import re
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import msgspec

from tests.support.browser import Seen
from tests.support.browser_documents import HOST, Document

DATA = Path(__file__).parents[1] / "data"
ANSWERS = DATA / "browser_answers.jsonl"
_ORIGIN = f"http://{HOST}"
# In the recorded answers: the URL of the document, and the origin of all. So equal answers are equal text.
_ITSELF, _OF_HOST = "itself:", "host:"

# Behind each of html5lib's inputs; what counts of it, and against which base, tells in which state the parser is.
_PROBE = (
    '<base href="/b/"><link rel=next href=1><meta http-equiv=refresh content="9;url=2"><a href=3></a><area href=4>'
    "<img src=5><iframe src=6></iframe><frame src=7>"
)
_BARE_ANCHOR = re.compile(r"<a(?=[\s>/])(?![^>]*href)", re.IGNORECASE)


def tricky_documents() -> list[Document]:
    """Return all of them, each under a URL that tells what it is about."""
    inputs = msgspec.json.decode((DATA / "html5lib_documents.json").read_bytes(), type=list[str])
    own = msgspec.json.decode((DATA / "browser_documents.json").read_bytes(), type=list[tuple[str, str, str, str]])
    return [
        *(_with_probe(number, text) for number, text in enumerate(inputs)),
        *(Document(f"{_ORIGIN}/{name}", text.encode(codec), content_type) for name, content_type, codec, text in own),
    ]


def _with_probe(number: int, text: str) -> Document:
    """Return one of html5lib's inputs with an address in every anchor and the probe behind."""
    addresses = count()
    linked = _BARE_ANCHOR.sub(lambda found: f"{found[0]} href=?{next(addresses)}", text)
    return Document(
        f"{_ORIGIN}/html5lib/{number}", (linked + _PROBE).encode("utf-8", "surrogatepass"), "text/html; charset=utf-8"
    )


class _Answer(msgspec.Struct):
    documents: list[str]
    """Without the host."""
    seen: Seen


def read_answers() -> dict[str, Seen]:
    """Return what a browser was recorded to find, by the URL of the document."""
    answers: dict[str, Seen] = {}
    for line in ANSWERS.read_text("utf-8").splitlines():
        names = msgspec.json.decode(line, type=_Answer).documents
        for name in names:
            own = line.replace(_ITSELF, _ORIGIN + name).replace(_OF_HOST, _ORIGIN)
            answers[_ORIGIN + name] = msgspec.json.decode(own, type=_Answer).seen
    return answers


def write_answers(answers: Mapping[str, Seen]) -> None:
    """Record answers, one line for all documents that have the same."""
    names: dict[str, list[str]] = {}
    for url, seen in answers.items():
        text = msgspec.json.encode(seen).decode().replace(url, _ITSELF).replace(_ORIGIN, _OF_HOST)
        names.setdefault(text, []).append(url.removeprefix(_ORIGIN))
    lines = (f'{{"documents":{msgspec.json.encode(of).decode()},"seen":{seen}}}' for seen, of in names.items())
    ANSWERS.write_text("".join(f"{line}\n" for line in lines), "utf-8")
