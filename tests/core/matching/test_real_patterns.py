"""Both engines give the same hits for the phrases that toolvet ships, in texts made of their hits and misses."""

from collections.abc import Callable, Iterable
from functools import cache

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.core.checks.answer.phrases import read_phrases
from toolvet.core.checks.result.phrases import phrases as result_phrases, read_sources
from toolvet.core.matching import Hit, Pattern, PatternSet
from toolvet.core.matching.dialect import translate
from toolvet.core.matching.engine_re import ReEngine

PHRASES = {identifier: known.phrase for identifier, known in read_phrases().items()}
PATTERNS = {identifier: Pattern(identifier, phrase.match) for identifier, phrase in PHRASES.items()}
FAST = PatternSet(PATTERNS.values())
SENTENCES = sorted({(text, each) for each, phrase in PHRASES.items() for text in (*phrase.hits, *phrase.misses)})


@cache
def slow(identifier: str) -> ReEngine:
    pattern = PATTERNS[identifier]
    return ReEngine([translate(pattern.regex, pattern.flags, spans=pattern.spans)])


def slow_hits(identifiers: Iterable[str], text: str) -> list[Hit]:
    found = [Hit(each, start, end) for each in identifiers for _number, start, end in slow(each).find(text)]
    return sorted(found, key=lambda hit: (hit.start, hit.end, hit.id))


@examples(60)
@given(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5),
    st.sampled_from([" ", "\n", "", "\u200b", "\uff0c", " \U0001f600 ", "e\u0301", "İ", "ß"]),
    st.sampled_from([str, str.upper, str.lower, str.title, str.swapcase]),
)
def test_both_engines_agree_on_texts_that_are_made_of_what_the_phrases_know(
    sentences: list[tuple[str, str]], between: str, case: Callable[[str], str]
) -> None:
    text = case(between.join(sentence for sentence, _identifier in sentences))
    fast = FAST.scan(text)
    # All that hit, and all whose sentences these are.
    asked = {identifier for _sentence, identifier in sentences} | {hit.id for hit in fast}
    wanted = [hit for hit in fast if hit.id in asked]
    assert sorted(wanted, key=lambda hit: (hit.start, hit.end, hit.id)) == slow_hits(asked, text)


BEFORE = "The harbour was quiet in the morning, and the ferries waited for the tide. "


@pytest.mark.parametrize("before", [BEFORE[-16:], BEFORE])
def test_phrases_are_found_behind_other_text(before: str) -> None:
    # Hyperscan finds some patterns only near the beginning of a text.
    FAST.prepare()
    missed = [
        (identifier, text)
        for identifier, phrase in PHRASES.items()
        for text in (before + hit for hit in phrase.hits)
        if identifier not in {hit.id for hit in FAST.scan(text)} and slow_hits([identifier], text)
    ]
    assert missed == []


def test_phrases_of_results_are_found_behind_other_text() -> None:
    known = result_phrases()
    known.pattern_set.prepare()
    proofs = {
        f"{source.name}:{number}": phrase.hits
        for source in read_sources()
        for number, phrase in enumerate(source.file.phrase)
    }
    missed: list[tuple[str, str]] = []
    for identifier, hits in proofs.items():
        phrase = Pattern(identifier, known.by_id[identifier].match, spans=False)
        alone = ReEngine([translate(phrase.regex, phrase.flags, spans=False)])
        for text in (BEFORE + hit for hit in hits):
            is_found = any(hit.id == identifier for hit in known.scan(text))
            if not is_found and alone.find(text):
                missed.append((identifier, text))
    assert missed == []


def test_a_choice_of_phrases_finds_just_those() -> None:
    text = " ".join(sentence for sentence, _identifier in SENTENCES[::50])
    everything = FAST.scan(text)
    chosen = sorted({hit.id for hit in everything})[::2]
    assert FAST.only(chosen).scan(text) == [hit for hit in everything if hit.id in chosen]
    assert FAST.only([]).scan(text) == []
    with pytest.raises(KeyError):
        FAST.only(["no such phrase"])
