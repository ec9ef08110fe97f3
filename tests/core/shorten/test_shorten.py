"""Texts shortened by the rules of their form."""

import json

import msgspec
import pytest
from hypothesis import given, strategies as st

from toolvet.core import shorten
from toolvet.core.shorten import shorten_text, shorten_value

ITEMS = [{"id": number, "name": f"Item {number}", "note": "n" * (number % 40)} for number in range(3_000)]
JSON = json.dumps({"items": ITEMS, "total": len(ITEMS)}, indent=2)
CSV = "id,name,price\n" + "\n".join(f"{number},Item {number},{number * 3}" for number in range(5_000))
MARKDOWN = "| id | name |\n|---:|---|\n" + "\n".join(f"| {number} | Item {number} |" for number in range(5_000))
LOG = "\n".join(
    f"2026-01-01 12:00:{number % 60:02} {'ERROR disk full' if number == 1777 else 'INFO written'} {number}"
    for number in range(4_000)
)
PROSE = "The harbour was quiet, and the ferries waited for the tide. " * 900


@pytest.mark.parametrize(
    ("text", "form", "stays"),
    [
        (JSON, "json", ['"id":0,', '"id":2999', '"total":3000', "items left out"]),
        (CSV, "table", ["id,name,price\n0,", "4999,Item 4999,14997", "lines left out"]),
        (MARKDOWN, "table", ["| id | name |\n|---:|---|\n| 0 |", "| 4999 |", "lines left out"]),
        (LOG, "lines", ["INFO written 0\n", "INFO written 3999", "ERROR disk full 1777", "lines left out"]),
        (PROSE, "text", ["The harbour was quiet", "characters left out", "the tide. "]),
    ],
    ids=["json", "csv", "markdown", "log", "prose"],
)
def test_what_stands_at_the_ends_and_what_reports_a_problem_stays(text: str, form: str, stays: list[str]) -> None:
    short = shorten_text(text, 2_000)
    assert short.form == form
    assert 1_000 < len(short.text) <= 2_000
    for each in stays:
        assert each in short.text


def test_a_json_text_stays_json_and_names_the_places_that_are_left_out() -> None:
    value = json.loads(shorten_text(JSON, 2_000).text)
    shown = [item for item in value["items"] if isinstance(item, dict)]
    (mark,) = [item for item in value["items"] if isinstance(item, str)]
    first_left_out = next(number for number, item in enumerate(value["items"]) if isinstance(item, str))
    left_out = len(ITEMS) - len(shown)
    assert mark == (f"… {left_out:,} of 3,000 items left out ({first_left_out} to {first_left_out + left_out - 1}) …")
    assert shown == [ITEMS[item["id"]] for item in shown]


def test_white_space_goes_before_any_item() -> None:
    short = shorten_text(json.dumps(ITEMS[:50], indent=8), len(json.dumps(ITEMS[:50], separators=(",", ":"))))
    assert json.loads(short.text) == ITEMS[:50]


def test_an_item_that_reports_a_problem_stays() -> None:
    items = [*ITEMS[:500], {"id": 500, "error": "it is broken"}, *ITEMS[501:]]
    assert "it is broken" in shorten_text(json.dumps(items), 2_000).text


def test_without_marks_a_value_keeps_its_types() -> None:
    short = shorten_value({"items": ITEMS, "total": 3_000}, 2_000, marks=False)
    assert isinstance(short, dict)
    assert {type(item) for item in short["items"]} == {dict}
    assert short["total"] == 3_000
    assert len(msgspec.json.encode(short)) < 2_600


def test_long_texts_are_cut_where_items_are_few() -> None:
    value = {"title": "A report", "body": "b" * 50_000, "author": "Ada"}
    short = json.loads(shorten_text(json.dumps(value), 1_000).text)
    assert (short["title"], short["author"]) == ("A report", "Ada")
    assert "characters left out" in short["body"]


def test_a_short_text_is_not_touched() -> None:
    assert shorten_text(' {"a": 1} ', 10).text == ' {"a": 1} '


@given(
    st.text()
    | st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    ).map(json.dumps)
    | st.lists(st.text(max_size=30)).map("\n".join),
    st.integers(0, 300),
)
def test_no_text_is_longer_than_asked_for(text: str, most: int) -> None:
    short = shorten_text(text, most)
    assert len(short.text) <= most or short.text == text
    assert len(text) > most or short.text == text


def test_trials_end_as_soon_as_they_are_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    take = shorten._Cutter._take

    def counted(cutter: shorten._Cutter, size: int) -> None:
        nonlocal taken
        taken += 1
        take(cutter, size)

    monkeypatch.setattr(shorten._Cutter, "_take", counted)
    nested = [{"a": {"b": [{"c": "x" * 50} for _ in range(60)]}} for _ in range(2_000)]
    assert len(shorten_text(json.dumps(nested), 3_000).text) <= 3_000
    # The value has 250,000 parts.
    assert taken < 20_000
