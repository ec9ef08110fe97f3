"""How an answer begins that reports a change: each pattern by its hits and near misses in `reported_change.toml`."""

import pytest

from toolvet.assess.rules.catalog.definitions import read_change_source, reported_change

SOURCE = read_change_source()
# Known and wrong: the pattern for "… deleted successfully" wants words of two letters and more before the verb.
MISSED = ("Note 7 deleted successfully",)


def test_a_word_of_one_letter_hides_a_report() -> None:
    assert set(MISSED) <= set(SOURCE.hits)
    assert [words for words in MISSED if reported_change(words)] == []


@pytest.mark.parametrize("words", [words for words in SOURCE.hits if words not in MISSED])
def test_an_answer_that_reports_a_change_is_seen(words: str) -> None:
    assert reported_change(words)


@pytest.mark.parametrize("words", SOURCE.misses)
def test_an_answer_that_only_mentions_a_change_is_not(words: str) -> None:
    assert reported_change(words) is None
