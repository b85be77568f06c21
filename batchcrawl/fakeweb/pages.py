"""The content of pages: title, text, links and the way in which they are written."""

from batchcrawl.fakeweb.layout import TRAP_KINDS, Kind, Layout, Resource
from batchcrawl.fakeweb.links import Link, Links
from batchcrawl.fakeweb.render import PLAIN_WRITING, WRITINGS, Anchor, Document, Writing, html_bytes
from batchcrawl.fakeweb.rolls import roll, stream
from batchcrawl.fakeweb.spec import WebSpec
from batchcrawl.fakeweb.spelling import Speller
from batchcrawl.fakeweb.words import Topic

_EDITION_WORDS = 40
_PARAGRAPH_WORDS = 80
_ANCHOR_BYTES = 70
_WORD_BYTES = 10
_FRAME_BYTES = 300
_ENDLESS = frozenset(TRAP_KINDS) - {Kind.SESSION}
_OWN_TEXT = _ENDLESS | {Kind.REFRESH, Kind.CHAIN, Kind.PRIVATE, Kind.OPEN, Kind.UNFOLLOWED, Kind.HIDDEN}
"""Kinds whose text is their own; the text of any other is its page's."""


class PageWriter:
    """Writes the pages of one web."""

    def __init__(self, spec: WebSpec, layout: Layout, links: Links) -> None:
        self._spec = spec
        self._layout = layout
        self._links = links

    def write(self, resource: Resource, version: int) -> tuple[bytes, str]:
        """Return the bytes and the Content-Type of a page in one of its versions."""
        document = self._document(resource, version)
        charset = document.writing.header
        return html_bytes(document), "text/html" if charset is None else f"text/html; charset={charset}"

    def writing(self, resource: Resource) -> Writing:
        """Return how a page is written down."""
        chance = roll(self._spec.seed, "writing", resource.host, resource.page)
        if resource.kind in _OWN_TEXT or "charsets" not in self._spec.faults or chance % 4:
            return PLAIN_WRITING
        return WRITINGS[chance // 4 % len(WRITINGS)]

    def _document(self, resource: Resource, version: int) -> Document:
        host, kind, page, step = resource
        if kind in _ENDLESS:  # every place of a trap has a text of its own
            page = page << 64 | step
        name = kind.name.lower() if kind in _OWN_TEXT else "page"
        # A copy has the words of its page, and another look and other spellings.
        writing = self.writing(resource)
        topic = Topic(writing.alphabet, roll(self._spec.seed, name, host, page))
        content = stream(self._spec.seed, f"text of {name}", host, page)
        edition = stream(self._spec.seed, f"edition of {name}", host, page, version)
        links, base = self._links.of(resource), self._base(resource)
        paragraphs = [topic.text(content, count) for count in self._paragraphs(len(links))]
        hrefs = self._hrefs(resource, links, base)
        return Document(
            writing=writing,
            title=f"{topic.text(content, 4)} {host}.{page}",
            paragraphs=[f"{version}. {topic.text(edition, _EDITION_WORDS)}", *paragraphs],
            anchors=[
                Anchor(href=href, text=topic.text(content, 2), follow=link.follow)
                for href, link in zip(hrefs, links, strict=True)
            ],
            base=base,
            refresh=self._layout.url(links[0].target) if kind is Kind.REFRESH else None,
            decoys="decoys" in self._spec.faults,
            look=kind.name.lower(),
        )

    def _base(self, resource: Resource) -> str | None:
        chance = roll(self._spec.seed, "base", resource.host, resource.page)
        if "base" not in self._spec.faults or resource.kind is not Kind.PAGE or chance % 8:
            return None
        path = f"/base/{chance // 8 % 5}/"
        return path if chance // 64 % 2 else f"http://{self._layout.host_name(resource.host)}{path}"

    def _hrefs(self, resource: Resource, links: list[Link], base: str | None) -> list[str]:
        host, kind, page, step = resource
        own_path = self._layout.path(resource)
        base_path = own_path if base is None else base[base.index("/base/") :]
        chance = stream(self._spec.seed, f"spelling in {kind.name}", host, page, step)
        speller = Speller(self._layout, self._spec.faults, chance, host=host, base_path=base_path)
        return [speller.href(link.target) for link in links]

    def _paragraphs(self, links: int) -> list[int]:
        spare = self._spec.page_bytes - links * _ANCHOR_BYTES - _EDITION_WORDS * _WORD_BYTES - _FRAME_BYTES
        words = max(0, spare) // _WORD_BYTES
        full, rest = divmod(words, _PARAGRAPH_WORDS)
        return [_PARAGRAPH_WORDS] * full + ([rest] if rest else [])
