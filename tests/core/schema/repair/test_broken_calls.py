"""Repairs of valid calls that were broken in some forty ways (`benchmarks/repair.py` prints the table)."""

from collections import Counter

import pytest
from benchmarks.healing import rules
from benchmarks.healing.libraries import without_calls
from benchmarks.healing.study import STEPS
from tests.core.schema.repair.breaking import broken_calls, real_schemas
from tests.core.schema.repair.own_schemas import OWN_SCHEMAS
from tests.core.schema.repair.ways import HOPELESS, KINDS, Text

from toolvet import check_arguments
from toolvet.core.json_value import same
from toolvet.core.schema import compiled, recover, repair

SOURCES = {"own": OWN_SCHEMAS, "real": real_schemas()}


@pytest.mark.parametrize("source", ["own", pytest.param("real", marks=pytest.mark.labelled)])
def test_nearly_all_calls_come_back_and_hardly_one_as_another_with_high_confidence(source: str) -> None:
    counts: Counter[str] = Counter()
    for broken in broken_calls(SOURCES[source], 1_500, seed=7):
        value, confidence = broken.sent, "high"
        if isinstance(value, Text):
            recovered = recover(value)
            value, confidence = (recovered.value, recovered.confidence) if recovered else (None, "")
        if not compiled(broken.schema).is_valid(value):
            found = repair(broken.schema, value)
            value = found.arguments if found else None
            confidence = max(confidence, found.confidence, key=["high", "medium", "low"].index) if found else ""
        counts["repairable"] += broken.repairable
        counts["original"] += broken.repairable and bool(confidence) and same(value, broken.call)
        counts["wrong and sure"] += confidence == "high" and not same(value, broken.call)
        counts["invented"] += not broken.repairable and bool(confidence)
    assert counts["original"] >= 0.95 * counts["repairable"]
    assert counts["wrong and sure"] <= 0.005 * 1_500
    assert counts["invented"] == 0


def test_there_are_at_least_twenty_ways_to_break_a_call_and_each_is_taken() -> None:
    taken = {broken.kind for broken in broken_calls(OWN_SCHEMAS, 200, seed=1)}
    assert len(KINDS) >= 20
    assert taken == {*KINDS, *HOPELESS}


def test_who_sees_only_the_text_of_the_report_heals_nearly_all_calls() -> None:
    counts: Counter[str] = Counter()
    for broken in broken_calls(OWN_SCHEMAS + SOURCES["real"][:100], 300, seed=3):
        tool = {"name": "tool", "inputSchema": broken.schema}
        if isinstance(broken.sent, Text) or check_arguments(tool, broken.sent).valid:
            continue

        counts["calls"] += 1
        arguments = broken.sent
        for _ in range(STEPS):
            report = check_arguments(tool, arguments)
            if not report.valid:
                arguments = rules.heal(arguments, without_calls(report.to_text()))
        counts["healed"] += check_arguments(tool, arguments).valid
    assert counts["healed"] >= 0.9 * counts["calls"]
