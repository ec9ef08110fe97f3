"""Rules: each judges tools, calls or a server and yields findings. They are in `catalog/`, a file for each subject.

>>> from toolvet.assess.rules import judge_tool, tool_definition
>>> tool = tool_definition({"name": "search", "inputSchema": {"type": "object"}})
>>> [finding.id for finding in judge_tool(tool)]
['tool-undescribed']
"""

from toolvet.assess.rules.item import ItemsSeen, ListedItem, ListingSeen, ObservedRequest, Purpose, listed_item
from toolvet.assess.rules.judge import (
    cards,
    judge_call,
    judge_calls,
    judge_item,
    judge_items,
    judge_request,
    judge_server,
    judge_tool,
    merge,
)
from toolvet.core.tool_rules.subject import (
    AnswerExcerpt,
    IntendedViolation,
    ObservedCall,
    Outcome,
    Preview,
    ProtocolError,
    ServerSeen,
    ToolDefinition,
    ValidationSeen,
    WireAnomaly,
    tool_definition,
)

__all__ = [
    "AnswerExcerpt",
    "IntendedViolation",
    "ItemsSeen",
    "ListedItem",
    "ListingSeen",
    "ObservedCall",
    "ObservedRequest",
    "Outcome",
    "Preview",
    "ProtocolError",
    "Purpose",
    "ServerSeen",
    "ToolDefinition",
    "ValidationSeen",
    "WireAnomaly",
    "cards",
    "judge_call",
    "judge_calls",
    "judge_item",
    "judge_items",
    "judge_request",
    "judge_server",
    "judge_tool",
    "listed_item",
    "merge",
    "tool_definition",
]
