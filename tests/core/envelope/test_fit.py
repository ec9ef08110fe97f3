"""A response that fits its budget, and is honest about what it left out."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import (
    ArchiveError,
    ContentArchive,
    Envelope,
    EnvelopeError,
    EnvelopeTypeError,
    check_envelope,
    error_response,
    fit_response,
    success_response,
)
from toolvet.core.envelope import envelope_schema

VALIDATOR = jsonschema.Draft202012Validator(envelope_schema())


def text(envelope: Envelope) -> str:
    return envelope.to_json()


def ships(count: int) -> dict[str, Any]:
    return {
        "ships": [{"id": f"s{n}", "name": f"Ship {n}", "rank": (n * 37) % 101} for n in range(count)],
        "port": "Oslo",
    }


def context(envelope: Envelope) -> Mapping[str, Any]:
    found: Mapping[str, Any] = envelope.meta["warning_details"][-1]["context"]
    return found


def tokens(said: str) -> int:
    """Near enough to a tokeniser: runs of letters in fours, everything else by itself."""
    return sum(math.ceil(len(part) / 4) for part in said.replace('"', ' " ').replace(",", " , ").split())


def capricious(said: str) -> int:
    """Not monotonic: counts less for some longer texts."""
    return len(said) // 2 + (len(said) * 7919) % 23


# Counters may disagree on which response is longest, never on whether it fits.
COUNTERS: dict[str, Any] = {
    "characters": "characters",
    "bytes": "bytes",
    "tokens": tokens,
    "capricious": capricious,
    "constant": lambda _: 5,
}
LENGTH: dict[str, Callable[[str], int]] = {
    "characters": len,
    "bytes": lambda said: len(said.encode()),
    "tokens": tokens,
    "capricious": capricious,
    "constant": lambda _: 5,
}

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
IDS = st.text(max_size=8) | st.integers() | st.none() | st.sampled_from(["a", "b"])
ITEMS = st.fixed_dictionaries({}, optional={"id": IDS, "rank": SCALARS, "body": st.text(max_size=120)}) | SCALARS
VALUES = st.recursive(
    SCALARS | st.lists(ITEMS, max_size=12),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=30,
)
PAYLOADS = st.dictionaries(st.text(max_size=6), VALUES, max_size=5)


def summary_of(item: object) -> object:
    return {"id": item.get("id")} if isinstance(item, dict) else None


OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "importance": st.just("rank"),
        "archive": st.builds(ContentArchive),
        "summarise": st.just(summary_of),
        "counter": st.sampled_from([*LENGTH]),
    },
)


@examples(100)
@given(payload=PAYLOADS, budget=st.integers(1, 3000), options=OPTIONS)
def test_a_response_never_exceeds_its_budget(payload: dict[str, Any], budget: int, options: dict[str, Any]) -> None:
    length = LENGTH[options.get("counter", "characters")]
    options = {**options, "counter": COUNTERS[options.get("counter", "characters")]}
    fitted: Envelope | None = None
    needed = 0
    try:
        fitted = fit_response(payload, budget, **options)
    except EnvelopeError as refused:
        found = re.fullmatch(r"budget must be at least (\d+) for this response, not \d+", str(refused))
        needed = int(found[1]) if found else 0
    if fitted is None:
        assert needed > budget
        # For a counter that gives less for more text, the need is unknown.
        assert length is capricious or length(text(fit_response(payload, needed, **options))) <= needed
        return
    assert length(text(fitted)) <= budget
    assert check_envelope(fitted) == ()
    assert VALIDATOR.is_valid(fitted.to_dict())
    if "content_fidelity" not in fitted.meta:
        assert fitted.to_dict() == success_response(payload).to_dict()
        return
    counts = context(fitted)
    if "total_count" in counts:
        assert counts["kept_count"] + counts["dropped_count"] == counts["total_count"]
        listed = fitted.meta.get("dropped_content_ids", [])
        assert len(listed) + counts.get("unlisted_count", 0) == counts["dropped_count"]
        assert len(set(listed)) == len(listed)
        if "archive" in options:
            kept = options["archive"].get(fitted.meta["content_archive_hashes"]["archive"])["items"]
            assert set(listed) <= kept.keys()
            assert len(kept) >= counts["dropped_count"]


def test_what_fits_is_left_alone() -> None:
    whole = success_response(ships(3))
    fitted = fit_response(ships(3), len(text(whole)))
    assert fitted.to_dict() == whole.to_dict()


def test_the_end_goes_first_and_what_is_missing_is_named() -> None:
    fitted = fit_response(ships(100), 2000)
    names = [ship["id"] for ship in fitted.data["ships"]]
    assert names == [f"s{n}" for n in range(len(names))]
    assert fitted.data["port"] == "Oslo"
    assert fitted.meta["content_fidelity"] == "partial"
    assert fitted.meta["dropped_content_ids"][0] == f"s{len(names)}"
    assert fitted.meta["warning_details"][0]["code"] == "CONTENT_TRUNCATED"
    assert context(fitted)["reason"] == "size_limit_exceeded"
    assert context(fitted)["dropped_count"] == 100 - len(names)


def test_the_budget_is_used() -> None:
    for budget in range(600, 4000, 171):
        used = len(text(fit_response(ships(200), budget)))
        # Another ship takes about fifty characters.
        assert budget - 60 < used <= budget


def test_what_matters_least_goes_first_and_the_rest_keeps_its_order() -> None:
    by_name = fit_response(ships(101), 2000, importance="rank")
    ranks = [ship["rank"] for ship in by_name.data["ships"]]
    assert min(ranks) == 101 - len(ranks)
    numbers = [int(ship["id"][1:]) for ship in by_name.data["ships"]]
    assert numbers == sorted(numbers)
    by_function = fit_response(ships(101), 2000, importance=lambda ship: -ship["rank"])
    assert max(ship["rank"] for ship in by_function.data["ships"]) < len(ranks) + 1


def test_an_item_without_importance_matters_least() -> None:
    data = ships(60)
    del data["ships"][0]["rank"]
    kept = [ship["id"] for ship in fit_response(data, 2200, importance="rank").data["ships"]]
    assert 10 < len(kept) < 60
    assert "s0" not in kept


def test_lists_shrink_alike_unless_one_is_named() -> None:
    data = {"fleet": ships(80), "crew": [{"id": f"c{n}", "name": "Anna Berg"} for n in range(80)]}
    fitted = fit_response(data, 3000)
    assert abs(len(fitted.data["fleet"]["ships"]) - len(fitted.data["crew"])) <= 1
    named = fit_response(data, 5500, lists=["/fleet/ships"])
    assert len(named.data["crew"]) == 80
    assert 0 < len(named.data["fleet"]["ships"]) < 80


def test_lists_inside_of_items_are_shortened_when_no_item_fits() -> None:
    data = {"ports": [{"name": "Oslo", **ships(300)}]}
    fitted = fit_response(data, 2000)
    assert fitted.meta["content_fidelity"] == "partial"
    assert fitted.data["ports"][0]["name"] == "Oslo"
    assert len(fitted.data["ports"][0]["ships"]) > 5


def test_summaries_come_before_gaps_and_what_matters_most_stays_whole() -> None:
    def summary(ship: dict[str, Any]) -> dict[str, Any]:
        return {"id": ship["id"]}

    data = {"ships": [{**ship, "log": "wind " * 20} for ship in ships(30)["ships"]]}
    fitted = fit_response(data, 2500, summarise=summary)
    assert fitted.meta["content_fidelity"] == "summary"
    assert len(fitted.data["ships"]) == 30
    assert "dropped_content_ids" not in fitted.meta
    assert context(fitted)["shortened_count"] == sum("log" not in ship for ship in fitted.data["ships"]) > 0
    assert "log" in fitted.data["ships"][0]
    assert "log" not in fitted.data["ships"][29]
    tight = fit_response(data, 700, summarise=summary)
    assert tight.meta["content_fidelity"] == "summary"
    assert context(tight)["dropped_count"] > 0


def test_only_as_many_summaries_are_made_as_may_fit() -> None:
    asked: list[str] = []

    def summary(ship: dict[str, Any]) -> str:
        asked.append(ship["id"])
        return str(ship["name"])

    fit_response(ships(5000), 1000, summarise=summary)
    assert len(asked) < 200


def test_long_texts_are_cut_when_not_even_one_item_fits() -> None:
    archive = ContentArchive()
    data = {"title": "Log", "report": "The wind was fair. " * 500, "pages": [{"id": "p1", "body": "rain " * 900}]}
    fitted = fit_response(data, 1200, archive=archive)
    assert fitted.meta["content_fidelity"] == "summary"
    assert fitted.data["report"].endswith("…")
    assert fitted.data["title"] == "Log"
    assert fitted.data["pages"][0]["id"] == "p1"
    kept = archive.get(fitted.meta["content_archive_hashes"]["archive"])
    assert kept["data"]["report"] == data["report"]
    assert kept["items"]["p1"] == data["pages"][0]


def test_references_are_what_is_left_at_last() -> None:
    data = {"pages": [{"id": f"p{n}", **{f"field_{m}": m for m in range(60)}} for n in range(9)]}
    fitted = fit_response(data, 600)
    assert fitted.meta["content_fidelity"] == "reference_only"
    assert fitted.data["pages"][0] == {"id": "p0"}


def test_ids_that_are_missing_or_doubled_become_pointers() -> None:
    data = {"a/b": [{"id": "x"}, {"id": "x"}, {"n": 1}, {"id": ""}, {"id": True}, {"id": 7}, "text", *["pad"] * 200]}
    fitted = fit_response(data, 700, importance=lambda item: 1 if item == "pad" else 0)
    assert fitted.meta["dropped_content_ids"]
    archive = ContentArchive()
    everything = fit_response(data, 640, importance=lambda item: 1 if item == "pad" else 0, archive=archive)
    kept = archive.get(everything.meta["content_archive_hashes"]["archive"])["items"]
    assert {"x", "/a~1b/1", "/a~1b/2", "/a~1b/3", "/a~1b/4", "7", "/a~1b/6"} <= kept.keys()
    assert kept["x"] == {"id": "x"}


def test_the_name_of_the_id_may_be_another_or_a_function() -> None:
    data = {"rows": [{"sku": f"k{n}", "text": "x" * 30} for n in range(50)]}
    assert fit_response(data, 900, key="sku").meta["dropped_content_ids"][0].startswith("k")
    shown = fit_response(data, 900, key=lambda row: f"row {row['sku']}").meta["dropped_content_ids"][0]
    assert shown.startswith("row k")


def test_many_ids_are_counted_rather_than_listed() -> None:
    fitted = fit_response(ships(5000), 2000)
    listed = fitted.meta["dropped_content_ids"]
    counts = context(fitted)
    assert 0 < len(listed) < counts["dropped_count"]
    assert counts["unlisted_count"] == counts["dropped_count"] - len(listed)
    assert len(fitted.data["ships"]) > 10


def test_an_envelope_keeps_its_metadata_and_its_earlier_losses() -> None:
    whole = success_response(
        ships(100),
        warnings=["old"],
        pagination={"cursor": "c", "has_more": True},
        request_id="r1",
        dropped_content_ids=["before"],
        content_fidelity="summary",
        warning_details=[{"message": "stale", "code": "STALE_CACHE"}],
        content_archive_hashes={"other": "sha256:" + "0" * 64},
    )
    fitted = fit_response(whole, 2000, archive=ContentArchive(name="mine"))
    assert fitted.meta["request_id"] == "r1"
    assert fitted.meta["pagination"]["cursor"] == "c"
    assert fitted.meta["warnings"] == ["old"]
    assert [each["code"] for each in fitted.meta["warning_details"]] == ["STALE_CACHE", "CONTENT_TRUNCATED"]
    assert fitted.meta["dropped_content_ids"][0] == "before"
    assert fitted.meta["content_fidelity"] == "summary"
    assert set(fitted.meta["content_archive_hashes"]) == {"other", "mine"}


def test_a_failure_keeps_its_code_however_much_it_loses() -> None:
    whole = error_response(
        "Far too long. " * 100, error_code="CONFLICT", details={"log": "line\n" * 900, "tried": [{"id": 1}] * 50}
    )
    for budget in (550, 700, 1500):
        fitted = fit_response(whole, budget)
        assert len(text(fitted)) <= budget
        assert not fitted.success
        assert fitted.data["error_code"] == "CONFLICT"
        assert check_envelope(fitted) == ()


def test_an_archive_that_is_full_does_not_keep_the_response_back() -> None:
    fitted = fit_response(ships(500), 1500, archive=ContentArchive(max_bytes=100))
    assert "content_archive_hashes" not in fitted.meta
    assert fitted.meta["dropped_content_ids"]


def test_an_archive_of_ones_own_may_fail() -> None:
    class Broken:
        name = "broken"

        def put(self, content: object) -> str:
            raise ArchiveError(f"no room for {type(content).__name__}")

        def get(self, content_hash: str) -> object:
            raise ArchiveError(content_hash)

    assert "content_archive_hashes" not in fit_response(ships(500), 1500, archive=Broken()).meta


def test_whole_numbers_of_any_size_survive() -> None:
    data = {"rows": [{"id": n, "n": 10**40 + n} for n in range(100)]}
    archive = ContentArchive()
    fitted = fit_response(data, 1000, archive=archive)
    assert fitted.data["rows"][0]["n"] == 10**40
    kept = archive.get(fitted.meta["content_archive_hashes"]["archive"])
    assert kept["items"]["99"]["n"] == 10**40 + 99


def test_the_smallest_budget_is_reported_and_works() -> None:
    with pytest.raises(EnvelopeError, match=r"^budget must be at least (\d+) for this response, not 10$") as refused:
        fit_response(ships(50), 10)
    needed = int(refused.value.problem.split()[4])
    assert len(text(fit_response(ships(50), needed))) == needed
    with pytest.raises(EnvelopeError, match="budget"):
        fit_response(ships(50), needed - 1)


@pytest.mark.parametrize("budget", [0, -5, True, 2.5, "9", None])
def test_a_budget_that_is_not_a_positive_number_is_refused(budget: Any) -> None:
    with pytest.raises(EnvelopeError, match=r"^budget must"):
        fit_response(ships(1), budget)


CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"counter": "words"}, "^counter must be"),
        ({"counter": 3}, "^counter must be"),
        ({"counter": lambda _: 1.5}, "^counter must give a whole number, not float"),
        ({"counter": lambda _: -1}, "^counter must not give a negative"),
        ({"lists": ["/nowhere"]}, "^lists must be JSON Pointers to arrays"),
        ({"lists": [""]}, "^lists must"),
        ({"lists": ["/ships", "/ships"]}, "^lists must not name"),
        ({"lists": [3]}, "^lists must"),
        ({"importance": lambda _: "high"}, "^importance must give a number"),
        ({"importance": lambda _: math.nan}, "^importance must give a number"),
        ({"summarise": lambda _: {1, 2}}, "^summarise/s0 is a set"),
        ({"reason": ""}, "^reason must not be empty"),
    ],
)
def test_options_that_cannot_be_meant_are_named(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(EnvelopeError, match=problem):
        fit_response(ships(100), 800, **options)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"a": {1, 2}}, "^data/a is a set"),
        ({"a": math.nan}, "^data/a is nan"),
        ({"a": {1: 2}}, "^data/a has a key of type int"),
        (CYCLE, r"^data.* contains itself"),
        ([1, 2], "^data must be an object"),
    ],
)
def test_data_that_json_cannot_hold_is_refused_with_its_place(data: Any, problem: str) -> None:
    with pytest.raises(EnvelopeError, match=problem):
        fit_response(data, 1000)


def test_wrong_types_are_type_errors() -> None:
    with pytest.raises(EnvelopeTypeError):
        fit_response({}, "big")  # type: ignore[arg-type]


def test_the_warning_says_what_was_done() -> None:
    def said(data: Mapping[str, Any], budget: int, **options: Any) -> str:
        message: str = fit_response(data, budget, **options).meta["warning_details"][0]["message"]
        return message

    assert re.fullmatch(r"\d+ of 100 items omitted to fit the size limit", said(ships(100), 1500))
    assert said({"text": "wind " * 900}, 900) == "Long texts cut to fit the size limit"
    assert said({f"n{n}": n for n in range(900)}, 900) == "All content omitted to fit the size limit"
    pages = [{"id": f"p{n}", **{f"field_{m}": m for m in range(90)}} for n in range(9)]
    assert said({"pages": pages}, 600) == "9 items reduced to references to fit the size limit"
    assert re.fullmatch(
        r"\d+ items shortened to fit the size limit", said(ships(40), 1500, summarise=lambda ship: ship["id"])
    )
