"""The exports of `toolvet.store`, `server.review` and `store.alerts` can be pickled, copied and written as JSON."""

import copy
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from toolvet import store
from toolvet.server import review
from toolvet.store import alerts
from toolvet.store.records import encode_document

DOCUMENT = encode_document({"verdict": {"issues": ["no such port"]}, "n": 10**15})
FIGURES = store.VerdictFigures(verdicts=2, failed=1, score_sum=1.5, score_count=2, durations=(0, 2))
SIGNAL = store.SignalRecord("refusal", "soft", 0.9)
VERDICT = store.VerdictRecord(
    id="a" * 32, at=1.5, kind="call", tool="sail", document=DOCUMENT, signals=(SIGNAL,), seq=3
)
PAIR = review.PairAgreement(first="ann", second="bob", items=3, agreed=1.0, kappa=None)
INSTANCES: tuple[Any, ...] = (
    *(SIGNAL, VERDICT, store.EventRecord(id="b" * 32, at=2.0, kind="dropped", message="3 notes")),
    store.AssessmentRecord(id="c" * 32, at=3.0, server="s", score=81.5, counts={"error": 1}, document=DOCUMENT),
    *(store.RecordedTurn(trace="t", verdicts=(VERDICT,)), store.VerdictFilter(kind="call", failed=True, since=1.0)),
    *(store.FigureFilter(server="s"), FIGURES, store.GroupFigures(kind="call", tool="sail", figures=FIGURES)),
    *(store.IssueCount("refusal", 2), store.TrendPoint(at=60.0, seconds=60, figures=FIGURES)),
    store.Overview(total=FIGURES, kinds={"call": FIGURES}, tools=(), issues=(store.IssueCount("refusal", 2),)),
    *(PAIR, review.Agreement(items=3, agreed=1.0, pairs=(PAIR,), disputed=("x",))),
    *(review.ReviewSignal(key="k", type="refusal", start=0, end=4), review.MarkedText("I cannot", ("k",))),
    *(*review.DEFAULT_RULES, review.QueueRule(name="mine", share=0.5), review.QueueWish("mine", 1, 2)),
    *(review.vocabulary("answer"), *review.vocabulary("answer").values),
    alerts.AlertRule(name="failures", measure="failure_rate", above=0.2, lasting=5),
    alerts.AlertState(name="failures", firing=True, since=60.0, value=0.4),
)
# A store and an archive have files and threads of their own; of an interface there are no instances.
STAY_AT_HOME = {"Store", "SQLiteArchive", "MeasuredSums"}
TRIPS: dict[str, Callable[[Any], Any]] = {
    "pickled": lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 - ours
    "deep-copied": copy.deepcopy,
    "copied": copy.copy,
}


def test_there_is_an_instance_of_every_class_that_is_exported() -> None:
    offered = [(room, name) for room in (store, review) for name in room.__all__]
    # `alerts` is one module, not a package with a list.
    own = [name for name, value in vars(alerts).items() if getattr(value, "__module__", "") == alerts.__name__]
    offered += [(alerts, name) for name in own if not name.startswith("_")]
    classes = {
        name
        for room, name in offered
        # Learning keeps its results in files; it sends them nowhere.
        if isinstance(kind := getattr(room, name), type) and ".review.learning." not in kind.__module__
    }
    assert classes - {type(each).__name__ for each in INSTANCES} == STAY_AT_HOME


@pytest.mark.parametrize("trip", TRIPS.values(), ids=list(TRIPS))
@pytest.mark.parametrize("one", INSTANCES, ids=lambda one: type(one).__name__)
def test_it_arrives_as_it_left(one: Any, trip: Callable[[Any], Any]) -> None:
    other = trip(one)
    assert type(other) is type(one)
    assert msgspec.json.encode(other) == msgspec.json.encode(one)


@pytest.mark.parametrize("one", INSTANCES, ids=lambda one: type(one).__name__)
def test_it_survives_json(one: Any) -> None:
    written = msgspec.json.encode(one)
    json.loads(written)
    assert msgspec.json.encode(msgspec.json.decode(written, type=type(one))) == written


def test_what_stays_at_home_says_so(tmp_path: Path) -> None:
    with store.Store(tmp_path / "a.db") as opened, pytest.raises(TypeError):
        pickle.dumps(opened)
