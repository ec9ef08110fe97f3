"""Vet every tool call of an AI agent: the arguments going in, the result coming out, and the answer that follows.

Everything here is pure: no network, no disk, no clock. What does I/O lives in modules of its own, such as
`toolvet.assess`. Names that are not in `__all__` here or in such a module may change at any time.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from toolvet.version import __version__

if TYPE_CHECKING:
    from toolvet.checks.answer import AnswerQuality, FailureSignal, QualitySummary, SignalType
    from toolvet.checks.arguments import ArgumentReport, Issue, PropertyHelp, SchemaHelp, check_arguments
    from toolvet.checks.result import (
        Classification,
        ErrorKind,
        Factor,
        Leak,
        OutputSchemaValidation,
        ResultMetadata,
        ResultVerdict,
        Retry,
        State,
        check_result,
        extract_metadata,
        is_business_logic_error,
        overall_confidence,
    )
    from toolvet.envelope import (
        Archive,
        ContentArchive,
        ContentFidelity,
        Envelope,
        ErrorCode,
        ErrorType,
        Eviction,
        FieldError,
        ResponseContract,
        ResponseError,
        RetryAdvice,
        WarningCode,
        WarningDetail,
        WarningSeverity,
        check_envelope,
        conflict_error,
        error_response,
        feature_disabled_error,
        fit_response,
        forbidden_error,
        from_jsonapi,
        from_problem_details,
        from_rpc_status,
        internal_error,
        missing_required_error,
        not_found_error,
        rate_limit_error,
        request_id,
        response_contract,
        retrieve_content,
        success_response,
        to_jsonapi,
        to_problem_details,
        to_rpc_status,
        unauthorized_error,
        unavailable_error,
        validation_error,
    )
    from toolvet.errors import (
        ArchiveError,
        AuthenticationError,
        ConfigError,
        ContentDamagedError,
        ContentMissingError,
        EnvelopeError,
        EnvelopeTypeError,
        ToolvetError,
        UnreachableError,
        Unsatisfiable,
        UsageError,
    )
    from toolvet.findings import Finding, Severity
    from toolvet.schema import InvalidExample, Recovered, Repair, invalid_examples, recover, repair, valid_example
    from toolvet.turn import (
        AnswerStream,
        BestAnswer,
        best_answer,
        check_answer,
        check_answers,
        quality_summary,
        regeneration_advice,
        vet_stream,
    )
    from toolvet.turn.grounding import ToolCall

__all__ = [
    "AnswerQuality",
    "AnswerStream",
    "Archive",
    "ArchiveError",
    "ArgumentReport",
    "AuthenticationError",
    "BestAnswer",
    "Classification",
    "ConfigError",
    "ContentArchive",
    "ContentDamagedError",
    "ContentFidelity",
    "ContentMissingError",
    "Envelope",
    "EnvelopeError",
    "EnvelopeTypeError",
    "ErrorCode",
    "ErrorKind",
    "ErrorType",
    "Eviction",
    "Factor",
    "FailureSignal",
    "FieldError",
    "Finding",
    "InvalidExample",
    "Issue",
    "Leak",
    "OutputSchemaValidation",
    "PropertyHelp",
    "QualitySummary",
    "Recovered",
    "Repair",
    "ResponseContract",
    "ResponseError",
    "ResultMetadata",
    "ResultVerdict",
    "Retry",
    "RetryAdvice",
    "SchemaHelp",
    "Severity",
    "SignalType",
    "State",
    "ToolCall",
    "ToolvetError",
    "UnreachableError",
    "Unsatisfiable",
    "UsageError",
    "WarningCode",
    "WarningDetail",
    "WarningSeverity",
    "__version__",
    "best_answer",
    "check_answer",
    "check_answers",
    "check_arguments",
    "check_envelope",
    "check_result",
    "conflict_error",
    "error_response",
    "extract_metadata",
    "feature_disabled_error",
    "fit_response",
    "forbidden_error",
    "from_jsonapi",
    "from_problem_details",
    "from_rpc_status",
    "internal_error",
    "invalid_examples",
    "is_business_logic_error",
    "missing_required_error",
    "not_found_error",
    "overall_confidence",
    "quality_summary",
    "rate_limit_error",
    "recover",
    "regeneration_advice",
    "repair",
    "request_id",
    "response_contract",
    "retrieve_content",
    "success_response",
    "to_jsonapi",
    "to_problem_details",
    "to_rpc_status",
    "unauthorized_error",
    "unavailable_error",
    "valid_example",
    "validation_error",
    "vet_stream",
]

# Loaded when first asked for: a program that only validates needs no patterns, one that only judges results no schemas.
_HOMES = {
    "toolvet.checks.answer": "AnswerQuality FailureSignal QualitySummary SignalType",
    "toolvet.checks.arguments": "ArgumentReport Issue PropertyHelp SchemaHelp check_arguments",
    "toolvet.envelope": (
        "Archive ContentArchive ContentFidelity Envelope ErrorCode ErrorType Eviction FieldError ResponseContract "
        "ResponseError RetryAdvice WarningCode fit_response response_contract retrieve_content "
        "WarningDetail WarningSeverity check_envelope conflict_error error_response feature_disabled_error "
        "forbidden_error from_jsonapi from_problem_details from_rpc_status internal_error missing_required_error "
        "not_found_error rate_limit_error request_id success_response to_jsonapi to_problem_details to_rpc_status "
        "unauthorized_error unavailable_error validation_error"
    ),
    "toolvet.checks.result": (
        "Classification ErrorKind Factor Leak OutputSchemaValidation ResultMetadata ResultVerdict Retry State "
        "check_result extract_metadata is_business_logic_error overall_confidence"
    ),
    "toolvet.errors": (
        "ArchiveError AuthenticationError ConfigError ContentDamagedError ContentMissingError EnvelopeError "
        "EnvelopeTypeError ToolvetError UnreachableError Unsatisfiable UsageError"
    ),
    "toolvet.findings": "Finding Severity",
    "toolvet.schema": "InvalidExample Recovered Repair invalid_examples recover repair valid_example",
    "toolvet.turn": (
        "AnswerStream BestAnswer best_answer check_answer check_answers quality_summary regeneration_advice vet_stream"
    ),
    "toolvet.turn.grounding": "ToolCall",
}


if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.

    def __getattr__(name: str) -> object:
        """A public name, from the module that it lives in."""
        for home, names in _HOMES.items():
            if name in names.split():
                value: object = getattr(import_module(home), name)
                globals()[name] = value
                return value
        raise AttributeError(f"module 'toolvet' has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted({*globals(), *__all__})
