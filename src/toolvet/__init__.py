"""Vet every tool call."""

from toolvet.checks.result import (
    ResultVerdict,
    check_result,
    extract_metadata,
    is_business_logic_error,
    overall_confidence,
)

__all__ = [
    "ResultVerdict",
    "check_result",
    "extract_metadata",
    "is_business_logic_error",
    "overall_confidence",
]
