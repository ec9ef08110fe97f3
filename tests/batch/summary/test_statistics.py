"""Agreement with labels and drift over time: figures computed in another way, and claims that need many rows."""

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from tests.batch.summary.test_summary import SCHEMA, made, whole

from toolvet.assess.report.batch.document import DriftReport, LabelReport
from toolvet.batch.summary.describe import SummaryOptions
from toolvet.batch.summary.statistics import adjusted, paired_change, share

START = date(2026, 3, 2)  # A Monday.


def labelled(rows: list[tuple[object, bool, float]], **options: Any) -> LabelReport:
    """The agreement of rows, each with its label, whether it is flagged, and its claimed probability of being good."""
    table = pa.table(
        {
            "label": [label for label, _, _ in rows],
            "should_escalate": [flagged for _, flagged, _ in rows],
            "likely_good": [said for *_, said in rows],
        }
    )
    found = whole(table, SummaryOptions(label="label", **options)).labels
    assert found is not None
    return found


def noisy(count: int) -> list[tuple[object, bool, float]]:
    dice = random.Random(5)  # noqa: S311 - no secret
    rows: list[tuple[object, bool, float]] = []
    for _ in range(count):
        bad = dice.random() < 0.3
        said = min(0.999, max(0.001, dice.gauss(0.35 if bad else 0.8, 0.2)))
        rows.append(("bad" if bad else "good", said < 0.5, said))
    return rows


class TestAgreement:
    def test_precision_recall_and_confusion_are_those_of_the_rows(self) -> None:
        rows = noisy(700)
        found = labelled(rows)
        hits = sum(flagged and label == "bad" for label, flagged, _ in rows)
        alarms = sum(flagged and label == "good" for label, flagged, _ in rows)
        missed = sum(not flagged and label == "bad" for label, flagged, _ in rows)
        assert (found.flagged_bad, found.flagged_good, found.passed_bad) == (hits, alarms, missed)
        assert found.passed_good == 700 - hits - alarms - missed
        assert found.precision == share(hits, hits + alarms)
        assert found.recall == share(hits, hits + missed)
        assert found.f1 == pytest.approx(2 * hits / (2 * hits + alarms + missed), abs=1e-6)

    def test_the_curve_and_its_error_are_those_of_the_rows(self) -> None:
        rows = noisy(400)
        (curve,) = labelled(rows).calibration
        error = 0.0
        for each in curve.bins:
            own = [(label, said) for label, _, said in rows if each.low <= said < each.high]
            good, mean = sum(label == "good" for label, _ in own), sum(said for _, said in own) / len(own)
            assert (each.good.count, each.good.of) == (good, len(own))
            assert each.said == pytest.approx(mean, abs=2e-6)
            error += len(own) * abs(mean - good / len(own))
        assert curve.ece == pytest.approx(error / 400, abs=1e-5)

    def test_figures_are_those_of_scikit_learn(self) -> None:
        metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
        calibration = pytest.importorskip("sklearn.calibration")
        rows = noisy(900)
        found = labelled(rows)
        bad, flagged = [label == "bad" for label, _, _ in rows], [each for _, each, _ in rows]
        precision, recall, f1, _ = metrics.precision_recall_fscore_support(bad, flagged, average="binary")
        assert found.precision is not None
        assert found.recall is not None
        assert (found.precision.share, found.recall.share, found.f1) == pytest.approx((precision, recall, f1), abs=1e-6)
        assert found.kappa == pytest.approx(metrics.cohen_kappa_score(bad, flagged), abs=1e-6)
        (curve,) = found.calibration
        true, said = calibration.calibration_curve([not each for each in bad], [said for *_, said in rows], n_bins=10)
        assert [each.good.share for each in curve.bins] == pytest.approx(list(true), abs=1e-6)
        assert [each.said for each in curve.bins] == pytest.approx(list(said), abs=1e-5)

    def test_labels_that_say_nothing_by_themselves_are_asked_about(self) -> None:
        rows: list[tuple[object, bool, float]] = [(True, True, 0.1), (False, False, 0.9), (True, True, 0.2)]
        found = labelled(rows)
        assert found.labelled == 0
        assert found.unknown == 3
        assert found.note.startswith("none of the labels ('true', 'false') says by itself what is bad: give --bad")
        assert (found.precision, found.calibration) == (None, [])
        assert labelled(rows, bad=("true",)).precision == share(2, 2)
        assert labelled(rows, good=("FALSE",)).recall == share(2, 2)
        assert labelled(rows, bad=("no such",), good=("neither",)).note.startswith("no row has a label that was given")

    def test_words_that_are_known_count_and_others_are_told(self) -> None:
        rows: list[tuple[object, bool, float]] = [("Tool-Failure", True, 0.1), ("OK", False, 1.0), ("hm", True, 0.5)]
        found = labelled(rows)
        assert (found.labelled, found.unknown, found.note) == (2, 1, "")
        assert {word.word: word.meaning for word in found.words} == {
            "Tool-Failure": "bad",
            "OK": "good",
            "hm": "unknown",
        }

    def test_labels_of_one_kind_give_what_they_can(self) -> None:
        found = labelled([("good", True, 0.1), ("good", False, 0.9)])
        assert found.note == "all known labels say good; precision and recall need both"
        assert found.recall == share(0, 0)
        assert found.false_alarms == share(1, 2)


