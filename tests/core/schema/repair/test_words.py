"""The tables bring their own proof: what each row must hit, and what it must miss."""

import pytest

from toolvet.core.schema.repairs.context import (
    Opposites,
    Synonyms,
    Word,
    are_opposite,
    mean_the_same,
    meant,
    nearest,
    rows,
    synonym_table,
)
from toolvet.core.schema.repairs.notation import Moment, Notation, moments, notations


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row.meaning}-{row.confidence}")
def test_a_row_of_words_means_what_it_says(row: Word) -> None:
    assert row.hits
    assert row.misses
    assert [hit for hit in row.hits if meant(hit, row.meaning) != row.confidence] == []
    assert [miss for miss in row.misses if meant(miss, row.meaning) == row.confidence] == []


@pytest.mark.parametrize("row", synonym_table().synonym, ids=lambda row: row.words[0])
def test_the_words_of_a_group_mean_the_same(row: Synonyms) -> None:
    assert row.hits
    assert row.misses
    assert [hit for hit in row.hits if not mean_the_same(*hit.split(" => "))] == []
    assert [miss for miss in row.misses if mean_the_same(*miss.split(" => "))] == []


@pytest.mark.parametrize("row", synonym_table().opposite, ids=lambda row: row.words[0])
def test_opposite_words_are_never_one_name(row: Opposites) -> None:
    assert row.hits
    assert row.misses
    assert [hit for hit in row.hits if not are_opposite(*hit.split(" => "))] == []
    assert [miss for miss in row.misses if are_opposite(*miss.split(" => "))] == []


TABLE = notations()


@pytest.mark.parametrize(
    ("kind", "row"),
    [("date", row) for row in TABLE.date] + [("time", row) for row in TABLE.time],
    ids=lambda part: part if isinstance(part, str) else part.hits[0],
)
def test_a_notation_is_read_as_its_hits_say(kind: str, row: Notation) -> None:
    assert row.hits
    assert row.misses
    for hit in row.hits:
        text, iso = hit.split(" => ")
        found = [moment.day if kind == "date" else moment.time for moment in moments(text)]
        assert found == [iso], hit
    for miss in row.misses:
        assert not any((moment.day if kind == "date" else moment.time) for moment in moments(miss)), miss


@pytest.mark.parametrize("row", TABLE.offset, ids=lambda row: row.hits[0])
def test_an_offset_is_read_as_its_hits_say(row: Notation) -> None:
    for hit in row.hits:
        text, iso = hit.split(" => ")
        assert [moment.offset for moment in moments(f"14:30 {text}")] == [iso]
    for miss in row.misses:
        assert [*moments(f"14:30 {miss}")] == []


def test_a_day_and_a_time_are_read_together() -> None:
    assert [*moments("Wed, 15 Jan 2025 2:30 pm GMT")] == [Moment("high", "2025-01-15", "14:30:00", "Z")]
    assert [*moments("2025-01-15 at 14:30 +0100")] == [Moment("high", "2025-01-15", "14:30:00", "+01:00")]


@pytest.mark.parametrize(
    ("text", "options", "option"),
    [
        ("Created At", ["created_at", "updated_at"], "created_at"),
        ("desc", ["ascending", "descending"], "descending"),
        ("ascnding", ["ascending", "descending"], "ascending"),
        ("LEFT", ["left", "Left", "right"], None),
        ("v3", ["v1", "v2"], None),
        ("cot", ["cat", "cut"], None),
        ("?", ["a", "b"], None),
        ("", ["a", "b"], None),
        ("<", ["<", ">"], "<"),
        (">>", ["<", ">"], None),
    ],
)
def test_the_nearest_option_is_the_only_one_that_is_near(text: str, options: list[str], option: str | None) -> None:
    found = nearest(text, options)
    assert (found.option if found else None) == option
