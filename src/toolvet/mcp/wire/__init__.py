"""Bytes in, JSON-RPC messages out, and the framings around them. Pure and total: every byte string is some message."""

from toolvet.mcp.wire.encode import (
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from toolvet.mcp.wire.lines import DEFAULT_MESSAGE_BYTES, LineFramer, Oversize, RawLineFramer
from toolvet.mcp.wire.message import (
    ErrorReply,
    Id,
    InvalidJson,
    Message,
    Noise,
    NoiseKind,
    Notification,
    Request,
    Result,
    parse,
    parse_answer,
    reply_hint,
    split_batch,
    without_half_characters,
)
from toolvet.mcp.wire.shallow import shallow
from toolvet.mcp.wire.sse import SseEvent, SseFramer
from toolvet.mcp.wire.start import MessageStart, read_end, read_start

__all__ = [
    "DEFAULT_MESSAGE_BYTES",
    "ErrorReply",
    "Id",
    "InvalidJson",
    "LineFramer",
    "Message",
    "MessageStart",
    "Noise",
    "NoiseKind",
    "Notification",
    "Oversize",
    "RawLineFramer",
    "Request",
    "Result",
    "SseEvent",
    "SseFramer",
    "encode_error",
    "encode_notification",
    "encode_request",
    "encode_result",
    "parse",
    "parse_answer",
    "read_end",
    "read_start",
    "reply_hint",
    "shallow",
    "split_batch",
    "without_half_characters",
]
