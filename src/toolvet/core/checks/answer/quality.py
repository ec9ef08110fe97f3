"""What `check_answer` returns: verdicts and signals, and how they are scored."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Literal

import msgspec

from toolvet.core.causes import Retry, State
from toolvet.core.checks.answer.certainty import good_share, signal_certainty
from toolvet.core.json_form import JsonForm


class SignalType(StrEnum):
    """The kind of problem that an answer has, coarsely."""

    CONFUSION = "confusion"
    REFUSAL = "refusal"
    LOW_CONFIDENCE = "low_confidence"
    EMPTY_RESPONSE = "empty_response"
    TOOL_FAILURE = "tool_failure"
    INCOMPLETE_REASONING = "incomplete_reasoning"
    HALLUCINATION_RISK = "hallucination_risk"

    @property
    def weight(self) -> float:
        """The default cost of a signal of this type, and the most that all of its signals cost together (0 to 1)."""
        return _WEIGHTS[self.value]


_WEIGHTS = {
    "confusion": 0.6,
    "refusal": 0.75,
    "low_confidence": 0.4,
    "empty_response": 0.8,
    "tool_failure": 0.9,
    "incomplete_reasoning": 0.5,
    "hallucination_risk": 0.85,
}

Source = Literal["phrase", "shape", "model", "calls", "custom", "semantics"]
"""What found a signal; `calls` are the tool calls of the turn, `custom` is a pattern of the caller's own.

`semantics` is an embedding model (`toolvet.core.turn.consistency`).
"""


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
"""A number from 0 to 1."""


class Action(StrEnum):
    """What to do with an answer.

    `use` shows it. `retry` asks the model again (`regeneration_advice` says how), `clarify` asks the user for what is
    missing, and `route` hands the request to a person or to another system.
    """

    USE = "use"
    RETRY = "retry"
    CLARIFY = "clarify"
    ROUTE = "route"


class FailureSignal(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """One reason to doubt an answer.

    `evidence` quotes the answer, `position` is where the quotation begins (in characters of the original text; None for
    a signal without a place), and `context` is the text around it. `label` is finer than `type`. `against` quotes the
    other side, such as a tool's result. `language` is that of the phrase.
    `model` names the learned model that gave the signal, by the first twelve digits of the SHA-256 of its file.
    `weight` is a cost. `certainty` is how likely the signal is right.
    """

    _adds = ("certainty",)

    type: SignalType
    evidence: str
    weight: float
    position: int | None = None
    context: str | None = None
    label: str | None = None
    language: str | None = None
    source: Source = "phrase"
    against: str | None = None
    model: str | None = None

    @property
    def certainty(self) -> float | None:
        """How likely (0 to 1) the answer has the fault that the signal says; None if that was never measured."""
        return signal_certainty(self.type.value, self.label, self.source, self.weight)


class CallFailure(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """A tool call of the turn that did not do what was asked, and that no later call made good.

    `state`, `error_code` and `retry` are those of `check_result`: what went wrong, its code, and what helps. They are
    None if that is not known, as for a call that never returned. `tool` is the tool's name.
    """

    tool: str
    state: State | None = None
    error_code: str | None = None
    retry: Retry | None = None


class PartialCall(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """A tool call of the turn whose envelope says that it holds only a part, and that no later call completed.

    `content_fidelity` is the envelope's word for it (`partial`, `summary`, `reference_only`), `warning_code` the code
    of its first warning that has one.
    """

    tool: str
    content_fidelity: str
    warning_code: str | None = None


class AnswerQuality(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """How good an answer is.

    `score` is 1 minus the cost of the signals, at least 0. `signals` are sorted by weight, then position. `reason` is a
    sentence that says why the answer should or need not be reviewed; `feedback` says what to change (None if nothing).
    `failed_calls` are the calls of the turn that failed, and `partial_calls` those that returned only a part, whether
    the answer reports it or not; the JSON form omits them if they are empty. `assessment_confidence` (0 to 1) is how
    likely the most certain of the signals is right, or 0.9 without signals. `likely_good` is the score read as a
    probability. `action` is what to do next: `use` for an answer that is not escalated, else the action of its gravest
    signal. `trace_id` is the id of the answer's turn, if known.
    """

    _adds = ("likely_good",)
    _sparse = ("failed_calls", "partial_calls")

    score: Share
    signals: tuple[FailureSignal, ...]
    should_escalate: bool
    reason: str
    assessment_confidence: Share
    failed_calls: tuple[CallFailure, ...] = ()
    partial_calls: tuple[PartialCall, ...] = ()
    feedback: str | None = None
    action: Action = Action.USE
    trace_id: str | None = None

    @property
    def likely_good(self) -> float:
        """How likely (0 to 1) the answer is good: the share of good answers among those with about this score."""
        return good_share(self.score)


class QualitySummary(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """Many answers in three figures: mean score, share escalated (0 to 1), and how many signals of each type."""

    average_score: float
    escalation_rate: float
    common_issues: dict[SignalType, int]


def score(signals: Iterable[FailureSignal], weights: Mapping[SignalType, float] | None = None) -> float:
    """1 minus the weights, of which each type costs at most its own in `weights`, else its default.

    Returns 0 to 1, rounded to four places.
    """
    limits = weights or {}
    costs: dict[SignalType, float] = {}
    for signal in signals:
        costs[signal.type] = min(
            limits.get(signal.type, signal.type.weight), costs.get(signal.type, 0.0) + signal.weight
        )
    return max(0.0, round(1.0 - sum(costs.values()), 4))
