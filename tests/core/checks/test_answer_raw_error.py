"""Raw errors as the whole answer."""

import pytest

from toolvet.core.checks.answer.shape import RAW_ERROR, raw_error, raw_error_table

TABLE = raw_error_table()
HITS = [text for each in TABLE.error for text in each.hits] + TABLE.json.hits
MISSES = [text for each in TABLE.error for text in each.misses] + TABLE.json.misses


@pytest.mark.parametrize("text", HITS)
def test_an_answer_that_is_nothing_but_an_error_is_a_tool_failure(text: str) -> None:
    found = raw_error(text)
    assert found is not None
    assert (found.type.value, found.label) == ("tool_failure", RAW_ERROR)


@pytest.mark.parametrize("text", MISSES)
def test_an_error_that_is_explained_is_no_failure(text: str) -> None:
    assert raw_error(text) is None


@pytest.mark.parametrize(
    "text", ["{", "{]", "{" * 5_000, "<" * 5_000, "<html" + "<" * 5_000, "\ud800", '{"a": "\ud800"}']
)
def test_any_beginning_is_read(text: str) -> None:
    assert raw_error(text) is None
