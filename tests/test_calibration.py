"""Published probabilities mean something: the tables are complete and in order, and what measures them measures."""

import json
import random
from pathlib import Path

import msgspec
import pytest
from benchmarks.calibration import answers, findings, repairs
from benchmarks.calibration.reliability import Judged, expected_error, reliability
from benchmarks.calibration.slips import SLIPS, Sent, sent
from benchmarks.calibration.tables import figures, repair_figures, section
from benchmarks.ratchet import FLOORS, read

from toolvet import SignalType, check_answer, check_arguments
from toolvet.assess.rules import cards
from toolvet.core.checks.answer import FailureSignal
from toolvet.core.checks.answer.certainty import _certainties
from toolvet.core.schema import compiled, recover, repair
from toolvet.core.schema.repairs.search import StepKind, certainty_of

TRAVEL = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "nights": {"type": "integer", "minimum": 1},
        "room": {"type": "string", "enum": ["single", "double"]},
        "extras": {"type": "array", "items": {"type": "string"}},
        "breakfast": {"type": "boolean"},
        "guest": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
    "required": ["city", "nights"],
    "additionalProperties": False,
}
CALL = {
    "city": "Hamburg",
    "nights": 3,
    "room": "double",
    "extras": ["sauna", "parking"],
    "breakfast": True,
    "guest": {"name": "Ann"},
}


# ── reliability ──


def test_what_is_said_as_often_as_it_is_true_has_no_error() -> None:
    judged = [Judged("a", 0.75, right) for right in (True, True, True, False)]
    assert expected_error(judged) == 0
    assert [(part.low, part.verdicts, part.said, part.true) for part in reliability(judged)] == [(0.7, 4, 0.75, 0.75)]


def test_the_error_is_the_distance_bin_by_bin() -> None:
    judged = [Judged("a", 0.9, False), Judged("a", 0.1, False)]
    assert expected_error(judged) == pytest.approx(0.5)
    assert expected_error([]) == 0


# ── signals and scores ──


def signal(**given: object) -> FailureSignal:
    plain = FailureSignal(type=SignalType.REFUSAL, evidence="x", weight=0.75, label="refusal")
    return msgspec.structs.replace(plain, **given)


def test_a_measured_signal_says_how_likely_it_is_right() -> None:
    found = check_answer("I cannot help with that request.").signals[0]
    assert found.certainty is not None
    assert found.certainty > 0.9
    assert found.to_dict()["certainty"] == found.certainty


@pytest.mark.parametrize(
    "given",
    [
        signal(source="custom"),
        signal(source="semantics"),
        signal(type=SignalType.HALLUCINATION_RISK, label=None),
        signal(type=SignalType.EMPTY_RESPONSE, label="repetition", source="shape"),
        signal(type=SignalType.HALLUCINATION_RISK, label="unsupported_number", source="calls", weight=0.08),
    ],
    ids=lambda each: f"{each.type}-{each.source}",
)
def test_what_was_never_measured_has_no_certainty(given: FailureSignal) -> None:
    assert given.certainty is None
    assert "certainty" not in given.to_dict()


def test_a_rare_kind_has_the_share_of_its_type() -> None:
    assert signal(label="never seen").certainty == signal(label="another").certainty is not None


def test_without_signals_the_documented_confidence_and_the_measured_share_stand_side_by_side() -> None:
    clean = check_answer("The museum opens at nine and closes at six.")
    assert (clean.assessment_confidence, clean.to_dict()["likely_good"]) == (0.9, clean.likely_good)
    assert clean.likely_good > 0.95


def test_a_better_score_never_means_a_likelier_fault() -> None:
    shares = [band.good for band in _certainties().score]
    assert shares == sorted(shares)
    assert [band.least for band in _certainties().score] == list(answers.BANDS)
    assert check_answer("I cannot help with that request.").likely_good < 0.5


def test_bands_in_the_wrong_order_are_taken_together() -> None:
    found = [answers.Scored("a", 0.0, True), answers.Scored("a", 0.5, False), answers.Scored("a", 0.75, True)]
    found += [answers.Scored("a", 1.0, False)]
    assert answers.good_by_band(found) == {0.0: 0, 0.3: 0.5, 0.7: 0.5, 1.0: 1}


def test_a_signal_is_judged_by_a_table_without_its_part() -> None:
    own = [answers.Found(part, "refusal", "refusal-x", part != "b") for part in "abc" for _ in range(10)]
    judged = answers.left_out(own)
    said = {each.source: each.probability for each in judged}
    assert said["b"] > said["a"]
    assert len(judged) == 30


# ── repairs ──


def test_every_kind_of_step_has_a_certainty_for_each_confidence() -> None:
    for kind in StepKind:
        high, _, low = (certainty_of([kind], level) for level in repairs.LEVELS)
        assert 0 < low < high < 1


def test_a_repair_is_as_certain_as_its_least_certain_step() -> None:
    renamed = repair(TRAVEL, {"City": "Hamburg", "nights": 3})
    both = repair(TRAVEL, {"City": "Hamburg", "nights": 3, "verbose": True})
    assert renamed is not None
    assert both is not None
    assert both.certainty < renamed.certainty
    assert check_arguments({"name": "t", "inputSchema": TRAVEL}, '{"city": "Hamburg", "nights": 3').to_dict()


