"""The parts of `fit_response` beside their plain definitions: searches, costs, cuts and ids."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.core.envelope.test_fit import context, ships, text

from toolvet import ContentArchive, Envelope, EnvelopeError, error_response, fit_response
from toolvet.core.envelope.fit.attempt import FitStates, Measure, _costs_of_ids, largest_fitting
from toolvet.core.envelope.fit.items import cut_texts, find_items, find_long_texts, longest_length, outer_lists
from toolvet.core.envelope.json_copy import encode_json

LOG = {"id": "log", "rank": 3, "lines": ["the wind was fair " * n for n in range(1, 9)], "note": "ok"}
PAYLOADS: dict[str, dict[str, object]] = {
    "ships": ships(40),
    "two lists": {**ships(12), "ports": [{"id": f"port-{n}", "name": "p" * (n * 5 % 31)} for n in range(30)]},
    "texts": {"logs": [LOG, {**LOG, "id": "other"}], "title": "a calm sea " * 40},
    "failure": {"error": "No such ship. " * 30, "rows": [{"id": n, "text": "x" * n} for n in range(30)]},
}
OPTIONS: dict[str, dict[str, object]] = {
    "plain": {},
    "importance": {"importance": "rank"},
    "summarise": {"summarise": lambda item: item["id"] if isinstance(item, dict) else item},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_counter_that_counts_characters_keeps_what_characters_keep(payload: str, options: str) -> None:
    """Sums decide where lengths are sums, a search decides for any other counter: two ways to one answer.

    The sums leave out the digits of the counts in the warning, so an item may be kept by one way alone; they leave out
    the count of shortened items, so with summaries ids may be kept in the place of items.
    """
    data = PAYLOADS[payload]
    whole: object = error_response("No.", error_code="CONFLICT", details=data) if payload == "failure" else data
    size = len(text(fit_response(whole, 100_000)))  # type: ignore[arg-type]
    kept = set()
    for budget in range(700, size, max(1, (size - 700) // 40)):
        found = [
            fit_response(whole, budget, counter=counter, archive=ContentArchive(), **OPTIONS[options])  # type: ignore[arg-type]
            for counter in ("characters", len)
        ]
        for fitted in found:
            _uses_its_budget(fitted, budget)
        counts = [context(fitted).get("kept_count", 0) for fitted in found]
        if options != "summarise" and found[0].meta["content_fidelity"] == found[1].meta["content_fidelity"]:
            assert abs(counts[0] - counts[1]) <= 1
        kept.add(counts[0])
    assert len(kept) > 3 or payload == "texts"


def _uses_its_budget(fitted: Envelope, budget: int) -> None:
    """Another id of those that are not listed would be too much, however short it is."""
    meta, counts = fitted.meta, context(fitted)
    listed, unlisted = list(meta.get("dropped_content_ids", ())), counts.get("unlisted_count", 0)
    assert len(text(fitted)) <= budget
    assert len(listed) + unlisted == counts.get("dropped_count", 0)
    assert counts.get("unlisted_count") != 0
    if listed and unlisted > 1:
        # 80 is longer than any of these ids, with its quotes and comma; nearly all of them have a handful of letters.
        longest = 3 + max(len(one) for one in listed)
        assert budget - len(text(fitted)) < longest + 3


@pytest.mark.parametrize("top", [-1, 0, 1, 2, 3, 7, 20])
def test_the_search_finds_the_largest_that_fits_from_any_start(top: int) -> None:
    for start in range(-2, top + 3):
        for largest in range(-1, top + 1):
            asked: list[int] = []

            def fits(state: int, asked: list[int] = asked, largest: int = largest) -> bool:
                asked.append(state)
                return state <= largest

            assert largest_fitting(fits, start, top) == largest
            assert len(set(asked)) == len(asked)
            assert all(min(0, top) <= state <= top for state in asked)
            assert len(asked) <= 11


@pytest.mark.parametrize(("start", "questions"), [(500, [500, 501]), (501, [501, 500])])
def test_where_the_guess_is_nearly_right_two_questions_are_enough(start: int, questions: list[int]) -> None:
    asked: list[int] = []

    def fits(state: int) -> bool:
        asked.append(state)
        return state <= 500

    assert largest_fitting(fits, start, 1_000) == 500
    assert asked == questions


@given(st.lists(st.text(max_size=6), max_size=12, unique=True), st.integers(0, 120), st.booleans())
def test_the_cost_of_ids_is_their_length_up_to_a_share(names: list[str], share: int, additive: bool) -> None:  # noqa: FBT001 - drawn.
    items = find_items({"rows": [{"id": name} for name in names]}, (("rows",),), "id", None)
    measure = Measure("bytes" if additive else lambda said: len(said.encode()))
    cost = _costs_of_ids(items, measure, share)
    for state in range(len(names) + 3):
        dropped = [items.ids[number] for number in items.order[state:]]
        full = len(b',"dropped_content_ids":[]') + sum(len(encode_json(name)) + 1 for name in dropped)
        assert cost(state) == (min(share, full) if dropped else 0)


@pytest.mark.parametrize("restores", [False, True])
@pytest.mark.parametrize("shortens", [False, True])
def test_states_go_from_nothing_to_nearly_all(restores: bool, shortens: bool) -> None:  # noqa: FBT001 - all four of them.
    values = [{"id": str(n), "rank": n, "log": "x" * n} for n in range(5)]
    items = find_items({"rows": values}, (("rows",),), "id", "rank")
    shorten = (lambda number: number) if shortens else None
    states = FitStates(items, Measure("characters"), shorten, restores=restores)
    assert states.top == (9 if restores else 5 if shortens else 4)
    for state in range(states.top + 1):
        kept = states.kept_items(state)
        order = [4, 3, 2, 1, 0]
        wanted = {number: number if shortens else values[number] for number in order[:state]}
        wanted.update({number: values[number] for number in order[: max(0, state - 5)]})
        assert kept == wanted
        assert states.total_length(state) == sum(len(encode_json(value)) + 1 for value in kept.values())
    for room in range(200):
        fitting = [state for state in range(states.top + 1) if states.total_length(state) <= room - state]
        assert states.largest_by_sums(lambda state, room=room: room - state) == max(fitting, default=-1)  # type: ignore[misc]


def test_without_items_there_is_one_state_with_something_shorter_and_none_without() -> None:
    nothing = find_items({}, (), "id", None)
    for restores in (False, True):
        assert FitStates(nothing, Measure("bytes"), None, restores=restores).top == -1
        assert FitStates(nothing, Measure("bytes"), lambda number: number, restores=restores).top == 0


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [
        ("a calm sea", 10, "a calm sea"),
        ("a calm sea", 9, "a calm s…"),
        ("a calm sea today", 11, "a calm sea…"),
        # The end of a word, where one ends in the last fifth.
        ("0123456789 1234567", 15, "0123456789 123…"),
        ("01234567890 234567", 15, "01234567890…"),
        ("0123456789 12345678901", 20, "0123456789 12345678…"),
        ("012345678901234 678901", 20, "012345678901234…"),
        ("012345678901 345 7890", 19, "012345678901 345…"),
        ("01234567890123 5678 0", 19, "01234567890123 567…"),
        ("012345678901234 67890", 19, "012345678901234…"),
        ("", 0, ""),
    ],
)
def test_a_text_is_cut_at_a_word_where_one_ends_near(text: str, most: int, cut: str) -> None:
    assert cut_texts(text, most) == cut
    assert list(find_long_texts(text, most)) == ([] if cut == text else [""])


def test_texts_are_cut_wherever_they_are_and_what_has_none_is_the_very_same() -> None:
    short = ["a", {"b": ["c"]}]
    value = {"x/y": ["abcdef", short], "n": 1, "z": {"w": "abcdefgh"}, "short": short}
    assert cut_texts(value, 5) == {"x/y": ["abcd…", short], "n": 1, "z": {"w": "abcd…"}, "short": short}
    assert cut_texts(value, 8) is value
    assert list(find_long_texts(value, 5)) == ["/x~1y/0", "/z/w"]
    assert [longest_length(each) for each in (value, short, [], {}, 5, "ab")] == [8, 1, 0, 0, 0, 2]


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ([{"id": "a"}, {"id": "b"}], ("a", "b")),
        ([{"id": "a"}, {"id": "a"}], ("a", "/rows/1")),
        ([{"id": "a"}, {"id": " "}], ("a", "/rows/1")),
        ([{"id": ""}, {"id": "b"}], ("/rows/0", "b")),
        ([{"id": 1}, {"id": True}, {"id": None}, "x"], ("1", "/rows/1", "/rows/2", "/rows/3")),
    ],
)
def test_ids_are_texts_of_their_own_or_places(values: list[object], ids: tuple[str, ...]) -> None:
    assert find_items({"rows": values}, (("rows",),), "id", None).ids == ids
    assert find_items({"rows": values}, (("rows",),), lambda row: row["id"] if row != "x" else 5.0, None).ids == ids


def test_of_several_lists_the_same_share_of_each_goes_first() -> None:
    payload = {"a": [1, 2], "b": [], "c": [1, 2, 3, 4]}
    lists = outer_lists(payload, 1)
    assert lists == (("a",), ("c",))
    items = find_items(payload, lists, "id", None)
    # The shares: 1/2 and 2/2 of the first, 1/4 to 4/4 of the second.
    assert list(items.order) == [2, 0, 3, 4, 1, 5]
    assert items.homes == (0, 0, 1, 1, 1, 1)
    assert items.ids == ("/a/0", "/a/1", "/c/0", "/c/1", "/c/2", "/c/3")
    assert items.with_only(payload, {5: "x", 2: "y"}) == {"a": [], "b": [], "c": ["y", "x"]}
    assert msgspec.json.encode(payload) == b'{"a":[1,2],"b":[],"c":[1,2,3,4]}'


def test_what_is_left_out_of_a_failure_is_in_the_archive() -> None:
    archive = ContentArchive()
    whole = error_response("Far too long. " * 60, error_code="CONFLICT", details={"log": "line " * 300})
    fitted = fit_response(whole, 700, archive=archive)
    kept = archive.get(fitted.meta["content_archive_hashes"]["archive"])
    assert kept["error"] == whole.error
    assert kept["data"] == whole.data
    success = fit_response({f"n{n}": n for n in range(900)}, 700, archive=archive)
    kept = archive.get(success.meta["content_archive_hashes"]["archive"])
    assert kept == {"items": {}, "data": {f"n{n}": n for n in range(900)}}


def after_the_hash(extra: int) -> Callable[[str], int]:
    """A tokeniser for which a hash of many letters takes more tokens than the zeros that stand for it at first."""

    def count(said: str) -> int:
        found = re.search(r"sha256:([0-9a-f]{64})", said)
        return len(said) + (extra if found is not None and found[1].strip("0") else 0)

    return count


@pytest.mark.parametrize(("extra", "fewer"), [(0, 0), (50, 1), (100, 3), (200, 7), (400, 15)])
def test_where_the_hash_takes_more_than_was_reckoned_a_smaller_state_is_taken(extra: int, fewer: int) -> None:
    """One item fewer, then two more, then four more, then eight more: each takes about fifty characters."""
    data = {"rows": [{"id": f"r{n:03}", "text": "x" * 30} for n in range(60)]}
    archive = ContentArchive()
    fitted = fit_response(data, 2_000, counter=after_the_hash(extra), archive=archive)
    plain = fit_response(data, 2_000, counter=after_the_hash(0), archive=ContentArchive())
    assert context(plain)["kept_count"] - context(fitted)["kept_count"] == fewer
    assert after_the_hash(extra)(text(fitted)) <= 2_000
    kept = archive.get(fitted.meta["content_archive_hashes"]["archive"])["items"]
    assert len(kept) == context(fitted)["dropped_count"]


def test_the_warning_counts_the_texts_that_were_cut() -> None:
    texts = {"a": "wind " * 300, "c": {"d": "sun " * 300}}
    assert context(fit_response(texts, 1_500)) == {"shortened_texts": 2, "reason": "size_limit_exceeded"}
    assert context(fit_response({**texts, "b": ["rain " * 300, "short"]}, 1_500)) == {
        "total_count": 2,
        "kept_count": 2,
        "dropped_count": 0,
        "shortened_count": 1,
        "shortened_texts": 2,
        "reason": "size_limit_exceeded",
    }


def test_a_summary_that_is_no_shorter_than_its_item_is_not_taken() -> None:
    rows = [{"id": f"r{n:03}", "text": "x" * 30} for n in range(60)]
    fitted = fit_response({"rows": rows}, 2_000, summarise=lambda row: {**row, "text": "y" * 30})
    assert "shortened_count" not in context(fitted)
    assert fitted.data["rows"] == rows[: context(fitted)["kept_count"]]
    shorter = fit_response({"rows": rows}, 2_000, summarise=lambda row: {**row, "text": "y" * 29})
    assert context(shorter)["shortened_count"] > 0


@pytest.mark.parametrize(
    "lists",
    [
        ["/ports", "/ports/0/ships"],
        ["/ports/0/ships", "/ports"],
        ["/ports/1/ships"],
        ["/ports/0/ships/9"],
        ["/ports/name"],
        ["ports"],
    ],
)
def test_lists_that_are_none_or_inside_another_are_refused(lists: list[str]) -> None:
    data = {"ports": [{"name": "Oslo", **ships(60)}]}
    assert fit_response(data, 2_000, lists=["/ports/0/ships"]).data["ports"][0]["name"] == "Oslo"
    with pytest.raises(EnvelopeError, match=r"^lists must"):
        fit_response(data, 2_000, lists=lists)


@pytest.mark.parametrize("counter", ["characters", len, lambda said: len(said) // 2 + 1, lambda said: 3 * len(said)])
def test_an_id_is_listed_as_soon_as_it_fits(counter: Any) -> None:
    """Where one unit more lists more ids beside the same items, it was that unit that was missing.

    The sums for characters reckon a comma and a digit too many; whether all fit is only tried if it is likely.
    """
    count: Callable[[str], int] = len if counter == "characters" else counter
    data = {"rows": [{"id": f"row-{n:03}", "text": "x" * 300} for n in range(36)]}
    budget, steps, last = count("x" * 900), 0, (0, 0)
    while budget < count("x" * 1_400):
        fitted = fit_response(data, budget, counter=counter)
        now = (context(fitted)["kept_count"], len(fitted.meta.get("dropped_content_ids", ())))
        if now[0] == last[0] and now[1] > last[1] > 0:
            spare = budget - count(text(fitted))
            assert spare <= 2 if counter == "characters" else spare == 0 or "unlisted_count" not in context(fitted)
            steps += 1
        last, budget = now, budget + 1
    assert steps > 5


def test_long_texts_are_cut_to_a_half_then_to_a_quarter() -> None:
    data = {"report": "x" * 4_000}
    assert [len(fit_response(data, budget).data["report"]) for budget in (3_000, 1_500, 900)] == [2_000, 1_000, 500]


def test_a_counter_may_count_nothing() -> None:
    assert fit_response(ships(3), 1, counter=lambda _: 0).to_dict() == fit_response(ships(3), 9_999).to_dict()
