"""Characters that a model reads and a person does not see, and letters that look like others.

    "Adds.\U000e0049\U000e0067…"      tag characters spell a text
    "user\u202etxt.exe"               an override turns the direction
    "pass\u200bword"                  an invisible character inside a word
    "p\u0430ypal"                     a Cyrillic letter in a Latin word

Scripts need some of them: Persian and Indic joiners, directions beside right-to-left letters, flags in emoji.
"""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.core.visible import visible

_TAGS: Final = re.compile("[\U000e0001-\U000e007f]+")
_FLAG: Final = "\U0001f3f4"  # Tag characters after it are a flag, as of Scotland (Unicode TR 51, emoji tag sequences).
_LONGEST_FLAG: Final = 7
_DIRECTION: Final = re.compile("[\u202a-\u202e\u2066-\u2069]+")
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_INSIDE: Final = re.compile("(?<=[A-Za-z])[\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]+(?=[A-Za-z])")
_RUN: Final = re.compile("[\u180e\u200b-\u200f\u2060-\u2064\ufeff\ufe00-\ufe0f\U000e0100-\U000e01ef]{3,}")
_WORD: Final = re.compile(r"[^\W\d_]{4,40}")
# Letters that look like a Latin one in most fonts (Unicode TR 39, confusables).
_ALIKE: Final = frozenset("аеорсухіјѕԁһԛԝАВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲ")  # noqa: RUF001 - they are meant
_MOST: Final = 20


def hidden_texts(text: str) -> Iterator[tuple[int, str]]:
    """Yield (position, what is hidden there), of each kind at most a few."""
    if text.isascii():
        return
    for found in list(_TAGS.finditer(text))[:_MOST]:
        if not (text[found.start() - 1 : found.start()] == _FLAG and len(found[0]) <= _LONGEST_FLAG):
            spelled = "".join(chr(ord(each) - 0xE0000) for each in found[0] if "\U000e0020" <= each < "\U000e007f")
            yield found.start(), f"tag characters that spell {spelled!r}" if spelled else "tag characters"
    if _RIGHT_TO_LEFT.search(text) is None and (turn := _DIRECTION.search(text)) is not None:
        yield turn.start(), f"{visible(turn[0])} turns the direction of the text"
    for pattern, where in ((_INSIDE, "inside a word"), (_RUN, "in a row")):
        if (unseen := pattern.search(text)) is not None:
            yield unseen.start(), f"invisible characters {where}: {_named(unseen[0])}"
    for word in _WORD.finditer(text):
        strange = [each for each in word[0] if each > "\u024f"]
        if strange and len(strange) <= len(word[0]) // 2 and _ALIKE.issuperset(strange):
            yield word.start(), f"{word[0]!r} has letters that look Latin and are not: {_named(''.join(strange))}"
            return


def _named(characters: str) -> str:
    return " ".join(f"U+{ord(each):04X}" for each in characters[:_MOST])
