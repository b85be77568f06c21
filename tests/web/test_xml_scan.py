from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from batchcrawl.web.listings.xml_scan import attribute, scan_xml, unescape


class Recorder:
    """Writes down what it is given, pieces of text joined."""

    def __init__(self, *, tags_wanted: int = 1000) -> None:
        self.events: list[tuple[str, ...]] = []
        self.full = False
        self.text_wanted = True
        self._tags_wanted = tags_wanted

    def start(self, name: str, attributes: str) -> None:
        self.events.append(("start", name, attribute(attributes, "a") or ""))
        self.full = len(self.events) >= self._tags_wanted

    def end(self, name: str) -> None:
        self.events.append(("end", name))

    def data(self, text: str) -> None:
        if not text:
            return
        if self.events and self.events[-1][0] == "text":
            text = self.events.pop()[1] + text
        self.events.append(("text", text))


class LxmlRecorder(Recorder):
    """The same as the target of lxml, which hands over attributes as a mapping."""

    def start(self, name: str, attributes: Any) -> None:
        self.events.append(("start", name, attributes.get("a", "")))

    def close(self) -> None:
        pass


def events(*parts: str, tags_max: int = 1000) -> list[tuple[str, ...]]:
    recorder = Recorder()
    scan_xml(parts, recorder, tags_max=tags_max)
    return recorder.events


TEXTS = st.text(alphabet="ab <>&\"'\n\u00e9\U0001f600;#-]?!", max_size=12)
NAMES = st.sampled_from(["url", "loc", "x-y", "\u00e9"])


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&#60;").replace(">", "&gt;").replace('"', "&quot;")


def _element(name: str, value: str | None, inside: list[str]) -> str:
    attributes = "" if value is None else f" b='>' a = \"{_escaped(value).replace(chr(10), ' ')}\""
    return f"<{name}{attributes}>{''.join(inside)}</{name}>" if inside else f"<{name}{attributes}/>"


PIECES = st.one_of(
    TEXTS.map(_escaped),
    TEXTS.map(lambda text: f"<![CDATA[{text.replace(']]>', '')}]]>" if not text.endswith("]") else ""),
    TEXTS.map(lambda text: f"<!--{text.replace('-', '')}-->"),
    TEXTS.map(lambda text: f"<?p {text.replace('?', '')}?>"),
)
DOCUMENTS = st.builds(
    _element,
    NAMES,
    st.none(),
    st.lists(
        st.recursive(
            PIECES,
            lambda inner: st.builds(_element, NAMES, st.one_of(st.none(), TEXTS), st.lists(inner, max_size=4)),
            max_leaves=12,
        ),
        min_size=1,
        max_size=4,
    ),
)


@given(DOCUMENTS)
def test_what_is_well_formed_is_read_as_lxml_reads_it(document: str) -> None:
    recorder = LxmlRecorder()
    etree.fromstring(document.encode(), etree.XMLParser(target=cast(Any, recorder)))
    assert events(document) == recorder.events


@given(st.one_of(DOCUMENTS, st.text(alphabet="<>/![CDATA]-&;?'\"= ab#1", max_size=60)), st.integers(1, 12))
def test_it_makes_no_difference_in_which_parts_a_document_comes(document: str, size: int) -> None:
    parts = [document[at : at + size] for at in range(0, len(document), size)]
    assert events(*parts) == events(document)


@pytest.mark.parametrize(
    "broken",
    [
        "<url>",
        "</url>",
        "</x>",
        "<x>",
        "a < b",
        "a & b",
        "&b=2",
        "&nbsp;",
        "<u a=1>",
        "<>",
        "]]>",
        "\0",
        "<?xml?>",
        "<!X>",
    ],
)
def test_what_is_broken_changes_nothing_of_what_follows(broken: str) -> None:
    read = events(f"<urlset>{broken}<url><loc>?a=1&amp;b</loc></url></urlset>")
    assert read[-6:] == [
        ("start", "url", ""),
        ("start", "loc", ""),
        ("text", "?a=1&b"),
        ("end", "loc"),
        ("end", "url"),
        ("end", "urlset"),
    ]


def test_an_ampersand_that_begins_no_reference_is_one() -> None:
    assert unescape("?a=1&b=2&amp;c&#43;&#x2B;&;") == "?a=1&b=2&c++&;"


def test_entities_that_xml_does_not_know_are_dropped() -> None:
    assert unescape("a&test;b&nbsp;") == "ab"


def test_references_to_what_is_no_character_become_replacement_characters() -> None:
    assert unescape("&#0;&#xD800;&#9999999;") == "\ufffd\ufffd\ufffd"


def test_a_document_type_defines_nothing() -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    assert events(f"{bomb}<x>1&b;2</x>")[-3:] == [("start", "x", ""), ("text", "12"), ("end", "x")]


def test_the_end_of_a_cut_document_is_read_up_to_the_tag_that_was_cut() -> None:
    assert events("<loc>http://example.org/</loc><las") == events("<loc>http://example.org/</loc>")


def test_reading_ends_with_the_most_tags() -> None:
    recorder = Recorder()
    assert not scan_xml(["<a>" * 50], recorder, tags_max=10)
    assert len(recorder.events) == 10


def test_reading_ends_when_the_target_is_full() -> None:
    recorder = Recorder(tags_wanted=3)
    assert scan_xml(["<a>" * 50], recorder, tags_max=1000)
    assert len(recorder.events) == 3


def test_an_attribute_is_found_by_its_whole_name() -> None:
    attributes = " xml:base='x' base=\"&lt;y>\" "
    assert attribute(attributes, "base") == "<y>"
    assert attribute(attributes, "se") is None


@given(st.text(alphabet="<>/![CDATA]-&;?'\"= ab#1x:", max_size=80))
def test_any_text_is_taken(text: str) -> None:
    events(text)
