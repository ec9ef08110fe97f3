from collections.abc import Iterator
from typing import Literal

import pytest

from toolvet.checks.answer.phrases import KnownPhrase, phrases, read_phrases
from toolvet.checks.answer.read import counts, find
from toolvet.prose import masks


def _texts(which: Literal["hits", "misses"]) -> Iterator[tuple[str, KnownPhrase, str]]:
    for identifier, known in read_phrases().items():
        for text in getattr(known.phrase, which):
            yield identifier, known, text


def _counting(text: str) -> set[tuple[str, str]]:
    regions = masks(text)
    return {(each.known.type, each.known.phrase.match) for each in find(text) if counts(each, len(text), regions)}


@pytest.mark.parametrize(("identifier", "known", "text"), list(_texts("hits")))
def test_a_phrase_counts_in_each_of_its_hits(identifier: str, known: KnownPhrase, text: str) -> None:
    assert (known.type, known.phrase.match) in _counting(text), identifier


@pytest.mark.parametrize(("identifier", "known", "text"), list(_texts("misses")))
def test_a_phrase_does_not_count_in_its_misses(identifier: str, known: KnownPhrase, text: str) -> None:
    assert (known.type, known.phrase.match) not in _counting(text), identifier


def test_every_phrase_has_at_least_one_hit_and_one_miss() -> None:
    unproven = [name for name, known in read_phrases().items() if not known.phrase.hits or not known.phrase.misses]
    assert unproven == []


def test_an_unless_is_a_regular_expression() -> None:
    for known in read_phrases().values():
        known.voids()


def test_the_phrases_that_are_loaded_are_those_of_the_files() -> None:
    loaded, read = phrases().by_id, read_phrases()
    assert loaded.keys() == read.keys()
    assert all(loaded[name].phrase.match == known.phrase.match for name, known in read.items())
