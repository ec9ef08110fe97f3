"""What pages show, without a server: periods, paths, marked texts, comparisons."""

import math
import random
from statistics import NormalDist
from urllib.parse import unquote

import msgspec
import pytest
from hypothesis import given, strategies as st
from markupsafe import Markup

from toolvet.server.dashboard.pages.assessments import compare_assessments
from toolvet.server.dashboard.pages.compare import AnswerCase, compare_answers, student_quantile
from toolvet.server.dashboard.view.entries import TextSpan, find_span, marked, result_parts, shown_json, shown_value
from toolvet.server.dashboard.view.figures import Chart, ChartLine
from toolvet.server.dashboard.view.formats import queried, read_segment, segment
from toolvet.server.dashboard.view.period import read_period
from toolvet.server.failures import ApiError
from toolvet.store import AssessmentRecord
from toolvet.store.records import encode_document

NOW = 1_795_000_020.0


def test_a_period_ends_with_the_minute_and_the_one_before_ends_where_it_begins() -> None:
    period = read_period({"period": "24h"}, NOW)
    assert period.until == 1_795_000_020.0
    assert period.until - period.since == 86_400
    assert (period.before.since, period.before.until) == (period.since - 86_400, period.since)


@pytest.mark.parametrize(
    "query",
    [
        {"period": "1w"},
        {"since": "x"},
        {"since": "9" * 30},
        {"since": "5", "until": "4"},
        {"since": "1969-12-31"},
        {"until": "0001-01-01"},
        {"since": "1970-01-01", "until": "9999-12-31"},
        {"until": "9999-12-31T23:59:59-14:00"},
    ],
)
def test_a_period_that_cannot_be_is_refused(query: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        read_period(query, NOW)
    assert refused.value.status == 422


@pytest.mark.parametrize("query", [{"since": "0"}, {"until": "5"}, {"since": "1970-01-01", "until": "2069-12-31"}])
def test_the_earliest_periods_have_a_name_and_so_have_those_before(query: dict[str, str]) -> None:
    period = read_period(query, NOW)
    assert period.words.startswith("1970-01-01")
    assert period.before.words.startswith("1970-01-01")
    assert (period.until - period.since) / period.step < 6000


@given(st.text())
def test_any_name_is_one_segment_of_a_path_and_comes_back(name: str) -> None:
    written = segment(name)
    # A server's steps before it looks for a route.
    assert written
    assert "/" not in unquote(written, errors="replace")
    assert written not in {".", ".."}
    if not any("\ud800" <= each <= "\udfff" for each in name):
        assert read_segment(unquote(written)) == name


@given(st.dictionaries(st.text(), st.text()))
def test_any_query_can_be_written(query: dict[str, str]) -> None:
    assert queried("/verdicts", query).startswith("/verdicts")


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=5))
def test_marks_leave_the_words_as_they_are(text: str, places: list[tuple[int, int]]) -> None:
    spans = [
        TextSpan(min(pair), max(pair), number)
        for number, pair in enumerate(places, 1)
        if min(pair) < max(pair) <= len(text)
    ]
    found = marked(text, spans)
    plain = marked(text)
    assert found.head.striptags() == plain.head.striptags()
    assert found.head.count("<mark") == found.head.count("</mark>")


def test_spans_that_overlap_are_both_marked() -> None:
    found = marked("one two three", [TextSpan(0, 7, 1, "warning"), TextSpan(4, 13, 2, "error")])
    assert found.head == Markup(
        '<mark class="warning" data-findings="1">one </mark>'
        '<mark class="error" data-findings="1 2" data-ends="1">two</mark>'
        '<mark class="error" data-findings="2" data-ends="2"> three</mark>'
    )


def test_evidence_is_found_by_its_words_where_the_text_has_moved() -> None:
    assert find_span("*** I cannot", "I cannot", 0, 1) == TextSpan(4, 12, 1)
    assert find_span("I cannot help you", "I cannot help…", 0, 1) == TextSpan(0, 13, 1)
    assert find_span("gone", "I cannot", 0, 1) is None


def test_a_long_text_is_folded_and_open_where_something_is_marked() -> None:
    text = "word " * 1_000
    assert marked(text).more == "3,800 more characters"
    assert not marked(text).is_open
    assert marked(text, [TextSpan(4_000, 4_004, 1)]).is_open
    assert marked("short").rest == ""


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda each: st.lists(each) | st.dictionaries(st.text(), each),
    )
)
def test_any_json_can_be_shown(value: object) -> None:
    for folded in (shown_json(value), shown_value(value), *(part.body for part in result_parts(value))):
        assert "<script" not in folded.head


def test_keys_are_set_off_and_values_are_escaped() -> None:
    assert shown_json({"a": "<b>"}).head == Markup("{\n  <b>&#34;a&#34;</b>: &#34;&lt;b&gt;&#34;\n}")


