"""What the parser finds in tricky documents against what a browser was recorded to find in them."""

from collections import Counter

from tests.support.browser_cases import read_answers, tricky_documents
from tests.support.browser_compare import UNEXPLAINED, difference

IDENTICAL_MIN = 0.94


def test_tricky_documents_give_what_a_browser_has_or_the_difference_has_its_rule() -> None:
    documents, answers = tricky_documents(), read_answers()
    differences = [found for one in documents if (found := difference(one, answers[one.url])) is not None]
    assert [f"{one.url}: {one.told}" for one in differences if one.rule == UNEXPLAINED] == []
    identical = len(documents) - len(differences)
    assert identical >= IDENTICAL_MIN * len(documents), Counter(one.rule for one in differences)


def test_every_document_has_its_answer() -> None:
    assert {document.url for document in tricky_documents()} == read_answers().keys()
