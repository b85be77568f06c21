"""Holds the parser against headless Chromium: pages of Debian documentation packages, and tricky documents.

    python -m tests.support.browser_check [--pages N] [--record]

Needs chromium and six of the packages. Ends with 1 where fewer than 99 in 100 pages are identical or a difference has
no rule. `--record` writes what Chromium finds in the tricky documents into tests/data, where `make test` reads it.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence

from tests.support.browser import Browser, BrowserFailed, Seen, browser
from tests.support.browser_cases import read_answers, tricky_documents, write_answers
from tests.support.browser_compare import UNEXPLAINED, Difference, difference
from tests.support.browser_documents import HOST, Document, sampled, serving

PACKAGES = (
    "python3.11-doc",  # Sphinx
    "apache2-doc",  # XSLT; many languages, EUC-KR and ISO-8859-1 among the charsets
    "postgresql-doc-15",  # DocBook
    "git-doc",  # AsciiDoc
    "sqlite3-doc",  # written by hand
    "libboost1.74-doc",  # Doxygen, Docutils, and by hand over twenty years
    "lilypond-doc-html",  # Texinfo; many languages
    "postfix-doc",  # by hand and made of manual pages
    "fp-docs-3.2.2",  # TeX4ht
    "qtbase5-doc-html",  # QDoc
    "vim-doc",  # made of text
    "erlang-doc",  # EDoc
)
PACKAGES_MIN = 6
IDENTICAL_MIN = 0.99
SHOWN = 40


def main(arguments: Sequence[str]) -> int:
    """Run all of it and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.support.browser_check")
    parser.add_argument("--pages", type=int, default=100, metavar="N", help="pages of each package")
    parser.add_argument("--record", action="store_true", help="write the answers on the tricky documents")
    options = parser.parse_args(arguments)
    pages = {package: sampled(package, options.pages) for package in PACKAGES}
    if sum(map(bool, pages.values())) < PACKAGES_MIN:
        print(
            f"browser-check: not all is installed; run: apt-get install chromium {' '.join(PACKAGES)}", file=sys.stderr
        )
        return 1
    tricky = tricky_documents()
    try:
        with serving([*tricky, *(page for of in pages.values() for page in of)]) as port, browser(HOST, port) as judge:
            return _judge(judge, pages, tricky, record=options.record)
    except BrowserFailed as error:
        print(f"browser-check: {error}", file=sys.stderr)
        return 1


def _judge(judge: Browser, pages: Mapping[str, Sequence[Document]], tricky: Sequence[Document], *, record: bool) -> int:
    print(f"{'package':<20} {'pages':>7} {'identical':>10}", flush=True)
    found: list[Difference] = []
    total = 0
    for package, documents in pages.items():
        differences = _differences({document: judge.look(document.url) for document in documents})
        print(f"{package:<20} {len(documents):>7,} {len(documents) - len(differences):>10,}", flush=True)
        found += differences
        total += len(documents)
    print(f"{'all':<20} {total:>7,} {total - len(found):>10,}")
    _print_rules(found)
    answers = {document: judge.look(document.url) for document in tricky}
    if record:
        write_answers({document.url: seen for document, seen in answers.items()})
    told = read_answers()
    changed = [document.url for document, seen in answers.items() if told.get(document.url) != seen]
    of_tricky = _differences(answers)
    print(f"{'tricky documents':<20} {len(tricky):>7,} {len(tricky) - len(of_tricky):>10,}")
    _print_rules(of_tricky)
    faults = [
        *(f"{one.url}: {one.told}" for one in (*found, *of_tricky) if one.rule == UNEXPLAINED),
        *(f"{url}: the browser finds something else than what is recorded in tests/data" for url in changed),
    ]
    if total - len(found) < IDENTICAL_MIN * total:
        faults.append(f"only {total - len(found):,} of {total:,} pages are identical")
    return _print_verdict(faults)


def _differences(answers: Mapping[Document, Seen]) -> list[Difference]:
    compared = (difference(document, seen) for document, seen in answers.items())
    return [one for one in compared if one is not None]


def _print_rules(differences: Iterable[Difference]) -> None:
    by_rule: dict[str, list[str]] = {}
    for one in differences:
        by_rule.setdefault(one.rule, []).append(one.url.removeprefix(f"http://{HOST}"))
    for rule, urls in sorted(by_rule.items()):
        print(f"  {len(urls):>5,} {rule}, as {urls[0]}")
    print()


def _print_verdict(faults: Sequence[str]) -> int:
    for fault in faults[:SHOWN]:
        print(f"FAULT {fault}")
    if len(faults) > SHOWN:
        print(f"and {len(faults) - SHOWN:,} more")
    print(f"browser-check: {len(faults):,} faults" if faults else "browser-check: every difference has its rule")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
