"""The phrases as a whole; their proofs run in `tests/core/languages`."""

from toolvet.core.checks.answer.phrases import ANY_LANGUAGE, phrases, read_phrases


def test_the_phrases_that_are_loaded_are_those_of_the_files() -> None:
    loaded, read = phrases().by_id, read_phrases()
    assert list(loaded) == list(read)
    assert all(loaded[name].phrase.match == known.phrase.match for name, known in read.items())


def test_phrases_are_in_order_of_type_then_language() -> None:
    # Where two phrases find the same words, the first one counts, so the order of files decides verdicts.
    order = [(known.type.value, known.language) for known in read_phrases().values()]
    assert order == sorted(order)


def test_phrases_of_no_language_are_not_one_of_the_languages() -> None:
    assert ANY_LANGUAGE not in phrases().languages
    assert {"de", "en", "zh"} <= phrases().languages