def test_the_correction_of_a_text_says_how_certain_it_is() -> None:
    report = check_arguments({"name": "t", "inputSchema": TRAVEL}, "{'city': 'Hamburg', 'nights': 3}")
    assert report.repair is not None
    assert report.repair.certainty > 0.9


@pytest.mark.parametrize("sent_as", ["", "null", "None", "undefined"])
def test_nothing_in_place_of_a_list_is_no_item_of_it(sent_as: str) -> None:
    schema = {"type": "object", "properties": {"tags": {"type": "array"}}, "required": ["tags"]}
    assert repair(schema, {"tags": sent_as}) is None
    one = repair(schema, {"tags": "tea"})
    assert one is not None
    assert one.arguments == {"tags": ["tea"]}


def test_a_member_that_may_be_another_is_not_removed_with_confidence() -> None:
    sure = repair(TRAVEL, {"city": "Hamburg", "nights": 3, "verbose": True})
    unsure = repair(TRAVEL, {"city": "Hamburg", "nights": 3, "input_extras": ["sauna"]})
    assert (sure.confidence if sure else None, unsure.confidence if unsure else None) == ("medium", "low")


def slips() -> list[Sent]:
    return list(sent(TRAVEL, CALL, random.Random(1)))  # noqa: S311 - the same slips for the same seed


def test_slips_break_a_valid_call_and_keep_what_was_meant() -> None:
    ready = compiled(TRAVEL)
    found = slips()
    assert len({each.slip for each in found}) > 15
    assert {each.slip for each in found} <= {*SLIPS, "two slips"}
    for each in found:
        assert ready.is_valid(each.call), each
        assert isinstance(each.value, str) or not ready.is_valid(each.value), each
        if isinstance(each.value, str):
            assert recover(each.value) is None or each.value != "", each


def test_the_outcome_of_a_slip_names_its_steps() -> None:
    renamed = repairs.outcome(TRAVEL, {"City": "Hamburg", "nights": "3"})
    assert renamed is not None
    assert renamed[1:] == (frozenset({StepKind.RENAMED, StepKind.RETYPED}), "high")
    read = repairs.outcome(TRAVEL, "{'city': 'Hamburg', 'nights': 3}")
    assert read is not None
    assert read[1] == {StepKind.READ}
    assert repairs.outcome(TRAVEL, {"nights": 3}) is None


# ── findings ──


def test_every_judged_finding_is_of_a_check_that_exists() -> None:
    assert {check for check, _ in findings.now()} <= set(cards())
    assert set(findings.first()) <= set(cards())


def test_a_level_with_few_findings_says_so() -> None:
    assert findings.Judged(3, 0, 0).share() is None
    assert findings.Judged(9, 0, 1).share() == 0.9
    levels = findings.by_level({("a", 90): findings.Judged(1, 2, 3), ("b", 85): findings.Judged(1, 0, 0)})
    assert levels == {"85 to 90": findings.Judged(2, 2, 3)}


def test_a_higher_stated_confidence_is_oftener_right() -> None:
    shares = [judged.right / judged.read for judged in findings.by_level(findings.now()).values()]
    assert shares == sorted(shares, reverse=True)


# ── the page and its figures ──


def test_without_data_the_page_says_what_each_number_is(tmp_path: Path) -> None:
    page = "\n".join(section(tmp_path))
    assert "| `AnswerQuality.likely_good` | probability" in page
    assert "### Findings" in page
    assert "### Answers" not in page


def test_figures_of_labelled_answers_and_broken_calls(tmp_path: Path) -> None:
    """The real figures are in `accuracy-floors.json`: `make ratchet` takes them where the labelled data are."""
    sources = [f"source {number}" for number in range(3)]
    good = {"id": "g", "text": "The museum opens at nine and closes at six.", "label": "compliance", "lang": "en"}
    bad = {"id": "b", "text": "I cannot help with that request.", "label": "refusal", "lang": "en"}
    answered = [
        {**row, "dataset": source, "text": f"{row['text']} {source}."} for source in sources for row in (good, bad)
    ]
    (tmp_path / "refusal.jsonl").write_text("\n".join(map(json.dumps, answered)), encoding="utf-8")
    tools = [{"schema": TRAVEL, "meta": {"server": source}} for source in sources]
    (tmp_path / "tool_schema.jsonl").write_text("\n".join(map(json.dumps, tools)), encoding="utf-8")
    found = figures(tmp_path)
    assert found["scores"] == {"ece": 0.0, "in_order": 1.0}
    assert 0 <= found["signals"]["ece"] < 0.5
    assert repair_figures(tmp_path)["ALL"]["precision"] > 0.9
    assert "### Repairs" in "\n".join(section(tmp_path))


def test_every_calibration_error_has_a_ceiling() -> None:
    _, floors = read(FLOORS)
    errors = [fields["ece"] for task in ("calibration", "calibration of repairs") for fields in floors[task].values()]
    assert len(errors) == 3
    assert all(op == "le" and ceiling <= 0.05 for op, ceiling in errors)
    assert floors["calibration"]["scores"]["in_order"] == ("ge", 1.0)
