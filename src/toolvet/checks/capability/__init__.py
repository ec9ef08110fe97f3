"""A capability, a request or a reply of the validation protocol → what it says, or a sentence why it says nothing.

Servers announce `toolValidation` and answer a `validate` tool; clients read both. Pure and total.
"""

from toolvet.checks.capability.announcement import (
    DEFAULT_METHOD,
    EXPERIMENTAL_KEY,
    EXTENSION_ID,
    LEVELS,
    PROTOCOL_VERSION,
    Announcement,
    Caching,
    Level,
    announcement,
    has_capability,
    misannounced,
)
from toolvet.checks.capability.reply import SEVERITIES, Correction, Message, MessageSeverity, ValidationReply
from toolvet.checks.capability.reply_parser import parse_replies, parse_reply
from toolvet.checks.capability.request import (
    ValidationCall,
    ValidationRequest,
    bare_name,
    input_schema,
    output_schema,
    parse_request,
)

__all__ = [
    "DEFAULT_METHOD",
    "EXPERIMENTAL_KEY",
    "EXTENSION_ID",
    "LEVELS",
    "PROTOCOL_VERSION",
    "SEVERITIES",
    "Announcement",
    "Caching",
    "Correction",
    "Level",
    "Message",
    "MessageSeverity",
    "ValidationCall",
    "ValidationReply",
    "ValidationRequest",
    "announcement",
    "bare_name",
    "has_capability",
    "input_schema",
    "misannounced",
    "output_schema",
    "parse_replies",
    "parse_reply",
    "parse_request",
]