def test_what_a_result_says_twice_is_shown_once() -> None:
    parts = result_parts({"content": [{"type": "text", "text": '{"a": 1}'}], "structuredContent": {"a": 1}})
    assert [part.label for part in parts] == ["text, JSON"]


def test_the_numbers_of_a_chart_cannot_end_their_element() -> None:
    chart = Chart("a", "A", "count", (0.0,), (ChartLine("</script>", (1.0,), "--info"),))
    assert "<" not in chart.data
    assert msgspec.json.decode(str(chart.data))["lines"][0]["label"] == "</script>"


# Student's quantiles: the usual table.
@pytest.mark.parametrize(
    ("freedom", "quantile"), [(1, 12.706), (2, 4.303), (5, 2.571), (9, 2.262), (30, 2.042), (120, 1.98)]
)
def test_students_quantile_is_that_of_the_table(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, rel=0.002)


def test_the_quantile_for_many_is_that_of_the_normal_distribution() -> None:
    assert student_quantile(1e9) == pytest.approx(NormalDist().inv_cdf(0.975))


def cases(scores: list[float], questions: bool = True) -> list[AnswerCase]:  # noqa: FBT001, FBT002 - a test's own
    return [
        AnswerCase(f"{place}", f"Question {place}?" if questions else "", score, score < 0.5)
        for place, score in enumerate(scores)
    ]


def test_answers_are_paired_by_their_question() -> None:
    found = compare_answers(cases([0.5, 0.6, 0.7]), [*cases([0.7, 0.8, 0.9])[::-1], *cases([0.1] * 9)[5:]])
    assert found is not None
    assert found.is_paired
    assert found.pairs == 3
    assert found.score.value == pytest.approx(0.2)
    # All three differ alike: nothing is left to chance.
    assert found.score.low == pytest.approx(0.2)
    assert found.score.is_certain


def test_answers_without_questions_in_common_are_compared_as_two_groups() -> None:
    found = compare_answers(cases([0.1, 0.2, 0.3], questions=False), cases([0.8, 0.9, 1.0], questions=False))
    assert found is not None
    assert not found.is_paired
    assert found.score.value == pytest.approx(0.7)
    # Welch: 0.7 ± t(4) · sqrt(2 · 0.01 / 3)
    assert found.score.low == pytest.approx(0.7 - 2.776 * math.sqrt(0.02 / 3), abs=0.002)


def test_one_answer_each_gives_no_interval() -> None:
    found = compare_answers(cases([0.1]), cases([0.9]))
    assert found is not None
    assert found.score.low is None
    assert compare_answers([], cases([0.9])) is None


@pytest.mark.parametrize("is_paired", [True, False])
def test_the_intervals_hold_what_they_promise(is_paired: bool) -> None:  # noqa: FBT001 - a parameter of the test
    dice = random.Random(7)  # noqa: S311 - no secrets
    hits = 0
    for _ in range(400):
        a = [dice.random() for _ in range(30)]
        b = [min(1.0, max(0.0, score + dice.gauss(0.0, 0.2))) if is_paired else dice.random() for score in a]
        found = compare_answers(cases(a, is_paired), cases(b, is_paired))
        assert found is not None
        assert found.is_paired is is_paired
        low, high = found.escalation.low, found.escalation.high
        assert low is not None
        assert high is not None
        hits += low <= 0 <= high
    # 95 %, give or take what 400 draws leave to chance.
    assert 0.92 <= hits / 400 <= 1.0


def test_two_assessments_are_compared_by_check_and_tool() -> None:
    def record(*findings: dict[str, object]) -> AssessmentRecord:
        tools = [{"name": "a", "status": "broken" if findings else "fully_working"}]
        return AssessmentRecord(
            id="x", at=0.0, server="s", document=encode_document({"findings": findings, "tools": tools})
        )

    old = record(
        {"id": "gone", "severity": "error", "message": "m", "tool": "a"},
        {"id": "same", "severity": "info", "message": "m", "tools": ["a", "b"]},
        {"id": "worse", "severity": "info", "message": "m", "tool": "a"},
    )
    new = record(
        {"id": "same", "severity": "info", "message": "m", "tool": "b"},
        {"id": "same", "severity": "info", "message": "m", "tool": "a"},
        {"id": "worse", "severity": "error", "message": "m", "tool": "a"},
        {"id": "new", "severity": "warning", "message": "m"},
    )
    found = compare_assessments(old, new)
    assert [each.id for each in found.new] == ["new"]
    assert [each.id for each in found.gone] == ["gone"]
    assert [(each.id, each.severity, each.was) for each in found.changed] == [("worse", "error", "info")]
    assert found.kept == 2
    assert found.tools == []
    assert [tool.b for tool in compare_assessments(old, record()).tools] == ["fully_working"]
