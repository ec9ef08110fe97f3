"""Bytes in, JSON-RPC messages out, and the framings around them. Pure and total: every byte string is some message."""

from toolvet.wire.encode import (
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
)
from toolvet.wire.lines import LineFramer, Oversize, RawLineFramer
from toolvet.wire.message import (
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
    split_batch,
    without_half_characters,
)
from toolvet.wire.shallow import shallow
from toolvet.wire.sse import SseEvent, SseFramer

__all__ = [
    "ErrorReply",
    "Id",
    "InvalidJson",
    "LineFramer",
    "Message",
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
    "shallow",
    "split_batch",
    "without_half_characters",
]
