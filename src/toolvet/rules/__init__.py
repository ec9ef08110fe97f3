"""What was seen → findings: one rule a file, the same for an assessment, the proxy and the library."""

from toolvet.rules.judge import cards, judge_call, judge_calls, judge_server, judge_tool, merge
from toolvet.rules.subject import (
    IntendedViolation,
    ObservedCall,
    Outcome,
    Preview,
    ProtocolError,
    ServerSeen,
    ToolDefinition,
    ValidationSeen,
    WireOddity,
    tool_definition,
)

__all__ = [
    "IntendedViolation",
    "ObservedCall",
    "Outcome",
    "Preview",
    "ProtocolError",
    "ServerSeen",
    "ToolDefinition",
    "ValidationSeen",
    "WireOddity",
    "cards",
    "judge_call",
    "judge_calls",
    "judge_server",
    "judge_tool",
    "merge",
    "tool_definition",
]
