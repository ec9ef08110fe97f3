"""What `check_result` answers with: the nouns, and their JSON form."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Protocol

import msgspec

from toolvet.core.causes import ErrorKind, Retry, State


class Classification(StrEnum):
    """How well the tool works, judged by one response."""

    FULLY_WORKING = "fully_working"
    PARTIALLY_WORKING = "partially_working"
    CONNECTIVITY_ONLY = "connectivity_only"
    BROKEN = "broken"
    ERROR = "error"

    @property
    def weight(self) -> float:
        """What a verdict of this class counts in `overall_confidence` (0 to 1)."""
        return _WEIGHTS[self.value]


_WEIGHTS = {"fully_working": 1.0, "partially_working": 0.7, "connectivity_only": 0.3, "error": 0.2, "broken": 0.0}


class LeakKind(StrEnum):
    """One piece of internals that an error reveals."""

    STACK_TRACE = "stack_trace"
    ABSOLUTE_PATH = "absolute_path"
    CRASH_TEXT = "crash_text"


class Leak(msgspec.Struct, frozen=True, gc=False):
    """The words `text`, at the characters from `start` up to `end` of the response's texts joined by newlines."""

    kind: LeakKind
    text: str
    start: int
    end: int

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"kind": self.kind.value, "text": self.text, "start": self.start, "end": self.end}


class Factor(msgspec.Struct, frozen=True, gc=False):
    """One row of the table behind the decision between business error and failure.

    `weight` is what it counts when `present` (all together 9); `evidence` quotes the words that were seen.
    """

    name: str
    weight: int
    present: bool
    evidence: str = ""

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        return {"name": self.name, "weight": self.weight, "present": self.present, "evidence": self.evidence}


class OutputSchemaValidation(msgspec.Struct, frozen=True):
    """Whether the response keeps what the tool's `outputSchema` promises; `error` says where it does not."""

    has_output_schema: bool
    is_valid: bool
    error: str | None = None

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found: dict[str, object] = {"hasOutputSchema": self.has_output_schema, "isValid": self.is_valid}
        if self.error is not None:
            found["error"] = self.error
        return found


class ResultMetadata(msgspec.Struct, frozen=True):
    """What a response consists of. `content_types` are unique, in the order in which they were first seen.

    `other_counts` has the number of blocks of each type that has no count of its own; it and `audio_count` are absent
    in the JSON form where there are none.
    `output_schema_validation` is None where it does not apply: no `outputSchema`, or an error. `warnings`,
    `pagination`, `content_fidelity` and `dropped_content_ids` are what the `meta` of an envelope says (response-v2);
    their JSON members are absent where it says nothing. `taken_for` names the
    shape of a result that is not MCP's (docs/shapes.md); None, and absent in JSON, for a result of MCP.
    """

    content_types: tuple[str, ...] = ()
    text_block_count: int = 0
    image_count: int = 0
    resource_count: int = 0
    has_structured_content: bool = False
    has_meta: bool = False
    output_schema_validation: OutputSchemaValidation | None = None
    warnings: tuple[str, ...] = ()
    pagination: Mapping[str, object] | None = None
    content_fidelity: str | None = None
    dropped_content_ids: tuple[str, ...] = ()
    taken_for: str | None = None
    audio_count: int = 0
    other_counts: Mapping[str, int] = {}

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found: dict[str, object] = {
            "contentTypes": list(self.content_types),
            "textBlockCount": self.text_block_count,
            "imageCount": self.image_count,
            "resourceCount": self.resource_count,
            "hasStructuredContent": self.has_structured_content,
            "hasMeta": self.has_meta,
        }
        if self.audio_count:
            found["audioCount"] = self.audio_count
        if self.other_counts:
            found["otherCounts"] = dict(self.other_counts)
        if self.output_schema_validation is not None:
            found["outputSchemaValidation"] = self.output_schema_validation.to_dict()
        if self.warnings:
            found["warnings"] = list(self.warnings)
        if self.pagination is not None:
            found["pagination"] = dict(self.pagination)
        if self.content_fidelity is not None:
            found["contentFidelity"] = self.content_fidelity
        if self.dropped_content_ids:
            found["droppedContentIds"] = list(self.dropped_content_ids)
        if self.taken_for is not None:
            found["takenFor"] = self.taken_for
        return found


class ResultVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one response says about its tool.

    `is_valid` says whether it shows a working tool, `is_error` whether it is flagged as an error, `confidence` (0-100)
    how likely the tool works. `issues` and `evidence` are sentences. For an error, flagged or not, `error_kind` says
    whose fault it is, `certainty` (0 to 1) how likely that is right, measured on errors from sources that the rules
    were made without (`docs/results.md`), `state` what went wrong, `retry` what helps, and `factors` why we think so.
    `error_without_flag` marks a success whose text or structured content reports an error. `leaks` quotes stack
    traces, crash texts and absolute paths of the server's own machine in an error. `framework` names the library that
    wrote the words of a refusal (`is_framework_refusal`). `error_code` is the code of the error's envelope, without an
    envelope the one that `state` has in the table of causes. `trace_id` is the id of the turn, where it was given. The
    JSON members of `framework`, `certainty`, `error_code` and `trace_id` are absent where they are None.
    """

    is_valid: bool
    is_error: bool
    classification: Classification
    confidence: float
    issues: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    error_kind: ErrorKind | None = None
    state: State | None = None
    retry: Retry | None = None
    factors: tuple[Factor, ...] = ()
    metadata: ResultMetadata = ResultMetadata()
    error_without_flag: bool = False
    leaks: tuple[Leak, ...] = ()
    framework: str | None = None
    certainty: float | None = None
    error_code: str | None = None
    trace_id: str | None = None

    def to_dict(self) -> dict[str, object]:
        """The JSON form."""
        found: dict[str, object] = {
            "isValid": self.is_valid,
            "isError": self.is_error,
            "classification": self.classification.value,
            "confidence": self.confidence,
            "issues": list(self.issues),
            "evidence": list(self.evidence),
            "error_kind": None if self.error_kind is None else self.error_kind.value,
            "state": None if self.state is None else self.state.value,
            "retry": None if self.retry is None else self.retry.value,
            "factors": [factor.to_dict() for factor in self.factors],
            "responseMetadata": self.metadata.to_dict(),
            "error_without_flag": self.error_without_flag,
            "leaks": [leak.to_dict() for leak in self.leaks],
        }
        if self.framework is not None:
            found["framework"] = self.framework
        if self.certainty is not None:
            found["certainty"] = self.certainty
        if self.error_code is not None:
            found["error_code"] = self.error_code
        if self.trace_id is not None:
            found["trace_id"] = self.trace_id
        return found


class HasConfidence(Protocol):
    """What `overall_confidence` needs of a verdict."""

    @property
    def classification(self) -> Classification | str:
        """How well the tool worked."""
        ...

    @property
    def confidence(self) -> float:
        """0 to 100."""
        ...


def overall_confidence(verdicts: Iterable[HasConfidence]) -> float:
    """Return the mean confidence (0-100) of several verdicts, each weighted by its class; 0 without verdicts.

    Args:
        verdicts: Anything with a `classification` and a `confidence`, such as what `check_result` returns.

    Example:
        >>> from toolvet import check_result
        >>> good = check_result({"name": "get_user"}, {}, {"content": [{"type": "text", "text": "Ada"}]})
        >>> overall_confidence([good])
        100.0
    """
    counted = [verdict.confidence * Classification(verdict.classification).weight for verdict in verdicts]
    return sum(counted) / len(counted) if counted else 0.0
