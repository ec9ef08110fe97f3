"""The validation protocol: announcements, requests and replies, read from JSON and written to it.

Servers announce `toolValidation` and answer a `validate` tool; clients read both. For what cannot be read, a sentence
says why. Pure and total.
"""

from toolvet.core.checks.capability.announcement import (
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
from toolvet.core.checks.capability.reply import (
    SEVERITIES,
    Cache,
    Correction,
    Message,
    MessageSeverity,
    ValidationReply,
    json_key,
    parse_replies,
    parse_reply,
)
from toolvet.core.checks.capability.request import (
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
    "Cache",
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
    "json_key",
    "misannounced",
    "output_schema",
    "parse_replies",
    "parse_reply",
    "parse_request",
]
