"""Vet every tool call of an AI agent: the arguments going in, the result coming out, and the answer that follows.

Everything here is pure: no network, no disk, no clock. What does I/O lives in modules of its own, such as
`toolvet.assess`. Names that are not in `__all__` here or in such a module may change at any time.
"""

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
from toolvet.errors import (
    AuthenticationError,
    ConfigError,
    ToolvetError,
    UnreachableError,
    Unsatisfiable,
    UsageError,
)
from toolvet.findings import Finding, Severity
from toolvet.schema import InvalidExample, invalid_examples, valid_example
from toolvet.version import __version__

__all__ = [
    "AuthenticationError",
    "Classification",
    "ConfigError",
    "ErrorKind",
    "Factor",
    "Finding",
    "InvalidExample",
    "Leak",
    "OutputSchemaValidation",
    "ResultMetadata",
    "ResultVerdict",
    "Retry",
    "Severity",
    "State",
    "ToolvetError",
    "UnreachableError",
    "Unsatisfiable",
    "UsageError",
    "__version__",
    "check_result",
    "extract_metadata",
    "invalid_examples",
    "is_business_logic_error",
    "overall_confidence",
    "valid_example",
]
