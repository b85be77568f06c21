"""Made-up words in several alphabets, and texts of them."""

import random

from batchcrawl.fakeweb.rolls import pick, stream

_TOPIC_WORDS = 256
_VOCABULARY_WORDS = 4096
_SYLLABLES = {
    "latin": "ka lo mi ren ta su vel dor pin ba che fu gar hin jo lum nes pro qui sta",
    "western": "grö ße çon é née für mañ ana cœ ur là déj ñu åk ær hø fü ç â",
    "cyrillic": "ка ло ми рен та су вел дор пин ба че фу гар хин жо лум нес про ши ста",  # noqa: RUF001
    "kana": "か き く け こ さ し す せ そ た ち つ て と な に ぬ ね の",
}


class Topic:
    """A choice of 256 of an alphabet's 4,096 words, so that texts on different topics share few."""

    def __init__(self, alphabet: str, topic: int) -> None:
        start = topic % (_VOCABULARY_WORDS - _TOPIC_WORDS)
        self._words = _VOCABULARIES[alphabet][start : start + _TOPIC_WORDS]

    def text(self, chance: random.Random, count: int) -> str:
        """Return `count` words with spaces between them."""
        return " ".join(map(self._words.__getitem__, chance.randbytes(count)))


def _vocabulary(alphabet: str) -> list[str]:
    chance = stream(0, alphabet)
    syllables = _SYLLABLES[alphabet].split()
    found: dict[str, None] = {}
    while len(found) < _VOCABULARY_WORDS:
        length = 2 + pick(chance, 3)
        found["".join(syllables[pick(chance, len(syllables))] for _ in range(length))] = None
    return list(found)


_VOCABULARIES = {alphabet: _vocabulary(alphabet) for alphabet in _SYLLABLES}
