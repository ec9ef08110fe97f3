"""The constraints of a proposed schema, and the places that it leaves open: each rule with its near miss."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples
from tests.steps import lines_run

from toolvet.core.contract import Lock, lock_of, propose_schema, read_lock, write_lock
from toolvet.core.contract.proposing import LEAST
from toolvet.core.json_value import at, pointer_steps
from toolvet.core.schema import compiled

NAMES = st.sampled_from(["id", "name", "total", "2024-01-01", "a/b", "type", "items"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["a", "b", "x@y.org"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def schema_of(results: Sequence[Any], arguments: Sequence[Any] = ()) -> Any:
    found = propose_schema(results, arguments).schema
    return {key: value for key, value in found.items() if key not in ("$schema", "$comment")}


def member(values: Sequence[Any], name: str = "a", arguments: Sequence[Any] = ()) -> Any:
    """The schema of a member with these values, one in each result."""
    return schema_of([{name: value} for value in values], arguments)["properties"][name]


@examples(200)
@given(st.lists(VALUES, max_size=6).flatmap(lambda some: st.lists(st.sampled_from(some or [None]), max_size=80)))
def test_a_schema_accepts_every_result_that_it_was_made_from(results: list[Any]) -> None:
    proposal = propose_schema(results)
    schema = compiled(proposal.schema or True)
    assert schema.problem is None
    assert all(map(schema.is_valid, results))
    # Each constraint is where its evidence says, with as many results as its kind needs.
    for place, count in proposal.evidence.items():
        keyword = pointer_steps(place)[-1]
        assert at(proposal.schema, [int(step) if step.isdigit() else step for step in pointer_steps(place)]) is not None
        assert count >= LEAST.get(keyword, 3)


def test_two_results_say_nothing() -> None:
    assert schema_of([{"a": 1}, {"a": 1}]) == {}
    assert propose_schema([{"a": 1}, {"a": 1}]).undecided == {"": "2 results have a value"}
    assert schema_of([{"a": 1}] * 3) == {"type": ["object", "null"], "properties": {"a": {"type": ["number", "null"]}}}


def test_members_are_required_and_not_null_from_ten_results_on() -> None:
    assert schema_of([{"a": True}] * 10) == {
        "type": "object",
        "properties": {"a": {"type": "boolean"}},
        "required": ["a"],
    }
    assert "required" not in schema_of([{"a": True}] * 9)
    assert "required" not in schema_of([{"a": True}] * 10 + [{}])
    assert member([True] * 9 + [None]) == {"type": ["boolean", "null"]}


def test_what_one_result_alone_lacks_makes_the_others_doubtful() -> None:
    whole, part = {"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 1}
    assert "required" not in schema_of([*[whole] * 11, part])
    assert schema_of([*[whole] * 10, *[part] * 2])["required"] == ["a", "b"]
    assert schema_of([*[whole] * 19, part])["required"] == ["a", "b"]


def test_a_member_of_few_results_is_left_open() -> None:
    proposal = propose_schema([{"a": 1}] * 18 + [{"a": 1, "rare": "x"}] * 2)
    assert proposal.undecided == {"/properties/rare": "2 results have it"}
    assert compiled(proposal.schema).is_valid({"a": 1, "rare": [], "new": {}})


def test_elements_of_one_result_are_one_piece_of_evidence() -> None:
    assert schema_of([{"a": [1] * 100}, {"a": []}, {"a": []}])["properties"]["a"] == {"type": ["array", "null"]}
    assert member([[{"id": 1}]] * 12)["items"]["required"] == ["id"]


def test_numbers_are_whole_from_thirty_results_with_ten_different_on() -> None:
    assert member(range(30)) == {"type": "integer"}
    assert member(range(29)) == {"type": "number"}
    assert member([20] * 40) == {"type": "number"}
    assert member([*range(30), 1.5]) == {"type": "number"}


def test_no_bounds_come_from_extremes() -> None:
    schema = schema_of([{"n": each, "s": "x" * each, "l": [0] * each} for each in range(40)])
    assert compiled(schema).is_valid({"n": -(10**9), "s": "y" * 1000, "l": [7] * 1000})


def test_few_words_are_an_enum_if_each_was_seen_often() -> None:
    assert member(["open", "closed"] * 15) == {"type": "string", "enum": ["closed", "open"]}
    for words in (
        ["open", "closed"] * 14,  # 28 results
        ["open"] * 30,  # perhaps a default
        ["open"] * 28 + ["closed"] * 2,
        [*["open", "closed"] * 20, "paid"],  # what came once says that more may come
        [f"word-{'abcdefghi'[each % 9]}" for each in range(120)],  # nine words
        ["Emma", "War and Peace"] * 20,
        ["1201", "1202"] * 20,
    ):
        assert member(words) == {"type": "string"}, words


def test_the_words_of_the_caller_are_no_enum() -> None:
    words = ["metric", "imperial"] * 20
    assert member(words, arguments=[{"in": {"units": [word]}} for word in words]) == {"type": "string"}
    assert "enum" in member(words, arguments=[{"units": "any"}] * 40)


@pytest.mark.parametrize("name", ["password", "api_key"])
def test_no_word_of_a_secret_is_shown(name: str) -> None:
    assert member(["hunterTwo", "swordFish"] * 20, name) == {"type": "string"}
    nested = [{"type": "hunterTwo"}, {"type": "swordFish", "more": 1}] * 20
    assert "hunterTwo" not in str(propose_schema([{name: each} for each in nested]))
    assert "hunterTwo" not in str(propose_schema([{name: [{"deep": each}]} for each in nested]))
    assert "hunterTwo" in str(propose_schema([{"place": each} for each in nested]))
    assert "hunterTwo" not in str(propose_schema([{name: {"hunterTwo": 1}}] * 2))


def test_a_place_that_was_redacted_is_left_open() -> None:
    proposal = propose_schema([{"a": "[redacted]", "b": "Bearer [redacted]"}] * 40)
    assert proposal.schema["properties"] == {"a": {}, "b": {}}
    assert set(proposal.undecided.values()) == {"redacted in the record"}


@pytest.mark.parametrize(
    ("form", "write"),
    [
        ("date", "2024-05-{:02}"),
        ("date-time", "2024-05-01T10:{:02}:00Z"),
        ("uuid", "3f2504e0-4f89-41d3-9a0c-0305e82c33{:02}"),
        ("email", "user{}@example.org"),
        ("uri", "https://example.org/{}"),
        (None, "2024-05-01T10:{:02}:00"),
        (None, "item {}"),
    ],
)
def test_a_format_is_what_ten_different_strings_keep(form: str | None, write: str) -> None:
    values = [write.format(each) for each in range(10, 22)]
    assert member(values) == {"type": "string", **({"format": form} if form else {})}
    assert member([*values, ""]) == {"type": "string"}
    assert member(values[:9] * 2) == {"type": "string"}


def test_members_that_are_data_make_a_map() -> None:
    prices = {"type": "object", "additionalProperties": {"type": "number"}}
    days = [{f"2024-05-{each:02}": 1.5, f"2024-06-{each:02}": 2} for each in range(1, 13)]
    assert schema_of(days) == prices
    names = [f"{a}{b}" for a in "bcdfgh" for b in "aeiou"]
    assert schema_of([{name: 1.5} for name in names]) == prices
    asked = [{"currency": "EUR" if each % 2 else "USD"} for each in range(12)]
    assert schema_of([{each["currency"]: 1.08} for each in asked], asked) == prices
    # The same members in each result are fields, whatever they are called, and beside fields nothing is demanded.
    assert schema_of([{"sha256": "x", "title": "y"}] * 12)["required"] == ["sha256", "title"]
    assert "additionalProperties" not in schema_of([{"date": each, name: 1.5} for each, name in enumerate(names)])


def test_a_word_that_says_which_members_there_are_makes_branches() -> None:
    results = [{"type": "text", "text": "x"}, {"type": "image", "data": "x", "size": 1}] * 15
    assert schema_of(results) == {
        "type": "object",
        "oneOf": [
            {
                "$comment": "From 15 results.",
                "properties": {
                    "type": {"const": "image"},
                    "data": {"type": "string"},
                    "size": {"type": "number"},
                },
                "required": ["type", "data", "size"],
            },
            {
                "$comment": "From 15 results.",
                "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
                "required": ["type", "text"],
            },
        ],
    }
    assert not compiled(schema_of(results)).is_valid({"type": "image", "text": "x"})
    free = [{"type": "text", "text": "x"}, {"type": "image"}, {"type": "text"}, {"type": "image", "text": "x"}] * 10
    assert "oneOf" not in schema_of(free)


def test_values_of_many_types_are_left_open_and_two_are_not() -> None:
    assert member([1, "x", [1], {}] * 5) == {}
    assert member([1, "x"] * 10) == {"type": ["number", "string"]}


def test_any_value_of_a_program_gets_some_schema() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for value in (loop, {1: 2}, {1, 2}, float("nan"), object(), {"a": b"x"}, [[[[]]]] * 3):
        assert propose_schema([value] * 12).results == 12
    deep: Any = 1
    for _ in range(500):
        deep = {"a": deep}
    assert "the results are too large" in propose_schema([deep] * 5).undecided.values()


def test_the_work_grows_with_the_results() -> None:
    def results(count: int) -> list[Any]:
        words = {f"w{each}": "ab"[each % 2] for each in range(30)}
        return [{**words, f"o{each % 20}": each, "l": [each] * 20} for each in range(count)]

    few, many = results(100), results(400)
    assert lines_run(lambda: propose_schema(many)) < 6 * lines_run(lambda: propose_schema(few))


def test_a_lock_keeps_contracts_and_one_without_is_as_before() -> None:
    contract = {"name": "get", "outputSchema": schema_of([{"a": 1}] * 12), "results": 12}
    lock = lock_of([{"name": "get"}], contracts=[contract, {"no": "name"}, contract])
    assert list(lock.contracts) == [contract]
    assert read_lock(write_lock(lock)) == lock
    assert lock.contract_of("get") == contract["outputSchema"]
    assert lock.contract_of("set") is None
    assert '"contracts"' not in write_lock(Lock())
