"""The tables of names and phrases bring their own proof: what each row must hit, and what it must miss."""

import re
from typing import Any, Literal

import pytest

from toolvet.core.schema import valid_example
from toolvet.core.schema.compilation import compiled
from toolvet.core.schema.naming import (
    Entry,
    choices,
    entries,
    entries_for,
    formats,
    hints,
    listed_values,
    quoted_values,
    words_of,
)


@pytest.mark.parametrize("entry", entries("name"), ids=lambda entry: entry.words[0])
def test_a_row_of_names_is_chosen_for_its_hits_and_never_for_its_misses(entry: Entry) -> None:
    assert entry.hits
    assert entry.misses
    assert [hit for hit in entry.hits if next(entries_for(hit), None) is not entry] == []
    assert [miss for miss in entry.misses if next(entries_for(miss), None) is entry] == []


@pytest.mark.parametrize("entry", entries("phrase"), ids=lambda entry: entry.match[:30])
def test_the_first_phrase_that_matches_a_description_is_the_one_that_means_it(entry: Entry) -> None:
    def first(text: str) -> Entry | None:
        return next((row for row in entries("phrase") if re.search(row.match, text, re.IGNORECASE)), None)

    assert [hit for hit in entry.hits if first(hit) is not entry] == []
    assert [miss for miss in entry.misses if re.search(entry.match, miss, re.IGNORECASE)] == []


@pytest.mark.parametrize("name", sorted(formats()))
def test_the_first_value_of_every_format_is_of_that_format(name: str) -> None:
    schema = compiled({"format": name})
    assert schema.is_valid(formats()[name][0].format(n=1, fill="example"))
    if name not in _UNCHECKED:
        assert not schema.is_valid("\x00 no \x00")


_UNCHECKED = frozenset(
    {"base64", "binary", "byte", "color", "data-url", "directory-path", "file-path", "password", "path", "phone"}
    | {"regex", "slug", "timezone", "url"}
)


COUNTS = {
    "days": ("days", "max_days", "days_before", "daysSince", "last_n_days", "years_back", "hours"),
    "limit": ("limit", "date_limit", "count", "date_count", "numDates", "number_of_dates"),
    "max": ("max_date", "maxResults", "max_tokens", "max_time", "lines_after"),
}


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize("name", [name for names in COUNTS.values() for name in names])
def test_a_number_that_counts_is_a_small_one(name: str, kind: Literal["integer", "number"]) -> None:
    example: Any = valid_example({"type": "object", "properties": {name: {"type": kind}}})
    assert 0 < example[name] <= 100


@pytest.mark.parametrize("name", ["timestamp", "maxTimestamp", "created_after", "before", "since", "date"])
def test_a_whole_number_that_names_a_moment_is_one(name: str) -> None:
    example: Any = valid_example({"type": "object", "properties": {name: {"type": "integer"}}})
    assert example[name] > 10_000_000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("imageURL", ("image", "url")),
        ("image_url", ("image", "url")),
        ("image-urls", ("image", "url")),
        ("HTTPServerPort", ("http", "server", "port")),
        ("URLs", ("url",)),
        ("addresses", ("address",)),
        ("cities", ("city",)),
        ("", ()),
    ],
)
def test_a_name_is_read_word_by_word_in_the_singular(name: str, words: tuple[str, ...]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize(
    ("description", "values"),
    [
        (
            "IANA name (e.g., 'America/New_York', 'Europe/London'). Or 'Asia/...'.",
            ["America/New_York", "Europe/London"],
        ),
        ('The sort, for example "name"', ["name"]),
        ("An id (e.g. ab-12)", ["ab-12"]),
        ("One of `a` and `b`", []),
        ("Pages such as the front page", []),
        ("The day (e.g. the pay date)", []),
        ("A column, e.g. a or b", ["a", "b"]),
        ('Fields, e.g.\n{"name": "Ann", "zip": "1"}. More.', ['{"name": "Ann", "zip": "1"}']),
        ("Numbers, e.g. [1, 2] or more", ["[1, 2]"]),
        ("Broken, e.g. { name", []),
        ("A file, e.g. {city}.csv", ["{city}.csv"]),
    ],
)
def test_a_description_gives_the_values_that_it_quotes_as_examples(description: str, values: list[str]) -> None:
    assert list(quoted_values(description, "string")) == values


def test_what_the_description_says_comes_before_what_the_name_suggests() -> None:
    assert next(hints("date", "The day, e.g. '2031-05-06'", "string")) == "2031-05-06"
    assert next(hints("zone", "IANA timezone name", "string")) == "Europe/London"
    assert next(hints("count", "How many, e.g. 7", "integer")) == 7


@pytest.mark.parametrize("hit", [hit for choice in choices() for hit in choice.hits])
def test_the_first_of_the_values_that_a_description_lists_is_taken(hit: str) -> None:
    description, value = hit.split(" => ")
    assert next(listed_values(description, "string")) == value


@pytest.mark.parametrize("miss", [miss for choice in choices() for miss in choice.misses])
def test_prose_that_lists_nothing_gives_no_value(miss: str) -> None:
    assert list(listed_values(miss, "string")) == []
