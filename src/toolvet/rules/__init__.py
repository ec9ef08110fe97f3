"""What was seen → findings: one rule a file, the same for an assessment, the proxy and the library."""

from toolvet.rules.judge import Seen, cards, judge_call, judge_calls, judge_server, judge_tool, merged
from toolvet.rules.subject import (
    Breach,
    Call,
    Oddity,
    Outcome,
    Preview,
    ProtocolError,
    ServerSeen,
    ToolDefinition,
    ValidationSeen,
    tool_definition,
)

__all__ = [
    "Breach",
    "Call",
    "Oddity",
    "Outcome",
    "Preview",
    "ProtocolError",
    "Seen",
    "ServerSeen",
    "ToolDefinition",
    "ValidationSeen",
    "cards",
    "judge_call",
    "judge_calls",
    "judge_server",
    "judge_tool",
    "merged",
    "tool_definition",
]