def over_time(days: list[tuple[int, int]], per: Any = None) -> DriftReport:
    """The drift of these numbers of (flagged, all) rows a day, from the second of March on."""
    rows = [
        {
            "day": START + timedelta(days=number),
            "score": 0.1 if row < flagged else 1.0,
            "should_escalate": row < flagged,
        }
        for number, (flagged, count) in enumerate(days)
        for row in range(count)
    ]
    found = whole(pa.Table.from_pylist(rows, SCHEMA), SummaryOptions(time="day", per=per)).drift
    assert found is not None
    return found


class TestDrift:
    def test_a_change_that_is_more_than_chance_is_told_with_both_sides(self) -> None:
        found = over_time([(20, 200), (22, 200), (70, 200)])
        (change,) = found.changes
        assert (change.name, change.before, change.after) == (None, "2026-03-03", "2026-03-04")
        assert change.difference == pytest.approx(0.24)
        assert change.low < change.difference < change.high
        assert change.p < 0.001
        assert (found.per, found.compared) == ("day", 2)

    def test_of_few_rows_nothing_is_claimed(self) -> None:
        found = over_time([(0, 12), (12, 12)])
        assert found.changes == []
        assert (found.compared, found.too_few) == (0, 1)

    def test_ripples_of_many_rows_are_not_told(self) -> None:
        # More than chance, but by 2 % of the share.
        assert over_time([(100_000, 200_000), (102_000, 200_000)]).changes == []

    def test_that_many_changes_were_looked_at_is_taken_into_account(self) -> None:
        # Alone, p = 0.02.
        pair = [(30, 300), (49, 300)]
        assert len(over_time(pair).changes) == 1
        assert over_time(pair * 8).changes == []

    def test_days_become_weeks_and_months(self) -> None:
        weeks = over_time([(1, 10)] * 50)
        assert weeks.per == "week"
        assert [each.start for each in weeks.periods][:2] == ["2026-03-02", "2026-03-09"]
        assert [each.rows for each in weeks.periods][:2] == [70, 70]
        months = over_time([(1, 10)] * 50, per="month")
        assert [(each.start, each.rows) for each in months.periods] == [("2026-03-01", 300), ("2026-04-01", 200)]

    def test_a_clock_that_is_wrong_does_not_stretch_the_axis(self) -> None:
        days = [START + timedelta(days=number % 5) for number in range(999)] + [date(1970, 1, 1)]
        table = pa.table({"day": days, "should_escalate": [False] * 1000})
        found = whole(table, SummaryOptions(time="day")).drift
        assert found is not None
        assert (found.per, len(found.periods), found.outside) == ("day", 5, 1)

    def test_a_day_without_rows_is_a_gap(self) -> None:
        found = over_time([(5, 50), (0, 0), (5, 50)])
        assert [point.share for point in found.series[0].points] == [0.1, None, 0.1]
        assert found.compared == 1


MOMENT = datetime(2026, 3, 2, 13, 0, tzinfo=UTC)


def drift_of(column: Any) -> DriftReport:
    table = pa.table({"time": column, "should_escalate": [False] * len(column)})
    found = whole(table, SummaryOptions(time="time")).drift
    assert found is not None
    return found


@pytest.mark.parametrize(
    "column",
    [
        pa.array([MOMENT], pa.timestamp("us", "UTC")),
        pa.array([MOMENT], pa.timestamp("ns", "Asia/Tokyo")),
        pa.array([MOMENT.replace(tzinfo=None)], pa.timestamp("s")),
        pa.array([START], pa.date32()),
        pa.array([START], pa.date64()),
        pa.array(["2026-03-02T13:00:00Z"]),
        pa.array([" 2026-03-02"]).dictionary_encode(),
        pa.array([str(int(MOMENT.timestamp()))]),
        pa.array([int(MOMENT.timestamp())]),
        pa.array([int(MOMENT.timestamp() * 1000)]),
        pa.array([int(MOMENT.timestamp()) * 10**9]),
        pa.array([MOMENT.timestamp()]),
    ],
)
def test_a_time_is_read_in_every_usual_form(column: Any) -> None:
    found = drift_of(column)
    assert [(each.start, each.rows) for each in found.periods] == [(START.isoformat(), 1)]


@pytest.mark.parametrize(
    "column",
    [
        pa.array([None, "", "yesterday", "2026-13-45", "12", "9999-01-01"]),
        pa.array([None, -5.0, float("nan"), float("inf")]),
        pa.array([[1], None]),
        pa.array([True]),
        pa.nulls(2),
        pa.array([date(9000, 1, 1)]),
    ],
)
def test_what_is_no_time_is_told_as_such(column: Any) -> None:
    found = drift_of(column)
    assert (found.periods, found.without_time) == ([], len(column))


def test_intervals_and_tests_are_those_of_the_literature() -> None:
    assert share(0, 0).low is None
    assert (share(0, 10).low, share(10, 10).high) == (0.0, 1.0)
    # Wilson's interval of 15 of 148 (Newcombe 1998, table I).
    assert (share(15, 148).low, share(15, 148).high) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert adjusted([]) == []
    assert paired_change(0, 0) is None
    assert paired_change(5, 5) == 1.0
    # Both ways of computing it meet where one takes over from the other.
    assert paired_change(530, 470) == pytest.approx(paired_change(531, 470), rel=0.1)


def test_labels_of_all_rows_are_counted() -> None:
    report = whole(made(300))
    assert report.labels is not None
    assert sum(word.flagged.of for word in report.labels.words) == report.labels.labelled + report.labels.unknown
