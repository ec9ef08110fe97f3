"""Phrase files are read with their parts filled, and what is wrong is named with file, line and phrase."""

import re

import pytest
from tests.phrase_proofs import failed_proofs, faulty_patterns

from toolvet.core.matching.pattern import Phrase, PhraseFile
from toolvet.core.matching.phrasebook import PhraseError, PhraseSource, read_phrases


class Saying(Phrase, frozen=True, kw_only=True):
    PATTERNS = ("match", "unless")

    unless: str | None = None


class SayingFile(PhraseFile[Saying], frozen=True, kw_only=True):
    PATTERNS = ("admits",)

    admits: str = ""


WORDS = b"""
[parts]
no = '''no|never'''
never = '''{no} ever'''
tool = ["tool[s]", "search engine"]
"""

SAYINGS = b"""
admits = '''{no} way'''

[parts]
own = '''{tool} of mine'''

[[phrase]]
match = '''\\b{no} {words:2}{own}\\b'''
unless = '''{never}'''
hits = ["No, tool of mine"]
misses = ["x"]

[[phrase]]
say = "{no} {words:3} tool|server"
hits = ["He said \\"never\\": a tool", "No good old server"]
misses = ["No tool"]
"""


def read(sayings: bytes = SAYINGS, words: bytes = WORDS) -> PhraseSource[SayingFile]:
    files = [("xx/sayings.toml", sayings), ("xx/words.toml", words)]
    (source,) = read_phrases("toolvet.core.languages", files, SayingFile)
    return source


def test_parts_and_gaps_are_filled_in_every_pattern() -> None:
    file = read().file
    tool = "(?:(?:tool(?:s)?|search engine) of mine)"
    assert file.phrase[0].match == rf"\b(?:no|never) (?:(?:[^\s.!?]+ ){{0,2}}){tool}\b"
    assert file.phrase[0].unless == "(?:(?:no|never) ever)"
    assert file.phrase[1].match == r"\b(?:no|never) (?:(?:[^\s.!?]+ ){0,3})(?:tool|server)\b"
    assert file.phrase[1].say == ""
    assert file.admits == "(?:no|never) way"


def test_a_language_may_say_what_its_gaps_are_made_of() -> None:
    sayings = b"[[phrase]]\nmatch = '''a{characters:4}b{words:1}c'''\nhits = []\nmisses = []\n"
    assert read(sayings).file.phrase[0].match == r"a(?:[^.!?\n]{0,4})b(?:(?:[^\s.!?]+ ){0,1})c"
    words = b"[gaps]\ncharacters = '''[^\xe3\x80\x82]'''\n"
    assert read(sayings, words).file.phrase[0].match == r"a(?:[^。]{0,4})b(?:(?:[^\s.!?]+ ){0,1})c"


@pytest.mark.parametrize(
    ("sayings", "words", "complaint"),
    [
        (
            SAYINGS.replace(b"{words:3}", b"{letters:3}"),
            WORDS,
            "xx/sayings.toml:14: the phrase '{no} {letters:3} tool|server': {letters:3} is not known; there are",
        ),
        (SAYINGS, WORDS.replace(b"{no} ever", b"{yes} ever"), "xx/words.toml:4: the part 'never': {yes} is not known"),
        (SAYINGS.replace(b"say =", b"match ="), WORDS, ""),
        (SAYINGS + b"say = 'two'\n", WORDS, "xx/sayings.toml:17: Cannot overwrite a value"),
        (SAYINGS.replace(b"unless", b"unles"), WORDS, "xx/sayings.toml:7: Object contains unknown field `unles`"),
        (SAYINGS + b"[[phrase]]\nhits = ['a']\n", WORDS, "xx/sayings.toml:17: the phrase '': an entry has either"),
        (
            SAYINGS.replace(b"tool|server", b"tool | server"),
            WORDS,
            "xx/sayings.toml:14: the phrase '{no} {words:3} tool | server': '|' needs a word on both sides",
        ),
        (SAYINGS.replace(b"{no} way", b"{nay} way"), WORDS, "xx/sayings.toml: {nay} is not known"),
        (SAYINGS + b"[[phrase]]\nmatch = a\n", WORDS, "xx/sayings.toml:18: "),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(sayings: bytes, words: bytes, complaint: str) -> None:
    if not complaint:
        read(sayings, words)
        return
    with pytest.raises(PhraseError, match=re.escape(complaint)):
        read(sayings, words)


def test_a_failing_proof_names_file_line_and_phrase() -> None:
    place = "src/toolvet/core/languages/xx/sayings.toml"
    first, second = r"the phrase '\b{no} {words:2}{own}\b'", "the phrase '{no} {words:3} tool|server'"
    assert list(failed_proofs(read(), lambda _number, text: text.startswith("No "))) == [
        f"{place}:10: the hit 'No, tool of mine' is not found by {first}",
        f"{place}:15: the hit 'He said \"never\": a tool' is not found by {second}",
        f"{place}:16: the near miss 'No tool' is found by {second}",
    ]


def test_a_phrase_without_a_proof_is_named() -> None:
    source = read(b"[[phrase]]\nsay = 'a'\nmisses = ['b']\n")
    (failure,) = failed_proofs(source, lambda _number, _text: False)
    assert failure == "src/toolvet/core/languages/xx/sayings.toml:1: the phrase 'a' has no hits"


def test_a_pattern_that_cannot_be_looked_for_is_named() -> None:
    source = read(b"[[phrase]]\nmatch = '''(?=a)'''\nunless = '''('''\nhits = ['a']\nmisses = ['b']\n")
    faults = list(faulty_patterns(source))
    assert [fault.split(":")[1] for fault in faults] == ["1", "1"]
    assert "`match` of the phrase '(?=a)'" in faults[0]
    assert "`unless` of the phrase '(?=a)'" in faults[1]
