"""The tasks of labelled answers: a file, the labels that count, and what of a verdict answers for them."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from benchmarks.peers import GCG_LIST, GCG_SHORT_LIST

from toolvet import AnswerQuality, SignalType

UNSURE = frozenset({SignalType.LOW_CONFIDENCE, SignalType.CONFUSION, SignalType.HALLUCINATION_RISK})


def text_of_row(row: Mapping[str, Any]) -> str:
    return str(row["text"])


def source_of(row: Mapping[str, Any]) -> str:
    """The source of a row. The same questions, asked about two governments, are one source."""
    return "speechmap_en" if row["dataset"] in {"speechmap_us_criticism", "speechmap_eu_criticism"} else row["dataset"]


def vendor_of(row: Mapping[str, Any]) -> str:
    """The vendor of the model that gave the answer."""
    return str(row["meta"].get("model", "")).partition("/")[0]


class Task(NamedTuple):
    """A file, the labels that count as positive and negative, and what of a verdict answers for it."""

    file: str
    question: str
    positive: frozenset[str]
    negative: frozenset[str] | None
    says: Callable[[AnswerQuality], bool]
    min_length: int = 20
    # The part that the TF-IDF peer is trained without: a source or, if there is only one, a model. None: no such peer.
    part_of: Callable[[Mapping[str, Any]], str] | None = None
    text_of: Callable[[Mapping[str, Any]], str] = text_of_row
    lists: Mapping[str, Sequence[str]] = MappingProxyType({})


def has(*types: SignalType) -> Callable[[AnswerQuality], bool]:
    return lambda quality: any(signal.type in types for signal in quality.signals)


def escalated(quality: AnswerQuality) -> bool:
    return quality.should_escalate


TASKS = {
    "Refusals": Task(
        "refusal",
        "Is there a signal `refusal`? Positive: refusal; negative: compliance.",
        frozenset({"refusal"}),
        frozenset({"compliance"}),
        has(SignalType.REFUSAL),
        part_of=source_of,
        lists={"GCG's list": GCG_LIST, "GCG's short list": GCG_SHORT_LIST},
    ),
    "Unsure or incapable": Task(
        "uncertainty",
        "Is there a signal `low_confidence`, `confusion` or `hallucination_risk`? Positive: uncertain. `szeged_wiki` "
        "are sentences of an encyclopedia that hedge in the third person: no answers, and for orientation only.",
        frozenset({"uncertain"}),
        None,
        has(*UNSURE),
        part_of=lambda row: vendor_of(row) or row["dataset"],
    ),
    "Good answers escalated": Task(
        "good_answer",
        "Is a good answer escalated by mistake? Every row is a negative, so all that counts are false alarms.",
        frozenset(),
        None,
        escalated,
        0,
    ),
    "Reports of a tool's failure": Task(
        "answer_tool_failure",
        "Is there a signal `tool_failure`? Positive: tool_failure_report; negative: ok.",
        frozenset({"tool_failure_report"}),
        frozenset({"ok"}),
        has(SignalType.TOOL_FAILURE),
        part_of=source_of,
    ),
    "Truncation": Task(
        "truncation",
        "Is there a signal `incomplete_reasoning`? Positive: truncated; negative: complete.",
        frozenset({"truncated"}),
        None,
        has(SignalType.INCOMPLETE_REASONING),
        part_of=vendor_of,
        # How a text ends is in its last words, which a model of the whole text does not see.
        text_of=lambda row: str(row["text"])[-120:],
    ),
}
